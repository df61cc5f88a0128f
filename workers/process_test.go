package workers

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	osexec "os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// A worker process is this test binary again, which plays a role instead of
// running tests. It works on the queue "q" under [Pool.Run], tells what happens on
// its standard output, and ends when its standard input does: with the test.
const (
	roleVariable = "LEASETOP_TEST_ROLE"
	urlVariable  = "LEASETOP_TEST_URL"
)

// role says what a worker process does with its jobs. The channel is closed when
// the test says so with [process.open].
type role struct {
	do      func(ctx context.Context, q *queue.Queue, job *queue.Job, opened <-chan struct{}) error
	options Options
	slots   int
	stays   bool // it does not end when Run returns
}

var roles = map[string]role{
	"heedful":  {do: heedful, options: Options{Grace: time.Hour}, slots: 1},
	"stubborn": {do: stubborn, options: Options{Grace: time.Hour}, slots: 2},
	"hasty":    {do: stubborn, options: Options{Grace: time.Second}, slots: 2},
	"brief":    {do: heedful, options: Options{Lease: time.Second}, slots: 1},
	"mortal":   {do: mortal, options: Options{Lease: time.Second}, slots: 2},
	"scribe":   {do: scribe, slots: 4},
	"undying":  {do: stubborn, options: Options{Grace: time.Hour}, slots: 1, stays: true},
}

// heedful waits to be opened, or for the end of its context.
func heedful(ctx context.Context, _ *queue.Queue, _ *queue.Job, opened <-chan struct{}) error {
	select {
	case <-opened:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// stubborn does jobs, but for one that it does not end when it is asked to.
func stubborn(_ context.Context, _ *queue.Queue, job *queue.Job, opened <-chan struct{}) error {
	if job.Kind == "stubborn" {
		<-opened
	}
	return nil
}

// mortal does jobs, but for those that take down their process.
func mortal(ctx context.Context, q *queue.Queue, job *queue.Job, _ <-chan struct{}) error {
	if job.Kind == "" {
		return nil
	}
	if _, err := q.Pool().Exec(ctx, "INSERT INTO ledger VALUES ($1)", job.ID); err != nil {
		return err
	}
	switch job.Kind {
	case "kill -9":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "exit":
		os.Exit(0)
	case "panic":
		go panic("in a goroutine, where nobody recovers")
	}
	select {}
}

// scribe writes that it did the job, in a transaction that has nothing to do with
// the job's completion.
func scribe(ctx context.Context, q *queue.Queue, job *queue.Job, _ <-chan struct{}) error {
	_, err := q.Pool().Exec(ctx, "INSERT INTO ledger VALUES ($1)", job.ID)
	return err
}

// play is the main function of a worker process.
func play(name string) int {
	opened := make(chan struct{})
	go func() {
		input := bufio.NewScanner(os.Stdin)
		if input.Scan() {
			close(opened)
		}
		for input.Scan() {
		}
		os.Exit(3)
	}()
	q, err := queue.Open(context.Background(), os.Getenv(urlVariable), queue.Options{MaxConns: 4})
	if err != nil {
		fmt.Println(err)
		return 2
	}
	defer q.Close()
	r := roles[name]
	o := r.options
	o.Logger = slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelDebug}))
	p, err := New(q, on(func(ctx context.Context, job *queue.Job) error {
		fmt.Println("began", job.ID)
		return r.do(ctx, q, job, opened)
	}), o)
	if err == nil {
		_, err = p.Spawn([]string{"q"}, r.slots)
	}
	if err != nil {
		fmt.Println(err)
		return 2
	}
	if err = p.Run(context.Background()); err != nil {
		fmt.Println("left:", err)
	}
	if r.stays {
		select {}
	}
	if err != nil {
		return 1
	}
	return 0
}

// process is a worker process as its test sees it.
type process struct {
	cmd   *osexec.Cmd
	input io.WriteCloser
	lines chan string // of its output; closed at the end
	said  []string    // lines heard
	ended bool
}

// runProcess starts a worker process that ends with the test at the latest. words
// come before its command line, as of a shell that starts it.
func runProcess(t testing.TB, url, role string, words ...string) *process {
	t.Helper()
	p, err := startProcess(url, role, words...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !p.ended {
			_ = p.cmd.Process.Kill()
			p.end(t)
		}
		if t.Failed() {
			t.Logf("the %s process said:\n%s", role, strings.Join(p.said, "\n"))
		}
	})
	return p
}

func startProcess(url, role string, words ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	words = append(words, self)
	p := &process{cmd: osexec.Command(words[0], words[1:]...), lines: make(chan string, 10_000)}
	p.cmd.Env = append(os.Environ(), roleVariable+"="+role, urlVariable+"="+url, "GORACE=atexit_sleep_ms=0")
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.cmd.Stderr = p.cmd.Stdout
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.lines)
		scan := bufio.NewScanner(output)
		for scan.Scan() {
			p.lines <- scan.Text()
		}
	}()
	return p, nil
}

// hear waits for a line with this text in it.
func (p *process) hear(t testing.TB, text string) string {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				t.Fatalf("the process ended before it said %q", text)
			}
			p.said = append(p.said, line)
			if strings.Contains(line, text) {
				return line
			}
		case <-deadline:
			t.Fatalf("waited in vain for the process to say %q", text)
		}
	}
}

func (p *process) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// open lets waiting handlers go on.
func (p *process) open(t testing.TB) {
	t.Helper()
	if _, err := fmt.Fprintln(p.input); err != nil {
		t.Fatal(err)
	}
}

// end waits for the process's end and returns how it ended and all it said.
func (p *process) end(t testing.TB) (syscall.WaitStatus, string) {
	t.Helper()
	deadline := time.After(patience)
	for open := true; open; {
		var line string
		select {
		case line, open = <-p.lines:
			p.said = append(p.said, line)
		case <-deadline:
			_ = p.cmd.Process.Kill()
			t.Error("waited in vain for the process to end")
			deadline = nil
		}
	}
	_ = p.cmd.Wait() // the status tells all of it
	p.ended = true
	return p.cmd.ProcessState.Sys().(syscall.WaitStatus), strings.Join(p.said, "\n")
}
