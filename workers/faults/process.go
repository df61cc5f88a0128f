package faults

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/leasetop/leasetop/workers"
)

// ProcessOptions say what a worker process does.
type ProcessOptions struct {
	URL      string   // the database; it may hold a password, and reaches nobody's list of processes
	Schema   string   // "" is leasetop
	Name     string   // of the process and of the one worker in it; no other of this program should have it
	Queues   []string // in strict order of preference
	Slots    int      // how many handlers run at once
	Handlers string   // the name of a [Register] call: what it does with its jobs

	Reaps []string // the queues whose leases its reaper takes back; nil is every queue

	// As in [workers.Options]; 0 is the default there.
	Lease, Margin, PollMin, PollMax, Grace time.Duration

	Output func(line string)         // called for each line that the process prints, one at a time; nil for none
	Events func(event workers.Event) // called for each event of its pool, one at a time; nil for none
}

// appName is the application name of a process's connections. Another program may have a
// worker process of the same name.
func appName(name string) string { return fmt.Sprintf("%s of %d", processTitle(name), os.Getpid()) }

// Process is a worker in a process of its own: this same program, run again. It ends
// when this process does, however that ends. It is safe for concurrent use.
type Process struct {
	name  string
	cmd   *exec.Cmd
	input io.WriteCloser // its standard input; at its end the process kills itself
	done  chan struct{}  // closed once it has ended and was reaped
	ready chan struct{}  // closed when it first reported

	mu        sync.Mutex
	workers   []workers.Snapshot
	failure   string // what it said was wrong
	suspended bool
	ended     bool
	since     time.Time // of suspended and ended
	err       error
	changed   chan struct{} // closed and replaced at every change
}

// StartProcess starts a worker process and returns when its worker looks for jobs, or
// could not be started, for which the error says why. The end of ctx ends only the waiting
// for that. [ChildMain] must be called by this program's main function.
func StartProcess(ctx context.Context, o ProcessOptions) (*Process, error) {
	p, err := startProcess(o)
	if err != nil {
		return nil, fmt.Errorf("start worker process %s: %w", o.Name, err)
	}
	select {
	case <-p.ready:
		return p, nil
	case <-p.done:
		err = p.Err()
		if err == nil {
			err = errors.New("it ended at once: the main function has to call faults.ChildMain first")
		}
	case <-ctx.Done():
		p.Close()
		err = context.Cause(ctx)
	}
	return nil, fmt.Errorf("start worker process %s: %w", o.Name, err)
}

// lastOutput is how long what the process printed may take to come after its end. It
// comes at once, unless the process had started another that holds the pipe.
const lastOutput = time.Second

func startProcess(o ProcessOptions) (*Process, error) {
	if os.Getenv(childVariable) != "" { // or one that starts itself would do so for ever
		return nil, errors.New("this is a worker process whose main function did not call faults.ChildMain first")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(self); err != nil {
		self = "/proc/self/exe" // the binary was replaced while we run
	}
	settings, err := json.Marshal(settingsOf(o))
	if err != nil {
		return nil, err
	}
	reports, report, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer report.Close()
	p := &Process{
		name: o.Name, done: make(chan struct{}), ready: make(chan struct{}), changed: make(chan struct{}),
		cmd: &exec.Cmd{
			Path: self, Args: []string{processTitle(o.Name)}, Env: childEnvironment(),
			ExtraFiles: []*os.File{report}, WaitDelay: lastOutput,
			// A group of its own: what the terminal sends to ours is not for it.
			SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
		},
	}
	endWithParent(p.cmd.SysProcAttr)
	if o.Output != nil {
		out := &lines{tell: o.Output}
		p.cmd.Stdout, p.cmd.Stderr = out, out
	}
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		_ = reports.Close()
		return nil, err
	}
	started := make(chan error)
	go p.attend(reports, o.Events, started)
	if err := <-started; err != nil {
		_ = reports.Close()
		return nil, err
	}
	if _, err := p.input.Write(append(settings, '\n')); err != nil {
		<-p.done // it is gone already, and that says why
	}
	return p, nil
}

