package ui

import (
	"io"
	"os"

	"github.com/charmbracelet/x/term"
)

// remember notes how the terminal is set, and returns what sets it so again:
// for the case that the program cannot say goodbye itself.
func remember(in io.Reader) (restore func()) {
	var file term.File = os.Stdin
	if f, ok := in.(term.File); ok {
		file = f
	} else if in != nil {
		return func() {}
	}
	state, err := term.GetState(file.Fd())
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(file.Fd(), state) }
}
