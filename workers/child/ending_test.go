package child

import (
	"context"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/workers"
)

// stubborn ignores SIGTERM, as does its child, and says when it is ready for one.
const stubborn = `trap '' TERM; sleep 1000 & echo "grandchild $!"; echo "child $$"; wait`

func TestLostLeaseKillsTheWholeGroupAtOnce(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{queue.ErrLeaseLost, workers.ErrTrustEnded, workers.ErrCrashed} {
		var p printed
		ctx, cancel := cancelled(t)
		done := begin(ctx, sh(stubborn, &p))
		child, grandchild := p.pid(t, "out child "), p.pid(t, "out grandchild ")
		if !alive(child) || !alive(grandchild) {
			t.Fatal("they do not run")
		}
		cancel(cause)
		if err := receive(t, "the handler", done); !errors.Is(err, cause) || queue.IsPermanent(err) || !strings.Contains(err.Error(), "killed by SIGKILL") {
			t.Errorf("%v: %v", cause, err)
		}
		if alive(child) {
			t.Errorf("%v: the child lives on", cause)
		}
		dies(t, "the grandchild", grandchild)
	}
}

func TestDrainedChildIsAskedFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script string
		good         func(error) bool
	}{
		{"finishes", `trap 'exit 0' TERM; echo ready; sleep 1000 & wait`, func(err error) bool { return err == nil }},
		{"gives up", `trap 'echo going >&2; exit 9' TERM; echo ready; sleep 1000 & wait`, func(err error) bool {
			return errors.Is(err, workers.ErrDrained) && !queue.IsPermanent(err) && strings.Contains(err.Error(), "exit status 9: going")
		}},
		{"does not care", `echo ready; sleep 1000`, func(err error) bool {
			return errors.Is(err, workers.ErrDrained) && !queue.IsPermanent(err) && strings.Contains(err.Error(), "killed by SIGTERM")
		}},
		{"is stopped", `echo ready; kill -STOP $$; exit 0`, func(err error) bool {
			return errors.Is(err, workers.ErrDrained) && !queue.IsPermanent(err) && strings.Contains(err.Error(), "killed by SIGTERM")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var p printed
			ctx, cancel := cancelled(t)
			done := begin(ctx, sh(c.script, &p))
			p.await(t, "out ready")
			cancel(workers.ErrDrained)
			if err := receive(t, "the handler", done); !c.good(err) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestChildThatIgnoresSIGTERMIsKilledInTheEnd(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{workers.ErrDrained, queue.ErrCancelled, workers.ErrTimeout, context.DeadlineExceeded} {
		t.Run(cause.Error(), func(t *testing.T) {
			t.Parallel()
			var p printed
			ctx, cancel := cancelled(t)
			done := begin(ctx, sh(stubborn, &p))
			grandchild := p.pid(t, "out grandchild ")
			p.await(t, "out child ")
			cancel(cause)
			if err := receive(t, "the handler", done); !errors.Is(err, cause) || queue.IsPermanent(err) || !strings.Contains(err.Error(), "killed by SIGKILL") {
				t.Errorf("%v", err)
			}
			dies(t, "the grandchild", grandchild)
		})
	}
}

func TestEndedContextStartsNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := cancelled(t)
	cancel(workers.ErrDrained)
	var p printed
	if err := sh("echo started", &p)(ctx, &queue.Job{ID: 1}); !errors.Is(err, workers.ErrDrained) || len(p.all()) > 0 {
		t.Errorf("%v, printed %q", err, p.all())
	}
}

func TestWhatTheChildLeavesRunningEndsWithIt(t *testing.T) {
	t.Parallel()
	for _, status := range []int{0, 75} {
		var p printed
		err := sh(`sh -c 'trap "" TERM HUP; sleep 1000' & echo "left $!"; exit `+strconv.Itoa(status), &p)(t.Context(), &queue.Job{ID: 1})
		if (err == nil) != (status == 0) {
			t.Errorf("exit %d: %v", status, err)
		}
		dies(t, "what it left", p.pid(t, "out left "))
	}
}

// A process in a session of its own is out of reach, and must not hold up the job.
func TestDaemonDoesNotHoldUpTheJob(t *testing.T) {
	t.Parallel()
	tool(t, "setsid")
	var p printed
	if err := sh(`setsid sh -c 'echo "daemon $$"; exec sleep 1000' & while ! kill -0 $! ; do :; done; sleep 0.2`, &p)(t.Context(), &queue.Job{ID: 1}); err != nil {
		t.Error(err)
	}
	daemon := p.pid(t, "out daemon ")
	if !alive(daemon) {
		t.Error("the daemon was killed: it left the group")
	}
	if err := exec.Command("kill", "-KILL", strconv.Itoa(daemon)).Run(); err != nil {
		t.Error(err)
	}
}

// pool runs a handler for the queue "q" of a database of the test's own.
func pool(t *testing.T, h workers.Handler, o workers.Options) (*queue.Queue, *workers.Pool) {
	t.Helper()
	q, err := queue.Open(t.Context(), testdb.New(t), queue.Options{MaxConns: 5})
	if err != nil {
		t.Fatal(err)
	}
	handlers := workers.NewHandlers()
	handlers.Queue("q", h)
	p, err := workers.New(q, handlers, o)
	if err == nil {
		_, err = p.Spawn([]string{"q"}, 1)
	}
	if err == nil {
		err = p.Start(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Stop(context.Background())
		q.Close()
	})
	return q, p
}

func enqueue(t *testing.T, q *queue.Queue) int64 {
	t.Helper()
	added, err := q.Enqueue(t.Context(), queue.NewJob{Queue: "q"})
	if err != nil {
		t.Fatal(err)
	}
	return added[0].ID
}

func TestReclaimedJobsChildDiesWithItsLease(t *testing.T) {
	t.Parallel()
	var out printed
	q, p := pool(t, sh(stubborn, &out), workers.Options{Lease: time.Second})
	id := enqueue(t, q)
	child, grandchild := out.pid(t, "out child "), out.pid(t, "out grandchild ")
	if _, err := q.Pool().Exec(t.Context(), "UPDATE leasetop.jobs SET status = 'completed', locked_by = NULL, locked_at = NULL, lease_expires_at = NULL WHERE id = $1", id); err != nil {
		t.Fatal(err)
	}
	dies(t, "the child", child)
	dies(t, "the grandchild", grandchild)
	if job, err := q.Get(t.Context(), id); err != nil || job.Status != queue.Completed || len(job.Errors) != 0 {
		t.Errorf("the late worker left it as %+v, %v", job, err)
	}
	if err := p.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// SIGTERM first, SIGKILL before the pool gives it up: the job is released.
func TestDrainReleasesTheJobOfAStubbornChild(t *testing.T) {
	t.Parallel()
	var out printed
	q, p := pool(t, sh(stubborn, &out), workers.Options{Grace: 4 * time.Second})
	id := enqueue(t, q)
	out.await(t, "out child ")
	if err := p.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	if job, err := q.Get(t.Context(), id); err != nil || job.Status != queue.Pending || job.Attempts != 0 || len(job.Errors) != 0 {
		t.Errorf("released as %+v, %v", job, err)
	}
	dies(t, "the grandchild", out.pid(t, "out grandchild "))
}

// A forced stop waits for a second at most.
func TestForcedStopReleasesTheJobOfAStubbornChild(t *testing.T) {
	t.Parallel()
	var out printed
	q, p := pool(t, sh(stubborn, &out), workers.Options{Grace: time.Hour})
	id := enqueue(t, q)
	out.await(t, "out child ")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.Stop(ctx); err != nil {
		t.Error(err)
	}
	if job, err := q.Get(t.Context(), id); err != nil || job.Status != queue.Pending || job.Attempts != 0 {
		t.Errorf("released as %+v, %v", job, err)
	}
}

// Killed for the job's lost lease while it takes its time after SIGTERM.
func TestChildThatIsAskedToEndDiesWithItsLease(t *testing.T) {
	t.Parallel()
	var out printed
	c := newCommand([]string{"sh", "-c", `trap 'echo asked' TERM; sleep 1000 & echo "child $$"; while :; do wait; done`}, Options{Output: out.add})
	c.patience = func(context.Context) time.Duration { return time.Hour }
	q, p := pool(t, c.run, workers.Options{Lease: time.Second})
	id := enqueue(t, q)
	child := out.pid(t, "out child ")
	// Cancelled by an operator: it is asked to end.
	if _, err := q.Cancel(t.Context(), "test", id); err != nil {
		t.Fatal(err)
	}
	out.await(t, "out asked")
	if _, err := q.Pool().Exec(t.Context(), "DELETE FROM leasetop.jobs WHERE id = $1", id); err != nil {
		t.Fatal(err)
	}
	dies(t, "the child", child)
	if err := p.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestNothingOfTheChildIsLeftWhenItsWorkerIsKilled(t *testing.T) {
	t.Parallel()
	var out printed
	q, p := pool(t, sh(stubborn, &out), workers.Options{Lease: time.Minute})
	enqueue(t, q)
	child, grandchild := out.pid(t, "out child "), out.pid(t, "out grandchild ")
	if err := p.Kill("w1"); err != nil {
		t.Fatal(err)
	}
	dies(t, "the child", child)
	dies(t, "the grandchild", grandchild)
}
