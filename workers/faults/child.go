package faults

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// childVariable is set for this program run as a worker process.
const childVariable = "LEASETOP_WORKER_PROCESS"

// settings are what the process is told first. They come through its standard input,
// since its arguments and its environment are not kept as secret as a password should be.
type settings struct {
	URL, Schema, Name, AppName, Handlers string

	Queues, Reaps []string
	Slots         int

	Lease, Margin, PollMin, PollMax, Grace time.Duration

	Logs bool
}

func settingsOf(o ProcessOptions) settings {
	return settings{
		URL: o.URL, Schema: o.Schema, Name: o.Name, AppName: appName(o.Name), Handlers: o.Handlers,
		Queues: o.Queues, Reaps: o.Reaps, Slots: o.Slots,
		Lease: o.Lease, Margin: o.Margin, PollMin: o.PollMin, PollMax: o.PollMax, Grace: o.Grace,
		Logs: o.Output != nil,
	}
}

// report is what it tells in return, one a line.
type report struct {
	Workers []workers.Snapshot
	Events  []workers.Event
	Failure string `json:",omitempty"` // why it cannot go on; then there is nothing else
}

// reportsAt is the descriptor that reports are written to.
const reportsAt = 3

// processTitle is what a worker process is called in lists of processes.
func processTitle(name string) string { return "leasetop-worker " + name }

var makers struct {
	sync.Mutex
	named map[string]func(q *queue.Queue) *workers.Handlers
}

// Register names handlers that worker processes can run. Call it before [ChildMain], as
// from an init function. It panics when the name is taken: names are constants of the
// program.
func Register(name string, make func(q *queue.Queue) *workers.Handlers) {
	makers.Lock()
	defer makers.Unlock()
	if makers.named == nil {
		makers.named = map[string]func(q *queue.Queue) *workers.Handlers{}
	}
	if makers.named[name] != nil {
		panic(fmt.Sprintf("faults: handlers %q are registered twice", name))
	}
	makers.named[name] = make
}

func handlersNamed(name string, q *queue.Queue) (*workers.Handlers, error) {
	makers.Lock()
	make := makers.named[name]
	makers.Unlock()
	if make == nil {
		return nil, fmt.Errorf("no handlers are registered as %q", name)
	}
	return make(q), nil
}

// heed waits for the end of the process that started this one, and dies with it.
func heed(in io.Reader) {
	_, _ = io.Copy(io.Discard, in)
	die()
}

// die is the end of this process by a real SIGKILL.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // until it arrives
}

// ChildMain is to be called first by the main function of a program that calls
// [StartProcess], and by TestMain where tests do. In a worker process it does that
// process's work and does not return; else it returns at once.
func ChildMain() {
	if os.Getenv(childVariable) == "" {
		return
	}
	_ = os.Unsetenv(childVariable) // what handlers start is no worker
	syscall.CloseOnExec(reportsAt)
	os.Exit(serve(bufio.NewReader(os.Stdin), os.NewFile(reportsAt, "reports")))
}

// serve is the life of a worker process.
func serve(in *bufio.Reader, reports io.Writer) (status int) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	out := json.NewEncoder(reports)
	fail := func(err error) int {
		_ = out.Encode(report{Failure: err.Error()})
		return 1
	}
	line, err := in.ReadBytes('\n')
	if err != nil {
		return fail(fmt.Errorf("read the settings: %w", err))
	}
	var s settings
	if err := json.Unmarshal(line, &s); err != nil {
		return fail(fmt.Errorf("read the settings: %w", err))
	}
	callItself(s.Name)
	go heed(in)

	q, pool, err := s.open(ctx)
	if err != nil {
		return fail(err)
	}
	defer q.Close()
	if err := pool.Start(ctx); err != nil {
		return fail(err)
	}
	over, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		tell(pool, out, over)
	}()
	err = pool.Run(ctx)
	close(over)
	<-told
	if err != nil {
		return fail(err)
	}
	return 0
}

// conns is how many connections a worker process's queue has.
const conns = 4

func (s *settings) open(ctx context.Context) (*queue.Queue, *workers.Pool, error) {
	q, err := queue.Open(ctx, s.URL, queue.Options{Schema: s.Schema, MaxConns: conns, AppName: s.AppName})
	if err != nil {
		return nil, nil, err
	}
	pool, err := s.pool(q)
	if err != nil {
		q.Close()
		return nil, nil, err
	}
	return q, pool, nil
}

func (s *settings) pool(q *queue.Queue) (*workers.Pool, error) {
	handlers, err := handlersNamed(s.Handlers, q)
	if err != nil {
		return nil, err
	}
	pool, err := workers.New(q, handlers, s.options())
	if err != nil {
		return nil, err
	}
	return pool, pool.SpawnAs(s.Name, s.Queues, s.Slots)
}

func (s *settings) options() workers.Options {
	o := workers.Options{Lease: s.Lease, Margin: s.Margin, PollMin: s.PollMin, PollMax: s.PollMax, Grace: s.Grace, Reaps: s.Reaps}
	if s.Logs {
		o.Logger = slog.New(slog.NewTextHandler(os.Stdout, nil))
	}
	return o
}

// between is how long after a report the next one comes at the soonest: a screen shows
// no more, and a worker of many short jobs should not spend its time on them.
const between = 10 * time.Millisecond

// tell reports the pool's workers and events whenever they change, and once more when
// it is over.
func tell(pool *workers.Pool, out *json.Encoder, over <-chan struct{}) {
	var seen uint64
	for last := false; ; {
		changed := pool.Changed()
		r := report{Workers: pool.Workers()}
		r.Events, seen = pool.Events(seen)
		if out.Encode(r) != nil || last {
			return
		}
		select {
		case <-changed:
			soon := time.NewTimer(between)
			select {
			case <-soon.C:
			case <-over:
				soon.Stop()
				last = true
			}
		case <-over:
			last = true
		}
	}
}
