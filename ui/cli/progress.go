package cli

import (
	"fmt"
	"strconv"
)

// progress says on the terminal, over what it said before, how far a long command is.
func (p Printer) progress(text string) {
	if p.Progress != nil {
		fmt.Fprint(p.Progress, "\r\x1b[K"+text)
	}
}

// endProgress wipes what progress said.
func (p Printer) endProgress() { p.progress("") }

// thousands writes n, which is not negative, with separators: 1,204,311.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
