package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// acting are the commands that change something before they print what they did.
var acting = []string{
	"cancel", "discard", "edit", "enqueue", "migrate down", "migrate up", "pause", "plan cancel", "plan pause", "plan resume", "plan undo",
	"purge", "redrive", "release", "restore", "resume", "run-now", "scenario run", "scenario soak", "work",
}

// A new command is put to one side or the other.
func TestEachCommandLooksOrActs(t *testing.T) {
	t.Parallel()
	var failure error
	var all []string
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		all = append(all, strings.TrimSpace(strings.TrimPrefix(cmd.CommandPath(), "leasetop")))
		for _, child := range cmd.Commands() {
			walk(child)
		}
	}
	walk(newRoot(&failure))
	for _, name := range all {
		if slices.Contains(onlyLooks, name) == slices.Contains(acting, name) {
			t.Errorf("%q: does it change anything?", name)
		}
	}
	for _, name := range slices.Concat(onlyLooks, acting) {
		if !slices.Contains(all, name) {
			t.Errorf("there is no command %q", name)
		}
	}
}
