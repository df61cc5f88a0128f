package queue

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

func cancelled(t testing.TB, q *Queue, by string, ids ...int64) Cancelled {
	t.Helper()
	return must[Cancelled](t)(q.Cancel(t.Context(), by, ids...))
}

// want fails the test unless a cancel did just this.
func (c Cancelled) want(t testing.TB, what string, ids, asked []int64, skipped ...Skip) {
	t.Helper()
	sorted := func(ids []int64) []int64 { return slices.Sorted(slices.Values(ids)) }
	if !slices.Equal(sorted(c.IDs), sorted(ids)) || !slices.Equal(sorted(c.Asked), sorted(asked)) || !slices.Equal(c.Skipped, skipped) {
		t.Errorf("%s: cancelled %v, asked %v, skipped %v; want %v, %v, %v", what, c.IDs, c.Asked, c.Skipped, ids, asked, skipped)
	}
}

// outcomes are the entries of a job's history in short.
func outcomes(job *Job) (short []string) {
	for _, a := range job.Errors {
		short = append(short, fmt.Sprintf("%d %s by %s: %s", a.Attempt, a.Outcome, a.Worker, a.Error))
	}
	return short
}

func TestCancelOfAPendingJob(t *testing.T) {
	t.Parallel()
	q := open(t)
	due, later := enqueue(t, q, NewJob{}), enqueue(t, q, NewJob{Delay: time.Hour, IdempotencyKey: "k"})
	cancelled(t, q, "ann", due, later, due).want(t, "first", []int64{due, later}, nil)
	for _, id := range []int64{due, later} {
		job := get(t, q, id)
		if job.Status != Dead || job.CancelledBy != "ann" || job.LastError != "cancelled by ann" || job.DiedAt == nil || job.Attempts != 0 {
			t.Errorf("cancelled, it is %+v", job)
		}
		if got := outcomes(job); !slices.Equal(got, []string{"0 cancelled by ann: "}) {
			t.Errorf("history %q", got)
		}
	}
	if jobs := take(t, q, "emails", 10); len(jobs) != 0 {
		t.Errorf("claimed %v", jobs)
	}
	// The key is free, as that of any dead letter.
	if again := must[[]Enqueued](t)(q.Enqueue(t.Context(), NewJob{Queue: "emails", IdempotencyKey: "k"})); again[0].Existing {
		t.Errorf("enqueued %+v", again)
	}
	before := rowOf(t, q, due)
	cancelled(t, q, "bob", due, 4711).want(t, "again", nil, nil, Skip{ID: due, Reason: "already dead"}, Skip{ID: 4711, Reason: "no such job", Failed: true})
	if after := rowOf(t, q, due); after != before {
		t.Errorf("the second cancel wrote:\n%s\n%s", before, after)
	}
}

// CASES "Cancel a running job": the worker is told by its next beat and on the control
// channel, and until it ends the job, the job is its own.
func TestCancelOfARunningJobAsksItsWorker(t *testing.T) {
	t.Parallel()
	q := open(t)
	lease, other := claimed(t, q, NewJob{}, time.Minute), claimed(t, q, NewJob{}, time.Minute)
	ears := listen(t, q, q.Schema().ControlChannel())
	pending := enqueue(t, q, NewJob{})
	cancelled(t, q, "ann", lease.ID, pending).want(t, "first", []int64{pending}, []int64{lease.ID})
	ears.hears(t, fmt.Sprint("cancel ", lease.ID))
	cancelled(t, q, "bob", lease.ID).want(t, "by another", nil, []int64{lease.ID})
	ears.hears(t, fmt.Sprint("cancel ", lease.ID)) // the first may have been lost on its way

	job := get(t, q, lease.ID)
	if job.Status != Processing || job.LockedBy != lease.Token || job.CancelledBy != "ann" || job.LastError != "" || len(job.Errors) != 0 {
		t.Errorf("asked, it is %+v", job)
	}
	beat := must[Beat](t)(q.Heartbeat(t.Context(), []Renewal{{Lease: lease, For: time.Hour}, {Lease: other, For: time.Hour}}))
	if len(beat.Renewed) != 2 || len(beat.Cancelled) != 1 || beat.Cancelled[0] != (Cancellation{lease, "ann"}) {
		t.Errorf("beat %+v", beat)
	}
	if leases := must[[]Job](t)(q.Leases(t.Context(), 10)); leases[0].CancelledBy+leases[1].CancelledBy != "ann" {
		t.Errorf("leases %+v", leases)
	}
}

