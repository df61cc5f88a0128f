package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// onlyLooks are the commands that change nothing. All others act before they print what they
// did, so that a full disk does not mean that nothing was done.
var onlyLooks = []string{
	"", "check", "dead", "dead groups", "dead list", "depth", "events", "jobs", "log", "migrate", "migrate status",
	"plan", "plan list", "plan show", "scenario", "scenario list", "show", "url",
}

// unprinted says, when what a command did could not be printed, that it was done.
func unprinted(cmd *cobra.Command, err error) error {
	wrong := (*fs.PathError)(nil)
	if !errors.As(err, &wrong) || wrong.Op != "write" || wrong.Path != os.Stdout.Name() || brokenPipe(err) || looks(cmd) {
		return err
	}
	return fmt.Errorf("%w (what was done until then stands: look before you run it again)", err)
}

// looks tells whether a command changes nothing.
func looks(cmd *cobra.Command) bool {
	if dry := cmd.Flags().Lookup("dry-run"); dry != nil && dry.Changed {
		return true
	}
	return slices.Contains(onlyLooks, strings.TrimSpace(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name())))
}