// childEnvironment is ours, but for what would give all worker processes one application name.
func childEnvironment() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PGAPPNAME=") })
	return append(env, childVariable+"=1")
}

// attend is the process's life as seen from here. It keeps its thread from the start to
// the end, since it is the end of this thread that ends the process on Linux.
func (p *Process) attend(reports *os.File, events func(workers.Event), started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.read(reports, events)
	}()
	started <- nil
	err := p.cmd.Wait()
	_ = reports.SetReadDeadline(time.Now().Add(lastOutput)) // all of it is in the pipe by now
	<-read
	_ = reports.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended, p.since = true, time.Now()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		p.err = fmt.Errorf("worker process %s (pid %d): %w", p.name, p.cmd.Process.Pid, err)
		if p.failure != "" {
			p.err = fmt.Errorf("%w: %s", p.err, p.failure)
		}
	}
	p.announce()
	close(p.done)
}

// read takes in what the process reports, to its end.
func (p *Process) read(reports io.Reader, events func(workers.Event)) {
	in := json.NewDecoder(bufio.NewReader(reports))
	for {
		var r report
		if in.Decode(&r) != nil {
			return
		}
		for _, event := range r.Events {
			if events != nil {
				events(event)
			}
		}
		p.mu.Lock()
		if r.Failure != "" {
			p.failure = r.Failure
		} else {
			p.workers = r.Workers
			select {
			case <-p.ready:
			default:
				close(p.ready)
			}
		}
		p.announce()
		p.mu.Unlock()
	}
}

// announce tells that something changed. The lock is held.
func (p *Process) announce() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// Name is the name that it was given.
func (p *Process) Name() string { return p.name }

// Pid is its number, which tokens hold too. Once it has ended the number may be another's.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// AppName is the application name of its connections, unless its URL has another; see
// [TerminateListeners].
func (p *Process) AppName() string { return appName(p.name) }

// Kill sends SIGKILL: the process is gone at once, and cleans nothing up. The error wraps
// [os.ErrProcessDone] when it has ended before; so do those of the other signals.
func (p *Process) Kill() error { return p.signal("kill", syscall.SIGKILL) }

// Suspend stops the process where it is (SIGSTOP), with its connections open and its
// jobs leased: a zombie once it resumes.
func (p *Process) Suspend() error { return p.suspend("suspend", syscall.SIGSTOP, true) }

// Resume has a suspended process go on (SIGCONT).
func (p *Process) Resume() error { return p.suspend("resume", syscall.SIGCONT, false) }

// Drain asks for an orderly end (SIGTERM): no more claims, what runs may finish. A
// suspended process hears of it when it resumes.
func (p *Process) Drain() error { return p.signal("drain", syscall.SIGTERM) }

func (p *Process) suspend(what string, s syscall.Signal, on bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.signal(what, s); err != nil {
		return err
	}
	p.suspended, p.since = on, time.Now()
	p.announce()
	return nil
}

// signal goes by the handle of the process, which no other process ever gets.
func (p *Process) signal(what string, s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("%s worker process %s: %w", what, p.name, err)
	}
	return nil
}

// Done is closed once the process has ended and was reaped.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err is nil while the process runs, and when it drained and ended in order. Else it
// wraps the [exec.ExitError] that says how it ended.
func (p *Process) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Close kills the process, if it runs, and returns when it is gone.
func (p *Process) Close() {
	_ = p.Kill() // or it has ended by itself
	<-p.done
}

// Changed is closed when Snapshot has something new to tell. Take the channel first,
// then read, then wait: nothing is missed.
func (p *Process) Changed() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changed
}

// Snapshot is the worker as its process reported it last, under the process's name. A
// process that is suspended is [workers.Frozen], and one that has died is
// [workers.Crashed], with what it was running then: nobody has given that back.
func (p *Process) Snapshot() []workers.Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := slices.Clone(p.workers)
	for i := range out {
		w := &out[i]
		w.Pid = p.cmd.Process.Pid
		switch {
		case p.ended && w.State != workers.Stopped:
			w.State, w.Since = workers.Crashed, p.since
		case p.suspended && !p.ended:
			w.State, w.Since = workers.Frozen, p.since
		}
	}
	return out
}