// However its worker ends it, a cancelled job is dead with who cancelled it, unless it
// completed all the same. What its handler said stays in the history.
func TestCancelledClaimsEndDead(t *testing.T) {
	t.Parallel()
	q := open(t)
	for name, c := range map[string]struct {
		end      func(Lease) error
		status   Status
		error    string
		attempts int
		history  string
	}{
		"retry":    {func(l Lease) error { _, err := q.Retry(t.Context(), l, "503", time.Minute); return err }, Dead, "cancelled by ann", 1, "1 cancelled by %s: 503"},
		"release":  {func(l Lease) error { return errorOf(q.Release(t.Context(), l)) }, Dead, "cancelled by ann", 1, "1 cancelled by %s: "},
		"snooze":   {func(l Lease) error { return errorOf(q.Snooze(t.Context(), l, time.Hour)) }, Dead, "cancelled by ann", 1, "1 cancelled by %s: "},
		"complete": {func(l Lease) error { return q.Complete(t.Context(), l) }, Completed, "", 1, ""},
		"bury":     {func(l Lease) error { return q.Bury(t.Context(), l, "bad address") }, Dead, "cancelled by ann", 1, "1 cancelled by %s: bad address"},
		"reclaim": {func(l Lease) error {
			expire(t, q, l.ID)
			taken, err := q.Reclaim(t.Context(), 10)
			if len(taken) != 1 || taken[0].Status != Dead || taken[0].CancelledBy != "ann" || taken[0].Owner != l.Token {
				t.Errorf("reclaimed %+v", taken)
			}
			return err
		}, Dead, "cancelled by ann", 1, "1 lost by %s: worker lost once: the lease ran out without a heartbeat"},
	} {
		lease := claimed(t, q, NewJob{Queue: name}, time.Minute)
		before := get(t, q, lease.ID)
		cancelled(t, q, "ann", lease.ID).want(t, name, nil, []int64{lease.ID})
		ok(t, c.end(lease))
		job := get(t, q, lease.ID)
		if job.Status != c.status || job.LastError != c.error || job.Attempts != c.attempts || job.CancelledBy != "ann" || job.LockedBy != "" || !job.RunAt.Equal(before.RunAt.Time) {
			t.Errorf("%s: it is %+v", name, job)
		}
		var history []string
		if c.history != "" {
			history = []string{fmt.Sprintf(c.history, lease.Token)}
		}
		if got := outcomes(job); !slices.Equal(got, history) {
			t.Errorf("%s: history %q, want %q", name, got, history)
		}
	}
	// Who gives it back is told what became of it.
	for name, giveBack := range map[string]func(Lease) (Status, error){
		"release": func(l Lease) (Status, error) { return q.Release(t.Context(), l) },
		"snooze":  func(l Lease) (Status, error) { return q.Snooze(t.Context(), l, time.Hour) },
	} {
		for _, want := range []Status{Pending, Dead} {
			lease := claimed(t, q, NewJob{Queue: name + string(want)}, time.Minute)
			if want == Dead {
				cancelled(t, q, "ann", lease.ID)
			}
			if status := must[Status](t)(giveBack(lease)); status != want || get(t, q, lease.ID).Status != want {
				t.Errorf("%s: told %s, want %s", name, status, want)
			}
		}
	}
	// Also at the last attempt: dead, not failed.
	last := claimed(t, q, NewJob{MaxAttempts: 1}, time.Minute)
	cancelled(t, q, "ann", last.ID)
	if status := must[Status](t)(q.Retry(t.Context(), last, "503", 0)); status != Dead {
		t.Errorf("at the last attempt: %s", status)
	}
}

// A redrive makes a cancelled job one like any other.
func TestRedriveClearsTheCancellation(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := enqueue(t, q, NewJob{})
	cancelled(t, q, "ann", id)
	must[Done](t)(q.Redrive(t.Context(), "bob", id))
	if by := get(t, q, id).CancelledBy; by != "" {
		t.Errorf("redriven, it is cancelled by %q", by)
	}
	job := claim(t, q, time.Minute)
	if job.ID != id || job.CancelledBy != "" || job.LastError != "cancelled by ann" {
		t.Errorf("claimed %+v", job)
	}
	if beat := must[Beat](t)(q.Heartbeat(t.Context(), []Renewal{{Lease: job.Lease(), For: time.Minute}})); len(beat.Cancelled) != 0 {
		t.Errorf("beat %+v", beat)
	}
	if status := must[Status](t)(q.Retry(t.Context(), job.Lease(), "503", 0)); status != Pending {
		t.Errorf("retried, it is %s", status)
	}
	if got := outcomes(get(t, q, id)); len(got) != 3 || got[0] != "0 cancelled by ann: " || got[1] != "0 redriven by bob: " {
		t.Errorf("history %q", got)
	}
}

