package term

import (
	"os"
	"slices"
	"strings"
)

// kept are the variables a program may need to find its files. All others are
// dropped: a developer's own NO_COLOR, TMUX, PGHOST or DATABASE_URL must not
// decide what a test sees.
var kept = []string{
	"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "SHELL", "GOCOVERDIR", "LEASETOP_PG_BIN",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
}

// Environ returns the environment of a full-colour terminal in UTC.
func Environ() []string {
	env := []string{"TERM=xterm-256color", "COLORTERM=truecolor", "TZ=UTC", "LC_ALL=C.UTF-8"}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); slices.Contains(kept, name) {
			env = append(env, v)
		}
	}
	return env
}
