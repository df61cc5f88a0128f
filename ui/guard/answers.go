package guard

import (
	"bytes"
	"os"
	"time"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

const (
	// keepTitle has the terminal remember its window's title, giveTitle has it show that again.
	keepTitle = "\x1b[22;2t"
	giveTitle = "\x1b[23;2t"

	// young is for how long after the start answers may still be under way. The program asks the
	// terminal what it can when it starts, and over a slow line it may end before it hears.
	young = 3 * time.Second
	// answerMost is how long the last answer is waited for.
	answerMost = 500 * time.Millisecond

	areYouThere = "\x1b[5n" // a question that every terminal answers, and nothing here asks otherwise
	yesIAm      = "\x1b[0n"
)

// takeAnswers reads what a terminal still answers, which would be typed into the shell otherwise.
// Terminals answer in order: it asks once more, and what comes before that answer is dropped, keys
// that are typed meanwhile too. It waits no longer than patience.
func takeAnswers(in, out *os.File, patience time.Duration) {
	fd := in.Fd()
	was, err := term.MakeRaw(fd)
	if err != nil {
		return // no terminal
	}
	defer func() { _ = term.Restore(fd, was) }()
	if _, err := out.WriteString(areYouThere); err != nil {
		return
	}
	var heard []byte
	for until := time.Now().Add(patience); !bytes.Contains(heard, []byte(yesIAm)); {
		left := time.Until(until)
		if left <= 0 {
			return
		}
		ready, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(left.Milliseconds())+1)
		if err == unix.EINTR {
			continue
		}
		if err != nil || ready == 0 {
			return
		}
		piece := make([]byte, 1<<10)
		n, err := unix.Read(int(fd), piece)
		if err != nil || n <= 0 {
			return
		}
		if heard = append(heard, piece[:n]...); len(heard) > 1<<16 {
			heard = heard[len(heard)-len(yesIAm):]
		}
	}
}
