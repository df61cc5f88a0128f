package child

import (
	"strings"
	"testing"

	"github.com/leasetop/leasetop/queue"
)

func TestEndOfTheChildDecides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script, want string
		permanent          bool
	}{
		{"success", "echo fine >&2", "", false},
		{"temporary failure", "echo try later >&2; exit 75", "exit status 75: try later", false},
		{"any other status", "echo bad input >&2; exit 1", "exit status 1: bad input", true},
		{"nothing said", "echo on the wrong stream; exit 64", "exit status 64", true},
		{"several lines", "printf 'one\\r\\ntwo\\n\\n' >&2; exit 2", "exit status 2: one\ntwo", true},
		{"a signal", "echo last words >&2; kill -SEGV $$", "killed by SIGSEGV", true},
		{"kill -9", "kill -KILL $$", "killed by SIGKILL", true},
		{"a shell's child that was killed", "sh -c 'kill -KILL $$'; exit $?", "exit status 137", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := sh(c.script, &printed{})(t.Context(), &queue.Job{ID: 1})
			if c.want == "" {
				if err != nil {
					t.Errorf("%v", err)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || queue.IsPermanent(err) != c.permanent {
				t.Errorf("%q, permanent %v; want %q, permanent %v", err, queue.IsPermanent(err), c.want, c.permanent)
			}
		})
	}
}
