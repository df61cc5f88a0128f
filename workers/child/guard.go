package child

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
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
// process dies, and what has not ended in time when it is stopped. Should the guard
// itself die, another takes its place at once.
//
// It is told of each child twice. Before the start nobody knows what the group will
// be, so it is told which pipes the child will have; then which group it has. This
// process may die between the two, when the child is a few moments old and may have
// children of its own.
type guard struct {
	mu       sync.Mutex
	starting map[string]bool       // children to come, by their pipes
	held     map[int]time.Duration // groups, and by when each must have ended; see mustEnd
	lapsed   map[int]time.Duration // such times that had passed when the group was prolonged
	cmd      *exec.Cmd             // nil while there is none
	dead     chan struct{}         // closed when it has ended
	pipe     *os.File              // only this process holds it open
}

// listens is how long the guard may take to come up, and to read what it is told.
const listens = 5 * time.Second

// expect has a child that is about to start die with this process. pipes are its
// ends of its standard streams.
func (g *guard) expect(pipes ...*os.File) (child string, err error) {
	names := make([]string, len(pipes))
	for i, pipe := range pipes {
		info, err := pipe.Stat()
		if err != nil {
			return "", err
		}
		names[i] = fmt.Sprint(info.Sys().(*syscall.Stat_t).Ino)
	}
	child = strings.Join(names, ",")
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held == nil {
		g.held, g.lapsed, g.starting = map[int]time.Duration{}, map[int]time.Duration{}, map[string]bool{}
	}
	g.starting[child] = true
	if g.say("?%s", child) {
		return child, nil
	}
	if err := g.start(); err != nil { // which tells of all that is known
		delete(g.starting, child)
		return "", err
	}
	return child, nil
}

// hold says which group a child that was expected has, and by when it must have ended;
// group 0 says that it did not start.
func (g *guard) hold(child string, group int, until time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.starting, child)
	if group != 0 {
		g.held[group] = until
		g.say("+%d %d", group, until)
	}
	g.say("!%s", child)
}

// prolong says that a group may go on until then. Differences too small to matter are
// not worth a word.
func (g *guard) prolong(group int, until time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before, held := g.held[group]
	if !held || (until-before).Abs() < soonest {
		return
	}
	g.held[group] = until
	g.say("+%d %d", group, until)
	// After the word: had the time not come by now, the guard hears it before it kills.
	if now, _ := bootClock(); before != 0 && before <= now {
		g.lapsed[group] = before
	}
}

// release forgets a group, and returns by when it had to have ended: should that have
// passed, the guard may have killed it. A time that was prolonged too late counts, for
// this process may wake to the news of a heartbeat and of a death at once. It must be
// called before its leader is reaped, so that its number is nobody else's as long as the
// guard knows it.
func (g *guard) release(group int) (until time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	until = g.held[group]
	if before, late := g.lapsed[group]; late {
		until = before
	}
	delete(g.held, group)
	delete(g.lapsed, group)
	g.say("-%d", group)
	return until
}

// say tells the guard something. One that does not listen is done away with, and
// attend replaces it.
func (g *guard) say(format string, args ...any) bool {
	if g.cmd == nil {
		return false
	}
	_ = g.pipe.SetWriteDeadline(time.Now().Add(listens))
	if _, err := fmt.Fprintf(g.pipe, format+"\n", args...); err != nil {
		_ = g.cmd.Process.Kill()
		return false
	}
	return true
}

// end lets a dead guard go. While it lives its pipe must stay open: at its end it
// would kill what still runs.
func (g *guard) end() {
	_ = g.cmd.Process.Kill()
	<-g.dead
	_ = g.pipe.Close()
	g.cmd = nil
}

// start starts a guard in place of the one there is, and tells it of all groups
// and of all children that are about to start.
func (g *guard) start() (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("guard child processes: %w", err)
		}
	}()
	if g.cmd != nil {
		g.end()
	}
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
	listened := true
	for group, until := range g.held {
		listened = listened && g.say("+%d %d", group, until)
	}
	for child := range g.starting {
		listened = listened && g.say("?%s", child)
	}
	if !listened {
		return errors.New("the guard ended at once")
	}
	return nil
}

// attend waits for the end of a guard. One that ends while children run, or are
// about to, is replaced; should that fail, the next child tries again.
func (g *guard) attend(cmd *exec.Cmd, dead chan<- struct{}) {
	_ = cmd.Wait()
	close(dead)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cmd != cmd {
		return
	}
	g.end()
	if len(g.held)+len(g.starting) > 0 {
		_ = g.start()
	}
}