func TestTwoOperatorsCancelAtOnce(t *testing.T) {
	t.Parallel()
	q := open(t)
	var ids []int64
	for n := range 300 {
		ids = append(ids, enqueue(t, q, NewJob{}))
		if n%10 == 0 {
			claimFrom(t, q, "emails", time.Minute)
		}
	}
	var results [2]Cancelled
	var operators sync.WaitGroup
	for n := range results {
		mine := slices.Clone(ids)
		if n == 1 {
			slices.Reverse(mine)
		}
		operators.Go(func() {
			var err error
			if results[n], err = q.Cancel(t.Context(), fmt.Sprint("operator ", n), mine...); err != nil {
				t.Error(err)
			}
		})
	}
	operators.Wait()
	a, b := results[0], results[1]
	if len(a.IDs)+len(b.IDs) != 270 || len(a.Asked) != 30 || len(b.Asked) != 30 || len(a.Skipped) != len(b.IDs) || len(b.Skipped) != len(a.IDs) {
		t.Errorf("%d and %d cancelled, %d and %d asked, %d and %d skipped", len(a.IDs), len(b.IDs), len(a.Asked), len(b.Asked), len(a.Skipped), len(b.Skipped))
	}
	for _, skip := range append(a.Skipped, b.Skipped...) {
		if skip.Reason != "already dead" {
			t.Errorf("skipped %v", skip)
		}
	}
	if n := count(t, q, "select count(*) from leasetop.jobs where status = 'dead' and jsonb_array_length(errors) = 1"); n != 270 {
		t.Errorf("%d of 270 were cancelled once", n)
	}
}

// A cancel that waits for one locked job keeps no beat off the others.
func TestCancelKeepsNoBeatOff(t *testing.T) {
	t.Parallel()
	q := open(t)
	first, locked, last := claimed(t, q, NewJob{}, time.Minute), claimed(t, q, NewJob{}, time.Minute), claimed(t, q, NewJob{}, time.Minute)
	pending := enqueue(t, q, NewJob{})
	tx := begin(t, q)
	ok(t, q.CompleteTx(t.Context(), tx, locked))
	ended := make(chan Cancelled, 1)
	go func() {
		done, err := q.Cancel(waiting(t.Context(), time.Minute), "ann", first.ID, locked.ID, last.ID, pending)
		if err != nil {
			t.Error(err)
		}
		ended <- done
	}()
	until(t, q, fmt.Sprintf("select count(*) from leasetop.jobs where id = %d and cancelled_by is not null", first.ID), 1) // the locked one is next
	for range 20 {
		beat := must[Beat](t)(q.Heartbeat(t.Context(), []Renewal{{Lease: first, For: time.Minute}, {Lease: last, For: time.Minute}}))
		if len(beat.Renewed) != 2 {
			t.Errorf("beat %+v", beat)
		}
	}
	if lost := must[[]Lease](t)(q.CompleteMany(t.Context(), []Lease{last})); len(lost) != 0 {
		t.Errorf("lost %v", lost)
	}
	ok(t, tx.Commit(t.Context()))
	// The last job completed before the cancel came to it, or after.
	if got := <-ended; slices.Contains(got.Asked, last.ID) {
		got.want(t, "then", []int64{pending}, []int64{first.ID, last.ID}, Skip{ID: locked.ID, Reason: "already completed"})
	} else {
		got.want(t, "then", []int64{pending}, []int64{first.ID}, Skip{ID: locked.ID, Reason: "already completed"}, Skip{ID: last.ID, Reason: "already completed"})
	}
}

// Who cancels is text that a person wrote, or nobody said. Either way the job is known
// to be cancelled.
func TestCancelTakesAnyName(t *testing.T) {
	t.Parallel()
	q := open(t)
	for by, want := range map[string]string{"": "somebody", "ann\x00\xff\x1b[2J": "ann\uFFFD\uFFFD\x1b[2J", `'); drop table "jobs"`: `'); drop table "jobs"`} {
		pending, lease := enqueue(t, q, NewJob{Delay: time.Hour}), claimed(t, q, NewJob{}, time.Minute)
		cancelled(t, q, by, pending, lease.ID).want(t, by, []int64{pending}, []int64{lease.ID})
		beat := must[Beat](t)(q.Heartbeat(t.Context(), []Renewal{{Lease: lease, For: time.Minute}}))
		if len(beat.Cancelled) != 1 || beat.Cancelled[0].By != want {
			t.Errorf("by %q: beat %+v", by, beat)
		}
		must[Status](t)(q.Retry(t.Context(), lease, "x", 0))
		for _, id := range []int64{pending, lease.ID} {
			if job := get(t, q, id); job.CancelledBy != want || job.LastError != "cancelled by "+want {
				t.Errorf("by %q: it is %+v", by, job)
			}
		}
	}
	if done, err := q.Cancel(t.Context(), "ann"); err != nil || done.IDs != nil || done.Asked != nil || done.Skipped != nil {
		t.Errorf("none: %+v, %v", done, err)
	}
}
