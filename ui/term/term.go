// Package term runs a terminal program the way a person does and looks at what
// it shows: a real binary in a real pty, in front of a virtual screen. Tests
// drive it through keys and read the screen as text; the screenshots are drawn
// from the same screen.
//
//	tm := term.Open(t, term.Options{Args: []string{bin, "--demo"}, Width: 120, Height: 36})
//	tm.Expect("QUEUES")
//	tm.Press("3")
//	tm.Expect("DEAD LETTERS")
//
// bubbletea sends only the cells that changed, so searching the bytes it wrote
// finds nothing after the first frame; the screen has to be looked at.
//
// [Render] shows the string a View returns on the same kind of screen without
// any program, and [Golden] compares a screen with a drawing in testdata.
package term

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// Options say what to run and what kind of terminal it finds itself in. The
// zero value of all but Args is a dark 80×24 terminal that answers.
type Options struct {
	Args   []string // the program and its arguments
	Dir    string   // its working directory; "" is ours
	Env    []string // "KEY=value" added to the clean environment (see Environ)
	Width  int      // in cells; 0 is 80
	Height int      // in cells; 0 is 24

	Light    bool // answers that its background is white
	Silent   bool // answers no query at all, like a serial line
	Clusters bool // knows Unicode mode 2027: one grapheme cluster, one cell run
}

// Term is a running program and the screen it draws on. Its methods may be
// called from several goroutines.
type Term struct {
	cmd *exec.Cmd
	tty *os.File // our end of the pty

	exited chan struct{} // closed when the program ended and its output is on the screen
	state  *os.ProcessState

	mu      sync.Mutex // guards all below
	screen  *vt.Emulator
	changed chan struct{} // closed and replaced whenever the screen changed
	drawing bool          // in the middle of a synchronized update
	title   string
	written int64
	recent  []byte
}

// Start runs the program. The caller must Close the Term.
func Start(o Options) (*Term, error) {
	if len(o.Args) == 0 {
		return nil, errors.New("start terminal: no program given")
	}
	if o.Width == 0 {
		o.Width = 80
	}
	if o.Height == 0 {
		o.Height = 24
	}
	t := &Term{
		cmd:     exec.Command(o.Args[0], o.Args[1:]...),
		exited:  make(chan struct{}),
		changed: make(chan struct{}),
		screen:  vt.NewEmulator(o.Width, o.Height),
	}
	t.cmd.Dir = o.Dir
	t.cmd.Env = append(Environ(), o.Env...)
	t.configure(o)
	tty, err := pty.StartWithSize(t.cmd, &pty.Winsize{Rows: uint16(o.Height), Cols: uint16(o.Width)})
	if err != nil {
		return nil, fmt.Errorf("start %s in a terminal: %w", o.Args[0], err)
	}
	if t.tty, err = pollable(tty); err != nil {
		_ = t.cmd.Process.Kill()
		_ = t.cmd.Wait()
		return nil, fmt.Errorf("start %s in a terminal: %w", o.Args[0], err)
	}
	go t.answer(o.Silent)
	ended := make(chan struct{})
	go func() {
		_ = t.cmd.Wait() // what it says is in ProcessState
		close(ended)
		_ = t.tty.SetReadDeadline(time.Now()) // wakes draw, which looks at ended
	}()
	go t.draw(ended)
	return t, nil
}

// configure sets the screen's colours and capabilities.
func (t *Term) configure(o Options) {
	fg, bg := Dark()
	if o.Light {
		fg, bg = Light()
	}
	t.screen.SetDefaultForegroundColor(fg)
	t.screen.SetDefaultBackgroundColor(bg)
	// A mode the emulator has heard of is one it reports as supported.
	_, _ = t.screen.WriteString(ansi.ResetModeSynchronizedOutput)
	if o.Clusters {
		_, _ = t.screen.WriteString(ansi.ResetModeUnicodeCore)
	}
	t.screen.SetCallbacks(vt.Callbacks{
		Title: func(s string) { t.title = s },
		EnableMode: func(m ansi.Mode) {
			if m == ansi.ModeSynchronizedOutput {
				t.drawing = true
			}
		},
		DisableMode: func(m ansi.Mode) {
			if m == ansi.ModeSynchronizedOutput {
				t.drawing = false
			}
		},
	})
}

// Dark returns the foreground and background of a dark terminal.
func Dark() (fg, bg color.RGBA) {
	return color.RGBA{0xd8, 0xde, 0xe9, 0xff}, color.RGBA{0x10, 0x15, 0x1d, 0xff}
}

// Light returns the foreground and background of a light terminal.
func Light() (fg, bg color.RGBA) {
	return color.RGBA{0x24, 0x29, 0x30, 0xff}, color.RGBA{0xff, 0xff, 0xff, 0xff}
}

