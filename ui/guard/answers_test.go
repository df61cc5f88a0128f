package guard

import (
	"bytes"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// TestAnswersAreNotLeftToTheShell has a terminal answer late what was asked before, and then the last question.
func TestAnswersAreNotLeftToTheShell(t *testing.T) {
	t.Parallel()
	terminal, in, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	defer in.Close()
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		var got []byte
		for !bytes.Contains(got, []byte(areYouThere)) {
			piece := make([]byte, 100)
			n, err := terminal.Read(piece)
			if err != nil {
				return
			}
			got = append(got, piece[:n]...)
		}
		_, _ = terminal.WriteString("\x1b[?2026;2$y\x1b]11;rgb:0000/0000/0000\x1b\\")
		_, _ = terminal.WriteString("\x1b[?62c" + yesIAm)
	}()
	takeAnswers(in, in, 10*time.Second)
	<-asked
	if _, err := term.MakeRaw(in.Fd()); err != nil { // what waits can be seen only so
		t.Fatal(err)
	}
	if ready, err := unix.Poll([]unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}}, 0); err != nil || ready != 0 {
		t.Errorf("something is left for the shell: %d, %v", ready, err)
	}
}

// TestATerminalThatDoesNotAnswerHoldsNobodyUp waits no longer than it may.
func TestATerminalThatDoesNotAnswerHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	terminal, in, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	defer in.Close()
	began := time.Now()
	takeAnswers(in, in, 20*time.Millisecond)
	if took := time.Since(began); took < 20*time.Millisecond || took > 5*time.Second {
		t.Errorf("waited %v", took)
	}
}
