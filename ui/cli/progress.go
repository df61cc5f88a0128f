package cli

import (
	"fmt"
	"strconv"
	"time"
)

// progress says on the terminal, over what it said before, how far a long command is.
func (p Printer) progress(text string) {
	if p.Progress != nil {
		fmt.Fprint(p.Progress, "\r\x1b[K"+text)
	}
}

// quiet is how long a long command may say nothing where there is no terminal, and how
// often it says how far it is after that.
const quiet, quietAfter = 2 * time.Second, 10 * time.Second

// slowly is progress for what may take a minute: where there is no terminal it writes a
// line now and then.
func (p Printer) slowly() func(text string) {
	next := time.Now().Add(quiet)
	return func(text string) {
		p.progress(text)
		if p.Progress == nil && p.Err != nil && time.Now().After(next) {
			fmt.Fprintf(p.Err, "leasetop: %s\n", text)
			next = time.Now().Add(quietAfter)
		}
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