// pollable returns the pty as a file whose reads end when it is closed, which
// those of a blocking one (as pty returns it) do not.
func pollable(f *os.File) (*os.File, error) {
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("duplicate pty: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("set pty non-blocking: %w", err)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// answer sends the emulator's replies to the program. The emulator stands
// still until a reply is read, so they are read at once and dropped when the
// program leaves too many unread, as a real terminal would.
func (t *Term) answer(silent bool) {
	replies := make(chan []byte, 256)
	go func() {
		for reply := range replies {
			_, _ = t.tty.Write(reply)
		}
	}()
	defer close(replies)
	buf := make([]byte, 4096)
	for {
		n, err := t.screen.Read(buf)
		if err != nil {
			return
		}
		if silent {
			continue
		}
		select {
		case replies <- append([]byte(nil), buf[:n]...):
		default:
		}
	}
}

const (
	// clusterTime is how long the end of a read waits for the rest of a
	// character.
	clusterTime = 2 * time.Millisecond
	// orphanTime is how long the pty of a program that ended may be silent
	// before it is given up. It elapses only if a surviving child holds it.
	orphanTime = time.Second
)

// draw shows the program's output until the program ended and all its output
// is shown. The emulator takes the end of a write for the end of a character,
// but the kernel cuts output anywhere, so the last character of each read is
// held back until more comes or nothing does.
func (t *Term) draw(ended <-chan struct{}) {
	var held []byte
	buf := make([]byte, 32<<10)
	for {
		var deadline time.Time
		if len(held) > 0 {
			deadline = time.Now().Add(clusterTime)
		}
		_ = t.tty.SetReadDeadline(deadline)
		over := false
		select {
		case <-ended: // looked at after the deadline is set: see Start
			over = true
			_ = t.tty.SetReadDeadline(time.Now().Add(orphanTime))
		default:
		}
		n, err := t.tty.Read(buf)
		waited := errors.Is(err, os.ErrDeadlineExceeded)
		last := err != nil && (!waited || over) // EIO: nobody has the other end
		data := append(held, buf[:n]...)
		end := len(data)
		if n > 0 && !last {
			for end--; end > 0 && data[end] >= 0x80; end-- {
			}
		}
		t.show(data[:end], n, last)
		held = append([]byte(nil), data[end:]...)
		if last {
			break
		}
	}
	<-ended
	t.state = t.cmd.ProcessState
	close(t.exited)
}

// recentBytes is how much of the raw output is kept for Recent.
const recentBytes = 1 << 20

// show draws output of which n bytes are newly arrived, and wakes the waiters.
func (t *Term) show(data []byte, n int, last bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = t.screen.Write(data)
	t.written += int64(n)
	t.recent = append(t.recent, data...)
	if over := len(t.recent) - recentBytes; over > 0 {
		t.recent = append(t.recent[:0], t.recent[over:]...)
	}
	if last {
		t.drawing = false
	}
	close(t.changed)
	t.changed = make(chan struct{})
}

// Resize changes the size of the terminal; the program gets SIGWINCH.
func (t *Term) Resize(width, height int) error {
	t.mu.Lock()
	t.screen.Resize(width, height)
	t.mu.Unlock()
	// Not pty.Setsize: it would make the pty blocking again.
	c, err := t.tty.SyscallConn()
	if err == nil {
		var failed error
		err = c.Control(func(fd uintptr) {
			failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ,
				&unix.Winsize{Row: uint16(height), Col: uint16(width)})
		})
		err = errors.Join(err, failed)
	}
	if err != nil {
		return fmt.Errorf("resize terminal: %w", err)
	}
	return nil
}

// Signal sends a signal to the program.
func (t *Term) Signal(s os.Signal) error { return t.cmd.Process.Signal(s) }

// Hangup closes the terminal under the program, as closing a window does: the
// kernel sends it SIGHUP, and its reads and writes fail.
func (t *Term) Hangup() error { return t.tty.Close() }

// Pid returns the program's process id.
func (t *Term) Pid() int { return t.cmd.Process.Pid }

// Exit waits for the program to end and returns its exit status: as in a
// shell, 128 plus the number of the signal that killed it.
func (t *Term) Exit(timeout time.Duration) (int, error) {
	select {
	case <-t.exited:
	case <-time.After(timeout):
		return -1, fmt.Errorf("%s still runs after %v; it shows\n%s", t.cmd.Path, timeout, t.Screen())
	}
	if s, ok := t.state.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal()), nil
	}
	return t.state.ExitCode(), nil
}

// Close kills the program and everything it started in this terminal, if
// still running, and frees the terminal. It may be called twice.
func (t *Term) Close() {
	select {
	case <-t.exited:
	default:
		// The program leads its own session and process group (pty).
		_ = syscall.Kill(-t.cmd.Process.Pid, syscall.SIGKILL)
		<-t.exited
	}
	_ = t.tty.Close()
	// Ends answer. Emulator.Close would race with its Read.
	if c, ok := t.screen.InputPipe().(io.Closer); ok {
		_ = c.Close()
	}
}
