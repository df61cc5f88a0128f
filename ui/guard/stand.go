package guard

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/leasetop/leasetop/ui/safe"
)

// goodbye says that the program has put the terminal back itself.
const goodbye = "bye"

const (
	// kept is how much of what was printed past the program is remembered: the
	// end of it, where a panic's message and its first goroutine are.
	kept = 16 << 10
	// quiet is how long nothing must come before all has come. It is waited for
	// only when a child of the program outlives it and holds the pipe.
	quiet = 200 * time.Millisecond
	// stuck is how long a terminal may take nothing before it is given up: it was
	// stopped with ctrl+s, or nobody is there.
	stuck = 2 * time.Second
)

// back takes back whatever a terminal program may have switched on: keyboard
// protocols, mouse, focus, paste, cursor, colours, synchronized output and the
// alternate screen.
const back = ansi.ResetModeSynchronizedOutput + ansi.ResetModifyOtherKeys + "\x1b[<u" +
	ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseAnyEvent + ansi.ResetModeMouseExtSgr +
	ansi.ResetModeFocusEvent + ansi.ResetModeBracketedPaste + ansi.ResetStyle + ansi.SetModeTextCursorEnable +
	ansi.ResetModeAltScreenSaveCursor

// Reset switches off on a terminal what another program may have left on when it
// crashed. Who draws there next switches on what it needs.
func Reset(terminal *os.File) { _, _ = terminal.WriteString(back) }

// stand is the guard's whole life.
func stand() {
	// What ends the program must not end its guard: a signal to the whole group, or
	// writing to a terminal that is the shell's again.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGTTOU, syscall.SIGPIPE)
	terminal, stray := os.NewFile(3, "terminal"), os.NewFile(4, "stray output")
	state, err := term.GetState(terminal.Fd())
	if err != nil {
		return
	}
	var heard tail
	all := make(chan struct{})
	go func() {
		_, _ = io.Copy(&heard, stray)
		close(all)
	}()
	_, _ = os.Stdout.WriteString("r")
	_ = os.Stdout.Close()

	said, _ := io.ReadAll(os.Stdin) // until the program says goodbye, or is no more
	patience := time.AfterFunc(stuck, func() { os.Exit(1) })
	if string(said) != goodbye {
		_ = term.Restore(terminal.Fd(), state)
		_, _ = terminal.WriteString(back + giveTitle)
	}
	for before := -1; before != heard.length(); {
		before = heard.length()
		select {
		case <-all:
		case <-time.After(quiet):
		}
	}
	for text := heard.String(); text != ""; {
		n, err := os.Stderr.WriteString(text[:min(len(text), 1<<10)])
		if err != nil {
			return
		}
		text = text[n:]
		patience.Reset(stuck)
	}
}

// tail keeps the end of what is written to it.
type tail struct {
	mu     sync.Mutex
	text   []byte
	beyond int // bytes before text
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - kept; over > 0 {
		t.beyond += over
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

func (t *tail) length() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.beyond + len(t.text)
}

// String returns what was kept. Whoever wrote it, it does nothing to the terminal.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := safe.Block(strings.TrimSuffix(string(t.text), "\n"))
	if t.beyond > 0 {
		text = fmt.Sprintf("… %d bytes before\n", t.beyond) + text
	}
	if text != "" {
		text += "\n"
	}
	return text
}
