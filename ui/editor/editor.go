// Package editor has a person change a text in the editor of their choice: it finds the
// editor, keeps the text in a private file meanwhile, leaves the terminal as it was
// whatever the editor does to it, and says what is wrong with what comes back.
package editor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Editor is a program that edits a file.
type Editor struct {
	Name string // as it was asked for: "code --wait"
	argv []string
}

// fallbacks are tried where nobody asked for an editor.
var fallbacks = []string{"vi", "nano"}

// ErrNone says that there is no editor to be found.
var ErrNone = errors.New("no editor: set VISUAL or EDITOR (neither vi nor nano is installed)")

// Find returns the editor that VISUAL or else EDITOR name, or vi, or nano. The error wraps
// [ErrNone] when there is none of them, and names the variable whose program does not exist.
func Find() (Editor, error) {
	for _, variable := range []string{"VISUAL", "EDITOR"} {
		name := strings.TrimSpace(os.Getenv(variable))
		if name == "" {
			continue
		}
		argv, err := parse(name)
		if err != nil {
			return Editor{}, fmt.Errorf("%s is %q: %w", variable, name, err)
		}
		return Editor{name, argv}, nil
	}
	for _, name := range fallbacks {
		if path, err := exec.LookPath(name); err == nil {
			return Editor{name, []string{path}}, nil
		}
	}
	return Editor{}, ErrNone
}

// parse takes a command apart: a program, which may have blanks in its path; one with
// arguments; or something for the shell, as git has it.
func parse(name string) ([]string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return []string{path}, nil
	}
	if strings.ContainsAny(name, "|&;<>()$`\\\"'*?[#~=%\n") {
		return []string{"/bin/sh", "-c", name + ` "$@"`, name}, nil
	}
	fields := strings.Fields(name)
	path, err := exec.LookPath(fields[0])
	if err != nil {
		var missing *exec.Error
		if errors.As(err, &missing) {
			err = missing.Err
		}
		return nil, err
	}
	return append([]string{path}, fields[1:]...), nil
}

// command is the call that edits a file. It ends, if by nothing else, with ctx.
func (e Editor) command(ctx context.Context, path string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, e.argv[0], append(e.argv[1:len(e.argv):len(e.argv)], path)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(terminate) }
	cmd.WaitDelay = patience
	return cmd
}
