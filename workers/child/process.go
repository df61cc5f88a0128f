package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// process is one child, from its start to its end.
type process struct {
	cmd    *exec.Cmd
	input  *os.File // our end of its standard input
	outs   []*output
	said   tail  // the end of its standard error
	poison []int // see Options.Poison
}

// start starts the child of a job. Whatever goes wrong here is not the job's
// fault: the little of it that the child's environment holds is bounded by the table.
func (c *command) start(ctx context.Context, job *queue.Job) (p *process, err error) {
	defer func() {
		if err != nil {
			err = &cannotStart{fmt.Errorf("cannot start %s: %w", c.argv[0], err)}
		}
	}()
	var reads, writes [3]*os.File // of its standard input, output and error
	for i := range reads {
		if reads[i], writes[i], err = os.Pipe(); err != nil {
			closeAll(reads[:i], writes[:i])
			return nil, err
		}
	}
	p = &process{input: writes[0], poison: c.o.Poison, cmd: &exec.Cmd{
		Path: c.path, Args: c.argv, Env: append(os.Environ(),
			"LEASETOP_JOB_ID="+strconv.FormatInt(job.ID, 10), "LEASETOP_QUEUE="+job.Queue,
			"LEASETOP_KIND="+job.Kind, "LEASETOP_ATTEMPT="+strconv.Itoa(job.Attempts)),
		Stdin: reads[0], Stdout: writes[1], Stderr: writes[2],
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}}
	endWithParent(p.cmd.SysProcAttr)
	if err := p.begin(mustEnd(ctx), reads[0], writes[1], writes[2]); err != nil {
		closeAll(reads[:], writes[:])
		return nil, err
	}
	closeAll(reads[:1], writes[1:]) // which the child has now
	go func() {
		// A child that does not read all of it, or none, does no harm.
		_, _ = p.input.Write(job.Payload)
		_ = p.input.Close()
	}()
	say := func(from Stream) func(string) { return func(line string) { c.o.Output(job, from, line) } }
	p.outs = []*output{follow(reads[1], nil, say(Stdout)), follow(reads[2], &p.said, say(Stderr))}
	return p, nil
}

func closeAll(several ...[]*os.File) {
	for _, files := range several {
		for _, file := range files {
			_ = file.Close()
		}
	}
}

// begin starts the process, under guard.
func (p *process) begin(until time.Duration, pipes ...*os.File) error {
	child, err := groups.expect(pipes...)
	if err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		groups.hold(child, 0, 0)
		return explain(err)
	}
	started()
	groups.hold(child, p.group(), until)
	return nil
}

// started is called when a child has begun and its group is not held yet. Tests
// let their worker die there.
var started = func() {}

// explain adds to errors of a start what the system's own words leave open.
func explain(err error) error {
	if why := (*os.PathError)(nil); errors.As(err, &why) {
		err = why.Err // the path is that of the program, which is named anyway
	}
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("%w (a script must say in its first line what runs it, as #!/bin/sh does)", err)
	case errors.Is(err, syscall.ENOENT):
		return fmt.Errorf("%w (the program, or what the first line of the script names)", err)
	}
	return err
}

// group is the child's process group, of which it is the leader.
func (p *process) group() int { return p.cmd.Process.Pid }

// signal signals the whole group. It must not be called once the child is reaped:
// the group's number could be somebody else's by then.
func (p *process) signal(s syscall.Signal) { _ = syscall.Kill(-p.group(), s) }

// lastOutput is how long the end of a child's output may take to come after the
// end of its group. It comes at once, unless somebody outside the group holds the pipe.
const lastOutput = time.Second

// finish ends what is left of the group, reaps the child and says how its job
// ended. waited is why it could not be waited for, asked why it was asked to end.
func (p *process) finish(waited, asked error) error {
	ours := !errors.Is(waited, syscall.ECHILD) // else somebody reaped it, and its number is free
	if ours {
		p.signal(syscall.SIGKILL)
	}
	until := groups.release(p.group())
	err := p.cmd.Wait()
	if ours {
		go reapOrphans(p.group())
	}
	_ = p.input.Close()
	deadline := time.Now().Add(lastOutput)
	for _, out := range p.outs {
		out.end(deadline)
	}
	if waited != nil {
		return fmt.Errorf("wait for the child: %w", waited)
	}
	if p.cmd.ProcessState == nil {
		return fmt.Errorf("wait for the child: %w", err)
	}
	if asked == nil && overdue(p.cmd.ProcessState, until) {
		asked = fmt.Errorf("this process was stopped for too long: %w", workers.ErrTrustEnded)
	}
	return verdict(p.cmd.ProcessState, asked, p.said.String(), p.poison)
}
