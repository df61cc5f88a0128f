package cli

import "fmt"

// progress says on the terminal, over what it said before, how far a long command is.
func (p Printer) progress(text string) {
	if p.Progress != nil {
		fmt.Fprint(p.Progress, "\r\x1b[K"+text)
	}
}

// endProgress wipes what progress said.
func (p Printer) endProgress() { p.progress("") }
