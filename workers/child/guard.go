package child

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// inside is set for the guard's process, which is this same program again.
const inside = "LEASETOP_CHILD_GUARD"

func init() {
	if os.Getenv(inside) != "" {
		stand(os.Stdin, os.Stdout)
		os.Exit(0)
	}
}

// groups are the process groups that must not outlive this process.
var groups guard

// guard is our end of the guard's process, which kills what is held when this
// process dies. Should the guard itself die, another takes its place at once.
type guard struct {
	mu   sync.Mutex
	held map[int]bool
	cmd  *exec.Cmd     // nil while there is none
	dead chan struct{} // closed when it has ended
	pipe *os.File      // only this process holds it open
}

// listens is how long the guard may take to come up, and to read what it is told.
const listens = 5 * time.Second

// ready starts the guard, if it does not stand yet.
func (g *guard) ready() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cmd != nil {
		return nil
	}
	return g.start()
}

// hold has a group die with this process.
func (g *guard) hold(group int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held == nil {
		g.held = map[int]bool{}
	}
	g.held[group] = true
	if g.say('+', group) {
		return nil
	}
	err := g.start() // which tells of all that is held
	if err != nil {
		delete(g.held, group)
	}
	return err
}

// release forgets a group. It must be called before its leader is reaped, so that
// its number is nobody else's as long as the guard knows it.
func (g *guard) release(group int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.held, group)
	g.say('-', group)
}

// say tells the guard of one group. When it does not listen, it is done away with.
func (g *guard) say(what byte, group int) bool {
	if g.cmd == nil {
		return false
	}
	_ = g.pipe.SetWriteDeadline(time.Now().Add(listens))
	if _, err := fmt.Fprintf(g.pipe, "%c%d\n", what, group); err != nil {
		g.end()
		return false
	}
	return true
}

// end does away with the guard. It is killed first: at the end of its pipe it would
// kill what still runs.
func (g *guard) end() {
	_ = g.cmd.Process.Kill()
	<-g.dead
	_ = g.pipe.Close()
	g.cmd = nil
}

// start starts a guard and tells it of all groups that are held.
func (g *guard) start() (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("guard child processes: %w", err)
		}
	}()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if _, err := os.Stat(self); err != nil {
		self = "/proc/self/exe" // the binary was replaced while we run
	}
	its, ours, err := os.Pipe()
	if err != nil {
		return err
	}
	defer its.Close()
	up, upIn, err := os.Pipe()
	if err != nil {
		_ = ours.Close()
		return err
	}
	defer up.Close()
	// A session of its own: what is sent to our group or comes from our terminal is not for it.
	cmd := &exec.Cmd{
		Path: self, Args: []string{os.Args[0] + "-guard"}, Env: []string{inside + "=1"}, Dir: "/",
		Stdin: its, Stdout: upIn, SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	err = cmd.Start()
	_ = upIn.Close()
	if err != nil {
		_ = ours.Close()
		return err
	}
	g.cmd, g.pipe, g.dead = cmd, ours, make(chan struct{})
	go g.attend(cmd, g.dead)
	// No child before the guard ignores the signals that would end it.
	_ = up.SetReadDeadline(time.Now().Add(listens))
	if _, err := up.Read(make([]byte, 1)); err != nil {
		g.end()
		return fmt.Errorf("the guard does not come up: %w", err)
	}
	for group := range g.held {
		if !g.say('+', group) {
			return errors.New("the guard ended at once")
		}
	}
	return nil
}

// attend waits for the end of a guard. One that ends by itself while children run
// is replaced; should that fail, the next child tries again.
func (g *guard) attend(cmd *exec.Cmd, dead chan<- struct{}) {
	_ = cmd.Wait()
	close(dead)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cmd != cmd {
		return
	}
	g.end()
	if len(g.held) > 0 {
		_ = g.start()
	}
}
