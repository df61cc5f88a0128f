package child

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/workers"
)

// asWorker is set for this binary run as a worker process that tests kill: each
// line of its standard input is a script for a child, whose output it prints.
const asWorker = "LEASETOP_TEST_WORKER"

// dieEarly has such a worker stand still with each child as soon as it has begun.
const dieEarly = "LEASETOP_TEST_DIE_EARLY"

// asInit makes such a worker the parent of orphans, as process 1 is.
const asInit = "LEASETOP_TEST_INIT"

func TestMain(m *testing.M) {
	if os.Getenv(asWorker) != "" {
		if os.Getenv(dieEarly) != "" {
			started = func() { select {} }
		}
		if os.Getenv(asInit) != "" {
			if err := becomeInit(); err != nil {
				panic(err)
			}
		}
		var all sync.WaitGroup
		for scripts := bufio.NewScanner(os.Stdin); scripts.Scan(); {
			argv := []string{"sh", "-c", scripts.Text()}
			all.Go(func() {
				_ = Handler(argv, Options{Output: func(_ *queue.Job, _ Stream, line string) { fmt.Println(line) }})(
					context.Background(), &queue.Job{ID: 1})
			})
		}
		all.Wait()
		os.Exit(0)
	}
	code := testdb.Run(m)
	if code == 0 {
		// The guard is attended as long as this process lives.
		if err := goleak.Find(goleak.IgnoreAnyFunction("github.com/leasetop/leasetop/workers/child.(*guard).attend")); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines were left behind:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// patience is how long a test waits for what must come. It only ends tests that fail.
const patience = time.Minute

// printed is what children printed.
type printed struct {
	mu    sync.Mutex
	lines []string
	came  chan struct{} // closed and replaced with every line
}

func (p *printed) add(_ *queue.Job, from Stream, line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, string(from)+" "+line)
	if p.came != nil {
		close(p.came)
		p.came = nil
	}
}

func (p *printed) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.lines...)
}

// await waits for a line that begins so, and returns what follows.
func (p *printed) await(t *testing.T, begin string) string {
	t.Helper()
	timeout := time.After(patience)
	for {
		p.mu.Lock()
		if p.came == nil {
			p.came = make(chan struct{})
		}
		came := p.came
		p.mu.Unlock()
		for _, line := range p.all() {
			if rest, ok := strings.CutPrefix(line, begin); ok {
				return rest
			}
		}
		select {
		case <-came:
		case <-timeout:
			t.Fatalf("no line begins with %q: %q", begin, p.all())
		}
	}
}

func (p *printed) pid(t *testing.T, begin string) int {
	t.Helper()
	return number(t, p.await(t, begin))
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// sh does a job by a script.
func sh(script string, p *printed) workers.Handler {
	return Handler([]string{"sh", "-c", script}, Options{Output: p.add})
}

// begin runs a handler beside the test; the channel gets what it returns.
func begin(ctx context.Context, h workers.Handler) <-chan error {
	done := make(chan error, 1)
	go func() { done <- h(ctx, &queue.Job{ID: 1}) }()
	return done
}

func receive[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("waited in vain for: %s", what)
		panic("unreachable")
	}
}

// alive tells whether a process lives; a zombie does not.
func alive(pid int) bool {
	if runtime.GOOS != "linux" {
		return syscall.Kill(pid, 0) == nil
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}

// dies waits for the end of a process that is not this one's child, which nothing signals.
func dies(t *testing.T, what string, pid int) {
	t.Helper()
	for end := time.Now().Add(patience); alive(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatalf("%s lives on", what)
		}
	}
}

func tool(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed here", name)
	}
}

// script writes a program for the test.
func script(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "job.sh")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func retryable(err error) bool { return err != nil && !queue.IsPermanent(err) }

// cancelled is a context that ends when the test says so, for a reason.
func cancelled(t *testing.T) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(context.Background())
	t.Cleanup(func() { cancel(errors.New("the test is over")) })
	return ctx, cancel
}
