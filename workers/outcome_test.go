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

// A heartbeat between the commit and the handler's return finds the job completed.
func TestHeartbeatAfterCompleteTxIsNoLostLease(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	l := newLedger(t, q)
	var beats <-chan error
	p := newPool(t, q, on(func(ctx context.Context, job *queue.Job) error {
		if err := l.effect(ctx, job); err != nil {
			return err
		}
		for len(beats) > 0 { // those of before the commit
			<-beats
		}
		return errors.Join(<-beats, <-beats, context.Cause(ctx))
	}), Options{Lease: 3 * time.Second})
	beats = p.signals.beat.listen()
	other := newGate(t)
	p.handlers.queues["busy"] = handler{do: func(ctx context.Context, _ *queue.Job) error { return other.wait(ctx) }}
	start(t, p)
	spawn(t, p, 1, "busy") // keeps the heart beating
	spawn(t, p, 1, "q")
	enqueue(t, q, queue.NewJob{Queue: "busy"})
	waitBegan(t, p, 1)
	enqueue(t, q, queue.NewJob{})
	waitUntil(t, p, "the job", func() bool { return p.workerNamed(t, "w2").Processed == 1 })
	if s := p.workerNamed(t, "w2"); s.Completed != 1 || s.Lost != 0 || has(p, LeaseLost) {
		t.Errorf("completed %d, lost %d, want 1 and 0", s.Completed, s.Lost)
	}
	other.open()
}

// The first try was written, its answer lost with the connection.
func TestUnansweredOutcomeIsNotTakenForALostLease(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	p := newPool(t, q, on(nothing), Options{})
	p.base = context.Background()
	w := newWorker(p, "w", []string{"q"}, 4)
	p.workers = append(p.workers, w)
	enqueue(t, q, many(4, queue.NewJob{})...)
	jobs, err := q.Claim(context.Background(), queue.ClaimRequest{Queue: "q", Owner: w.nextToken(), Lease: time.Minute, Limit: 4})
	if err != nil || len(jobs) != 4 {
		t.Fatal(len(jobs), err)
	}
	for i, failure := range []error{nil, errors.New("boom"), queue.Permanent(errors.New("poison")), queue.Snooze(time.Hour)} {
		r := newRun(w, &jobs[i])
		r.grant(time.Minute, p.clock(), p.clock())
		o := r.completion(false)
		if failure != nil {
			o = r.failure(read(failure), nil)
		}
		write, tries := o.write, 0
		o.write = func(ctx context.Context, q *queue.Queue, l queue.Lease) (queue.Status, error) {
			status, err := write(ctx, q, l)
			if tries++; tries == 1 {
				return "", errors.Join(errors.New("connection reset"), err)
			}
			return status, err
		}
		r.write(o)
		if tries != 2 {
			t.Errorf("%s: %d tries, want 2", o.name, tries)
		}
	}
	p.base = nil // it was never started
	if s := w.snapshot(); s.Fenced != 0 || s.Lost != 0 || s.Completed != 1 || s.Failed != 2 {
		t.Errorf("fenced %d, lost %d, completed %d, failed %d; want 0, 0, 1, 2", s.Fenced, s.Lost, s.Completed, s.Failed)
	}
}

// A commit may wait for a standby until nobody trusts the lease any more. The row has the
// outcome then, however late its answer is, or if none comes.
func TestOutcomeThatWasCommittedIsReportedWhenItsAnswerCameTooLate(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	p := newPool(t, q, on(nothing), Options{})
	p.base = context.Background()
	w := newWorker(p, "w", []string{"q"}, 10)
	p.workers = append(p.workers, w)
	outcomes := []struct {
		name string
		of   func(*run) outcome
		want queue.Status
	}{
		{"completion", func(r *run) outcome { return r.completion(false) }, queue.Completed},
		{"late completion", func(r *run) outcome { return r.completion(true) }, queue.Completed},
		{"retry", func(r *run) outcome { return r.failure(read(errors.New("boom")), nil) }, queue.Pending},
		{"last retry", func(r *run) outcome { return r.failure(read(errors.New("boom")), nil) }, queue.Failed},
		{"burial", func(r *run) outcome { return r.failure(read(queue.Permanent(errors.New("poison"))), nil) }, queue.Dead},
		{"snooze", func(r *run) outcome { return r.failure(read(queue.Snooze(time.Hour)), nil) }, queue.Pending},
		{"release", func(r *run) outcome { return r.failure(read(errors.New("drained")), ErrDrained) }, queue.Pending},
		{"cancellation", func(r *run) outcome { r.cancelledBy = "ann"; return r.cancellation("stopped") }, queue.Dead},
	}
	settled := map[int64]queue.Status{}
	p.o.Settled = func(s Settled) { settled[s.Job.ID] = s.Status }
	for _, c := range outcomes {
		job := queue.NewJob{}
		if c.name == "last retry" {
			job.MaxAttempts = 1
		}
		enqueue(t, q, job)
		jobs, err := q.Claim(t.Context(), queue.ClaimRequest{Queue: "q", Owner: w.nextToken(), Lease: time.Minute, Limit: 1})
		if err != nil || len(jobs) != 1 {
			t.Fatal(len(jobs), err)
		}
		if c.name == "cancellation" {
			exec(t, q, "UPDATE leasetop.jobs SET cancelled_by = 'ann' WHERE id = $1", jobs[0].ID)
		}
		r := newRun(w, &jobs[0])
		r.grant(time.Minute, p.clock(), p.clock())
		p.hold(r)
		o := c.of(r)
		write := o.write
		o.write = func(ctx context.Context, q *queue.Queue, l queue.Lease) (queue.Status, error) {
			_, err := write(ctx, q, l)
			p.mu.Lock()
			r.trust = p.clock()
			p.mu.Unlock()
			return "", errors.Join(context.DeadlineExceeded, err)
		}
		r.write(o)
		if now := get(t, q, jobs[0].ID).Status; settled[jobs[0].ID] != c.want || now != c.want {
			t.Errorf("%s: reported as %q, the row is %s, want %s", c.name, settled[jobs[0].ID], now, c.want)
		}
	}
	p.base = nil // it was never started
	if s := w.snapshot(); s.Lost != 0 || s.Completed != 2 || s.Failed != 4 || has(p, TrustEnded) {
		t.Errorf("lost %d, completed %d, failed %d; want 0, 2, 4", s.Lost, s.Completed, s.Failed)
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

func TestEachKindHasItsOwnBackoff(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	boom := func(context.Context, *queue.Job) error { return errors.New("boom") }
	h := NewHandlers()
	h.Kind("hours", boom, WithBackoff(func(attempt int) time.Duration { return time.Duration(attempt) * time.Hour }))
	h.Kind("seconds", boom, WithBackoff(func(int) time.Duration { return 5 * time.Second }))
	h.Queue("q", boom)
	p := startPool(t, q, h, Options{}, 1)
	usual := queue.DefaultBackoff(1)
	for kind, want := range map[string][2]time.Duration{
		"hours": {time.Hour, time.Hour}, "seconds": {5 * time.Second, 5 * time.Second}, "other": {usual / 2, 2 * usual},
	} {
		id := enqueue(t, q, queue.NewJob{Kind: kind})[0]
		var job *queue.Job
		waitUntil(t, p, kind, func() bool { job = get(t, q, id); return len(job.Errors) == 1 })
		if waits := job.RunAt.Sub(job.UpdatedAt); waits < want[0] || waits > want[1] {
			t.Errorf("%s: it waits %v, want %v to %v", kind, waits, want[0], want[1])
		}
	}
}
