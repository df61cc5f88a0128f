// Package guard keeps a terminal fit to use whatever happens to the program that
// draws on it.
//
// A program in the alternate screen has two enemies it cannot fight itself.
// Anything that is printed past it (a library's log line, a child's output) lands
// in the middle of its picture. And when it dies at once (a panic in some
// goroutine, kill -9, out of memory), the terminal stays raw and on the alternate
// screen, where the last words are lost.
//
// So the program starts a second process of itself that does nothing but wait
// for its end. Standard output and standard error of the program become a pipe to
// it. When the program says goodbye, or its end of a pipe closes without a word,
// the guard puts the terminal back, in the second case, and prints what came
// through the pipe on standard error.
package guard

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// inside is set for the guard's process, which is this same program again.
const inside = "LEASETOP_TERMINAL_GUARD"

// ready is how long the guard may take to come up, and to go.
const ready = 3 * time.Second

func init() {
	if os.Getenv(inside) != "" {
		stand()
		os.Exit(0)
	}
}

// Guard is the watch over one terminal.
type Guard struct {
	// Screen is the terminal that was standard output.
	Screen *os.File

	process *exec.Cmd
	life    *os.File    // closed by the end of this process, if by nothing else
	were    map[int]int // what standard output and standard error were
	broken  chan os.Signal
	began   time.Time
}

// Start puts a guard over the terminal that is standard output, and takes
// standard output and standard error (those that are terminals) away from
// everybody but the caller, who draws on Screen. Stop gives them back.
func Start() (*Guard, error) {
	if !term.IsTerminal(os.Stdout.Fd()) {
		return nil, errors.New("guard the terminal: standard output is none")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("guard the terminal: %w", err)
	}
	lifeOut, life, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("guard the terminal: %w", err)
	}
	defer lifeOut.Close()
	strayOut, stray, err := os.Pipe()
	if err != nil {
		life.Close()
		return nil, fmt.Errorf("guard the terminal: %w", err)
	}
	defer strayOut.Close()
	defer stray.Close()
	up, upIn, err := os.Pipe()
	if err != nil {
		life.Close()
		return nil, fmt.Errorf("guard the terminal: %w", err)
	}
	defer up.Close()

	g := &Guard{life: life, were: map[int]int{}, process: &exec.Cmd{
		Path: self, Args: []string{os.Args[0] + "-guard"}, Env: append(os.Environ(), inside+"=1"),
		Stdin: lifeOut, Stdout: upIn, Stderr: os.Stderr, ExtraFiles: []*os.File{os.Stdout, strayOut},
	}}
	err = g.process.Start()
	upIn.Close()
	if err != nil {
		life.Close()
		return nil, fmt.Errorf("guard the terminal: %w", err)
	}
	// Not before it has seen how the terminal is set may anybody set it otherwise.
	_ = up.SetReadDeadline(time.Now().Add(ready))
	if _, err := up.Read(make([]byte, 1)); err != nil {
		g.Stop()
		return nil, fmt.Errorf("guard the terminal: the guard does not come up: %w", err)
	}
	screen, err := duplicate(1)
	if err != nil {
		g.Stop()
		return nil, fmt.Errorf("guard the terminal: %w", err)
	}
	g.Screen = os.NewFile(uintptr(screen), os.Stdout.Name())
	_, _ = g.Screen.WriteString(keepTitle)
	g.began = time.Now()
	// Should the guard be killed, a stray line must not kill this program too.
	g.broken = make(chan os.Signal, 1)
	signal.Notify(g.broken, syscall.SIGPIPE)
	for _, fd := range []int{1, 2} {
		if !term.IsTerminal(uintptr(fd)) {
			continue
		}
		was, err := duplicate(fd)
		if err == nil {
			err = unix.Dup2(int(stray.Fd()), fd)
		}
		if err != nil {
			g.Stop()
			return nil, fmt.Errorf("guard the terminal: %w", err)
		}
		g.were[fd] = was
	}
	return g, nil
}

// duplicate copies a descriptor; children do not inherit the copy.
func duplicate(fd int) (int, error) { return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3) }

// Stop gives standard output and standard error back and lets the guard go,
// which first prints what came its way. The caller has put the terminal back, except for its title.
func (g *Guard) Stop() {
	if g.Screen != nil {
		_, _ = g.Screen.WriteString(giveTitle)
		if time.Since(g.began) < young {
			takeAnswers(os.Stdin, g.Screen, answerMost)
		}
	}
	g.end(true)
}

// Abandon does the same when the caller could not put the terminal back: the
// guard does.
func (g *Guard) Abandon() { g.end(false) }

func (g *Guard) end(restored bool) {
	for fd, was := range g.were {
		_ = unix.Dup2(was, fd)
		_ = unix.Close(was)
	}
	if restored {
		_, _ = g.life.WriteString(goodbye)
	}
	_ = g.life.Close()
	gone := make(chan struct{})
	go func() {
		_ = g.process.Wait()
		close(gone)
	}()
	select {
	case <-gone:
	case <-time.After(ready): // it prints as long as the terminal takes something
	}
	if g.Screen != nil {
		_ = g.Screen.Close()
	}
	if g.broken != nil {
		signal.Stop(g.broken)
	}
}
