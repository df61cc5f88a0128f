package workers

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/leasetop/leasetop/queue"
)

func soon(int) time.Duration { return 0 }

func TestOutcomeFollowsTheErrorsType(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	boom := errors.New("boom")
	outcomes := map[string]Handler{
		"nil":       nothing,
		"error":     func(context.Context, *queue.Job) error { return boom },
		"permanent": func(context.Context, *queue.Job) error { return fmt.Errorf("wrapped: %w", queue.Permanent(boom)) },
		"snooze":    func(context.Context, *queue.Job) error { return queue.Snooze(time.Hour) },
		"panic":     func(context.Context, *queue.Job) error { panic("poor thing") },
		"goexit":    func(context.Context, *queue.Job) error { runtime.Goexit(); return nil },
	}
	h := NewHandlers()
	ids := map[string]int64{}
	for kind, fn := range outcomes {
		h.Kind(kind, fn)
		ids[kind] = enqueue(t, q, queue.NewJob{Kind: kind})[0]
	}
	p := startPool(t, q, h, Options{}, 2)
	for _, c := range []struct {
		kind     string
		status   queue.Status
		attempts int
		text     string
	}{
		{"nil", queue.Completed, 1, ""},
		{"error", queue.Pending, 1, "boom"},
		{"permanent", queue.Dead, 1, "wrapped: boom"},
		{"snooze", queue.Pending, 0, ""},
		{"panic", queue.Dead, 1, "panic: poor thing"},
		{"goexit", queue.Dead, 1, "ended its goroutine"},
	} {
		var job *queue.Job
		waitUntil(t, p, c.kind, func() bool {
			job = get(t, q, ids[c.kind])
			return job.Status == c.status && job.UpdatedAt.After(job.CreatedAt)
		})
		if job.Attempts != c.attempts || !strings.Contains(job.LastError, c.text) {
			t.Errorf("%s: attempts %d, error %q; want %d, %q", c.kind, job.Attempts, job.LastError, c.attempts, c.text)
		}
		if job.Status == queue.Pending && time.Until(job.RunAt.Time) < time.Minute {
			t.Errorf("%s: back at %v, want later", c.kind, job.RunAt)
		}
	}
	if e := waitFor(t, p, Panicked); e.JobID != ids["panic"] {
		t.Errorf("the panic was told of job %d", e.JobID)
	}
	buried := get(t, q, ids["panic"]).LastError
	if !strings.Contains(buried, "TestOutcomeFollowsTheErrorsType") || len(buried) > queue.ErrorTextLimit {
		t.Errorf("the stack does not lead to the handler, or is too long:\n%s", buried)
	}
	waitUntil(t, p, "the counters", func() bool {
		var sum Snapshot
		for _, s := range p.Workers() {
			sum.Processed, sum.Completed, sum.Failed = sum.Processed+s.Processed, sum.Completed+s.Completed, sum.Failed+s.Failed
		}
		return sum.Processed == 5 && sum.Completed == 1 && sum.Failed == 4
	})
}

func TestUnwritableFailureIsWritten(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	long := strings.Repeat("a", queue.ErrorTextLimit-1) + "𝄞 tail"
	texts := []string{"boom\x00tail", "\xff\xfe", "half a pair \xed\xa0\xbd", long}
	h := on(func(_ context.Context, job *queue.Job) error {
		return errors.New(texts[(job.ID-1)%int64(len(texts))])
	}, WithBackoff(soon))
	ids := enqueue(t, q, many(len(texts), queue.NewJob{MaxAttempts: 2})...)
	p := startPool(t, q, h, Options{}, 1)
	for _, id := range ids {
		job := waitStatus(t, p, id, queue.Failed)
		if job.Attempts != 2 || len(job.Errors) != 2 {
			t.Errorf("job %d: attempts %d, history of %d; want 2 and 2", id, job.Attempts, len(job.Errors))
		}
		if !utf8.ValidString(job.LastError) || job.LastError == "" {
			t.Errorf("job %d: error text %q", id, job.LastError)
		}
		if text := texts[(id-1)%int64(len(texts))]; text != long && !strings.Contains(job.LastError, "\uFFFD") {
			t.Errorf("job %d: %q does not show that something was replaced", id, job.LastError)
		}
	}
}

func TestCompleteTxIsOneCommitWithTheEffect(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	l := newLedger(t, q)
	p := startPool(t, q, on(l.effect), Options{}, 1)
	id := enqueue(t, q, queue.NewJob{})[0]
	waitStatus(t, p, id, queue.Completed)
	waitUntil(t, p, "the counter", func() bool { return p.Workers()[0].Completed == 1 })
	if n := l.effects(t, id); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
	if has(p, StaleFenced) || has(p, LeaseLost) {
		t.Error("the completion in the handler's transaction was taken for a lost lease")
	}
}

func TestCompleteTxRolledBackIsNoCompletion(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	l := newLedger(t, q)
	h := on(func(ctx context.Context, job *queue.Job) error {
		if job.Attempts > 1 {
			return l.effect(ctx, job)
		}
		return pgx.BeginFunc(ctx, q.Pool(), func(tx pgx.Tx) error {
			if err := errors.Join(l.note(ctx, tx, job), CompleteTx(ctx, tx)); err != nil {
				return err
			}
			return errors.New("changed my mind")
		})
	}, WithBackoff(soon))
	p := startPool(t, q, h, Options{}, 1)
	id := enqueue(t, q, queue.NewJob{})[0]
	job := waitStatus(t, p, id, queue.Completed)
	if job.Attempts != 2 || job.LastError != "changed my mind" || l.effects(t, id) != 1 {
		t.Errorf("attempts %d, error %q, %d effects", job.Attempts, job.LastError, l.effects(t, id))
	}
}

func TestErrorAfterTheTransactionCommittedIsStillACompletion(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	l := newLedger(t, q)
	p := startPool(t, q, on(func(ctx context.Context, job *queue.Job) error {
		if err := l.effect(ctx, job); err != nil {
			return err
		}
		return errors.New("could not tell anybody")
	}), Options{}, 1)
	id := enqueue(t, q, queue.NewJob{})[0]
	waitUntil(t, p, "the counter", func() bool { return p.Workers()[0].Processed == 1 })
	if s := p.Workers()[0]; s.Completed != 1 || has(p, StaleFenced) || get(t, q, id).Status != queue.Completed {
		t.Errorf("completed %d, job %s", s.Completed, get(t, q, id).Status)
	}
}

func TestCompleteTxNeedsAHandlersContext(t *testing.T) {
	t.Parallel()
	if err := CompleteTx(context.Background(), nil); !errors.Is(err, ErrNoJob) {
		t.Errorf("got %v, want ErrNoJob", err)
	}
}

func TestTransientErrorsAreToldFromLastingOnes(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		"57P01": true, "40001": true, "40P01": true, "08006": true, "53300": true, "55P03": true, "25006": true,
		"42P01": false, "23514": false, "22021": false, "42501": false,
	} {
		err := fmt.Errorf("complete: %w", &pgconn.PgError{Code: code})
		if got := transient(err); got != want {
			t.Errorf("%s is transient: %v, want %v", code, got, want)
		}
	}
	if !transient(errors.New("connection reset")) {
		t.Error("an error that is not the server's is a lost connection")
	}
}
