package child

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// Stream is where a child wrote something.
type Stream string

// What a child writes on.
const (
	Stdout Stream = "out"
	Stderr Stream = "err"
)

// Options of a handler. The zero value works.
type Options struct {
	// Output is given each line that a child prints, without its end and cut to
	// 4,096 bytes; it holds whatever the child wrote. It is called by several
	// goroutines at once, and a slow one slows the child down. nil drops the lines.
	Output func(job *queue.Job, from Stream, line string)
	// Poison are the exit statuses that bury the job, besides 65 (EX_DATAERR). Every other
	// one but 0 has it tried again.
	Poison []int
	// Unable is told why the program cannot be started: once, until that has not
	// happened for a minute. The jobs are given back; see the package comment.
	Unable func(error)
}

// Handler does each job by a child process: argv[0] with the arguments after it,
// the same for every job; see the package comment. The program is looked up now,
// once. When it is not found, each job is given back with that error: ask [LookUp]
// before, to refuse a wrong name.
func Handler(argv []string, o Options) workers.Handler {
	return newCommand(argv, o).run
}

func newCommand(argv []string, o Options) *command {
	if o.Output == nil {
		o.Output = func(*queue.Job, Stream, string) {}
	}
	c := &command{
		argv: append([]string(nil), argv...), o: o, patience: timeToEnd,
		unable: unable{least: leastRest, most: mostRest, told: o.Unable},
	}
	if len(argv) == 0 {
		c.missing = errors.New("no program is named to do the job")
	} else {
		c.path, c.missing = LookUp(argv[0])
	}
	return c
}

// LookUp finds a program as a shell would, in PATH unless its name holds a slash,
// and returns its absolute path. The error says what is wrong with the name.
func LookUp(program string) (path string, err error) {
	path, err = exec.LookPath(program)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if why := (*exec.Error)(nil); errors.As(err, &why) {
		err = why.Err
	}
	if why := (*fs.PathError)(nil); errors.As(err, &why) {
		err = why.Err
	}
	if err != nil {
		return "", fmt.Errorf("program %q: %w", program, err)
	}
	return path, nil
}

// command is what is run for each job.
type command struct {
	argv     []string
	path     string
	missing  error // why there is no path
	o        Options
	patience func(context.Context) time.Duration // from SIGTERM to SIGKILL
	unable   unable
}

// run does one job.
func (c *command) run(ctx context.Context, job *queue.Job) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err := c.live(ctx, job)
	if why := (*cannotStart)(nil); errors.As(err, &why) {
		return c.unable.giveBack(ctx, why)
	}
	return err
}

// live is the life of one child.
func (c *command) live(ctx context.Context, job *queue.Job) error {
	if c.missing != nil {
		return &cannotStart{c.missing}
	}
	// The kernel ends a child with the thread that started it, not the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p, err := c.start(ctx, job)
	if err != nil {
		return err
	}
	exited, asked := make(chan struct{}), make(chan error, 1)
	go func() { asked <- p.watch(ctx, exited, c.patience) }()
	go p.vouch(ctx, exited)
	err = awaitExit(p.cmd.Process.Pid)
	close(exited)
	return p.finish(err, <-asked)
}
