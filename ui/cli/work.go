package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/child"
)

// WorkOptions say what the command work does.
type WorkOptions struct {
	Queues         []string // strictly in this order of preference
	Workers, Slots int
	Lease, Grace   time.Duration
	Retention      time.Duration // 0 keeps completed jobs
	// Exec is the program that does each job, with its arguments; see package child.
	// Without one the demonstration's handlers do them, on the private server alone.
	Exec   []string
	Poison []int // its exit statuses that bury the job, besides 65
	Demo   Demonstration
}

// Demonstration is what the private server's jobs are done by.
type Demonstration struct {
	Queues   []string
	Handlers func(context.Context, *queue.Queue) (*workers.Handlers, error)
}

// Connections of the pool: each worker claims and writes outcomes, one of either at
// a time, and beyond some number of them they wait for the database, not for each other.
const (
	fewestConns = 4
	mostConns   = 20
)

// Work does jobs until ctx ends or a signal comes, then drains; a second signal
// forces. What happens is told on standard error, one line each, or as JSON on
// standard output. The error wraps [workers.ErrLeft] when jobs were left.
func Work(ctx context.Context, p Printer, w Where, o WorkOptions) (err error) {
	if err := o.check(ctx, w); err != nil {
		return err
	}
	if source, _ := w.source(ctx); !strings.Contains(source.URL, "pool_max_conns") {
		w.MaxConns = int32(min(max(o.Workers+2, fewestConns), mostConns))
	}
	d, err := Open(ctx, w)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	paused, err := d.fit(ctx)
	if err != nil {
		return d.Explain(err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	log := newWorkLog(p, ctx.Done(), stop)
	defer log.stop()
	pool, err := o.pool(ctx, d, log)
	if err != nil {
		return err
	}
	begun, over, told := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		log.begin(o, paused)
		close(begun)
		log.follow(pool, over)
		log.end(pool)
	}()
	within(listening, begun)
	err = pool.Run(ctx)
	close(over)
	within(listening, told)
	if err == nil {
		err = log.broken()
	}
	return err
}

// within waits for what may not come: beginning and end wait for no reader for long.
func within(patience time.Duration, done <-chan struct{}) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// check refuses what cannot be meant, before anything is opened.
func (o *WorkOptions) check(ctx context.Context, w Where) error {
	for i, name := range o.Queues {
		switch {
		case name == "":
			return Usage("--queue: a name is empty: write names with one comma between them, like emails,images")
		case queue.CheckName("queue", name) != nil:
			return Usage("--queue: " + queue.CheckName("queue", name).Error())
		case slices.Contains(o.Queues[:i], name):
			return Usage(fmt.Sprintf("--queue: %q is named twice: keep the place where it should be in the order", name))
		}
	}
	if len(o.Exec) > 0 {
		return programError(o.Exec[0])
	}
	source, err := w.source(ctx)
	if err != nil {
		return err
	}
	if !source.Private() {
		return Usage(fmt.Sprintf("work needs --exec CMD: the program that does each job of the database that %s names", source.From))
	}
	for _, name := range o.Queues {
		if !slices.Contains(o.Demo.Queues, name) {
			return Usage(fmt.Sprintf("without --exec CMD only the demonstration's queues are worked on: there is %s, but no %q", strings.Join(o.Demo.Queues, ", "), name))
		}
	}
	return nil
}

// programError says what is wrong with the name of a program, and the cure.
func programError(program string) error {
	_, err := child.LookUp(program)
	if err == nil {
		return nil
	}
	cure := ""
	switch first, _, several := strings.Cut(program, " "); {
	case several:
		cure = fmt.Sprintf(". --exec takes the program alone, and there is no shell: write its arguments after --, as in --exec %s -- …", first)
	case errors.Is(err, fs.ErrPermission):
		cure = fmt.Sprintf(": make it executable, as by chmod +x %s", program)
	}
	return Usage(fmt.Sprintf("--exec: %v%s", err, cure))
}

// fit finds out whether this database can be worked on at all, and which of its
// queues are paused. One that does not answer may come back: the workers wait.
func (d *Database) fit(ctx context.Context) (paused []queue.Pause, err error) {
	ctx, cancel := context.WithTimeout(ctx, closePatience)
	defer cancel()
	if err = d.Ping(ctx); err == nil {
		paused, err = d.Pauses(ctx)
	}
	for _, final := range []error{queue.ErrSchemaMissing, queue.ErrSchemaOld, queue.ErrRefused, queue.ErrForbidden, queue.ErrEncoding} {
		if errors.Is(err, final) {
			return nil, err
		}
	}
	return paused, nil
}

// pool makes the workers, which begin when it is started.
func (o *WorkOptions) pool(ctx context.Context, d *Database, log *workLog) (*workers.Pool, error) {
	handlers := workers.NewHandlers()
	if len(o.Exec) > 0 {
		do := child.Handler(o.Exec, child.Options{Output: log.output, Unable: log.unable, Poison: o.Poison})
		for _, name := range o.Queues {
			handlers.Queue(name, do)
		}
	} else {
		var err error
		if handlers, err = o.Demo.Handlers(ctx, d.Queue); err != nil {
			return nil, err
		}
	}
	pool, err := workers.New(d.Queue, handlers, workers.Options{
		Lease: o.Lease, Grace: o.Grace, Retention: o.Retention, Settled: log.settled,
	})
	for range o.Workers {
		if err == nil {
			if err = ctx.Err(); err != nil {
				return nil, err
			}
			_, err = pool.Spawn(o.Queues, o.Slots)
		}
	}
	if err != nil { // of what was asked for: nothing has begun
		return nil, Usage(strings.TrimPrefix(err.Error(), "workers: "))
	}
	return pool, nil
}
