package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// CASES "Unwritable failure": a handler's error may hold what PostgreSQL cannot
// store. The outcome must be written all the same, or the job would be stuck.
func TestUnwritableFailure(t *testing.T) {
	t.Parallel()
	q := open(t)
	for name, text := range map[string]string{
		"NUL":                 "boom\x00tail",
		"not UTF-8":           "boom\xff\xfetail",
		"lone surrogate":      "boom\xed\xa0\x80tail",
		"cut rune":            "boom\xf0\x9f\x98tail",
		"overlong NUL":        "boom\xc0\x80tail",
		"beyond Unicode":      "boom\xf4\x90\x80\x80tail",
		"only NULs":           strings.Repeat("\x00", 3*ErrorTextLimit),
		"limit inside a rune": strings.Repeat("x", ErrorTextLimit-2) + "😀tail",
		"limit inside, wide":  strings.Repeat("😀", ErrorTextLimit),
		"history limit":       strings.Repeat("x", 1999) + "😀tail",
		"escapes":             "\x1b]52;c;aGk=\x07 \\u0000 \\x00 \u202e {\"a\":1}",
		"nothing":             "",
	} {
		t.Run(name, func(t *testing.T) {
			job := NewJob{Queue: name, MaxAttempts: 2}
			id := enqueue(t, q, job)
			for _, want := range []Status{Pending, Failed} {
				status, err := q.Retry(t.Context(), claimFrom(t, q, name, time.Minute).Lease(), text, 0)
				if err != nil || status != want {
					t.Fatalf("retry: %s, %v; want %s", status, err, want)
				}
			}
			got := get(t, q, id)
			if got.Status != Failed || got.Attempts != 2 || len(got.Errors) != 2 {
				t.Errorf("%s after %d attempts, history %+v", got.Status, got.Attempts, got.Errors)
			}
			if !utf8.ValidString(got.LastError) || len(got.LastError) > ErrorTextLimit+40 {
				t.Errorf("error text of %d bytes, valid: %v", len(got.LastError), utf8.ValidString(got.LastError))
			}
			if unwritable := strings.ToValidUTF8(text, "") != text || strings.Contains(text, "\x00"); unwritable && !strings.Contains(got.LastError, "\uFFFD") {
				t.Errorf("nothing shows what was replaced in %q", got.LastError)
			}
			if strings.HasPrefix(text, "boom") && (!strings.HasPrefix(got.LastError, "boom") || !strings.HasSuffix(got.LastError, "tail")) {
				t.Errorf("the text around is lost: %q", got.LastError)
			}
			if len(text) > ErrorTextLimit && !strings.HasSuffix(got.LastError, " bytes more)") {
				t.Errorf("nothing shows that the text was cut: %q", got.LastError[len(got.LastError)-40:])
			}

			// Burying and redriving write text too.
			must[Done](t)(q.Redrive(t.Context(), text, id))
			ok(t, q.Bury(t.Context(), claimFrom(t, q, name, time.Minute).Lease(), text))
			if got := get(t, q, id); got.Status != Dead || len(got.Errors) != 4 {
				t.Errorf("%s, history %+v", got.Status, got.Errors)
			}
		})
	}
}

// CASES "Late finisher": a worker stopped past its lease, and another took over.
// Whatever the first then says changes nothing, and it is told.
func TestLateFinisher(t *testing.T) {
	t.Parallel()
	q := open(t)
	says := map[string]func(Lease) error{
		"complete": func(l Lease) error { return q.Complete(t.Context(), l) },
		"retry":    func(l Lease) error { _, err := q.Retry(t.Context(), l, "late", 0); return err },
		"bury":     func(l Lease) error { return q.Bury(t.Context(), l, "late") },
		"release":  func(l Lease) error { return errorOf(q.Release(t.Context(), l)) },
		"completeTx with its effect": func(l Lease) error {
			return pgx.BeginFunc(t.Context(), q.Pool(), func(tx pgx.Tx) error {
				if _, err := q.Once(t.Context(), tx, fmt.Sprintf("effect of %d", l.ID)); err != nil {
					return err
				}
				return q.CompleteTx(t.Context(), tx, l)
			})
		},
	}
	for name, say := range says {
		t.Run(name, func(t *testing.T) {
			late := claimed(t, q, NewJob{Queue: name}, time.Minute)
			expire(t, q, late.ID)
			must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10))

			between := rowOf(t, q, late.ID)
			if err := say(late); !errors.Is(err, ErrLeaseLost) {
				t.Errorf("after the reclaim: %v, want ErrLeaseLost", err)
			}
			if got := rowOf(t, q, late.ID); got != between {
				t.Errorf("the reclaimed row changed:\n%s\n%s", between, got)
			}

			second := claimFrom(t, q, name, time.Minute)
			claimedAgain := rowOf(t, q, late.ID)
			if err := say(late); !errors.Is(err, ErrLeaseLost) {
				t.Errorf("after the second claim: %v, want ErrLeaseLost", err)
			}
			if got := rowOf(t, q, late.ID); got != claimedAgain {
				t.Errorf("the second claim's row changed:\n%s\n%s", claimedAgain, got)
			}
			if n := count(t, q, "select count(*) from leasetop.once"); n != 0 {
				t.Errorf("%d effects of a late finisher", n)
			}
			if second.Attempts != 2 {
				t.Errorf("the second claim is attempt %d", second.Attempts)
			}
			ok(t, q.Complete(t.Context(), second.Lease()))
			if job := get(t, q, late.ID); job.Status != Completed || job.Attempts != 2 || len(job.Errors) != 1 || job.Errors[0].Outcome != "lost" {
				t.Errorf("%s after %d attempts, history %+v", job.Status, job.Attempts, job.Errors)
			}
		})
	}
}

// Nobody replaced the worker: its lease ran out, but the work is done and may count.
func TestOwnerNobodyReplacedMayFinishLate(t *testing.T) {
	t.Parallel()
	q := open(t)
	lease := claimed(t, q, NewJob{}, time.Minute)
	expire(t, q, lease.ID)
	ok(t, q.Complete(t.Context(), lease))
	if taken := must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10)); len(taken) != 0 {
		t.Errorf("reclaimed %+v", taken)
	}
}

// completers complete many claims, and return those that were gone.
func completers(t *testing.T, q *Queue) map[string]func(...Lease) []Lease {
	return map[string]func(...Lease) []Lease{
		"CompleteMany": func(leases ...Lease) []Lease { return must[[]Lease](t)(q.CompleteMany(t.Context(), leases)) },
		"CompleteUnlocked": func(leases ...Lease) []Lease {
			locked, lost, err := q.CompleteUnlocked(t.Context(), leases)
			if err != nil || len(locked) > 0 {
				t.Errorf("locked %v, %v", locked, err)
			}
			return lost
		},
	}
}

// Outcomes of all workers of a process go out together: a zombie's beside that of
// the claim that replaced it.
func TestCompletingManyKnowsTwoClaimsOfOneJobApart(t *testing.T) {
	t.Parallel()
	q := open(t)
	for name, complete := range completers(t, q) {
		stale := claimed(t, q, NewJob{}, time.Minute)
		expire(t, q, stale.ID)
		must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10))
		fresh := claim(t, q, time.Minute).Lease()
		if lost := complete(stale, fresh); len(lost) != 1 || lost[0] != stale {
			t.Fatalf("%s: lost %v, want only %v", name, lost, stale)
		}
	}
}

func TestCompletingManyTellsTheLostFromTheDone(t *testing.T) {
	t.Parallel()
	q := open(t)
	for name, complete := range completers(t, q) {
		exec(t, q, "delete from leasetop.jobs")
		var leases []Lease
		for range 10 {
			leases = append(leases, claimed(t, q, NewJob{}, time.Minute))
		}
		ok(t, q.Bury(t.Context(), leases[3], "poison"))
		exec(t, q, "delete from leasetop.jobs where id = $1", leases[7].ID)
		if lost := complete(leases...); len(lost) != 2 || lost[0] != leases[3] || lost[1] != leases[7] {
			t.Errorf("%s: lost %v", name, lost)
		}
		if n := count(t, q, "select count(*) from leasetop.jobs where status = 'completed'"); n != 8 {
			t.Errorf("%s: %d completed, want 8", name, n)
		}
		if lost := complete(); lost != nil {
			t.Errorf("%s: none: %v", name, lost)
		}
	}
}

// One locked row holds up none of the others. A foreign key's lock, which others may
// share, does not even hold up its own.
func TestCompleteUnlockedPassesOverLockedRows(t *testing.T) {
	t.Parallel()
	q := open(t)
	for lock, holds := range map[string]bool{"update": true, "no key update": true, "share": true, "key share": false} {
		exec(t, q, "delete from leasetop.jobs")
		first, mine, others, last := claimed(t, q, NewJob{}, time.Minute), claimed(t, q, NewJob{}, time.Minute), claimed(t, q, NewJob{}, time.Minute), claimed(t, q, NewJob{}, time.Minute)
		exec(t, q, "update leasetop.jobs set locked_by = 'somebody else' where id = $1", others.ID)
		tx := begin(t, q)
		_, err := tx.Exec(t.Context(), "select from leasetop.jobs where id = any ($1) for "+lock, []int64{mine.ID, others.ID})
		ok(t, err)
		locked, lost, err := q.CompleteUnlocked(t.Context(), []Lease{first, mine, others, last})
		ok(t, err)
		if len(lost) != 1 || lost[0] != others || (len(locked) == 1 && locked[0] == mine) != holds {
			t.Errorf("for %s: locked %v, lost %v", lock, locked, lost)
		}
		for _, l := range []Lease{first, last} {
			if job := get(t, q, l.ID); job.Status != Completed {
				t.Errorf("for %s: job %d is %s", lock, job.ID, job.Status)
			}
		}
		ok(t, tx.Rollback(t.Context()))
		if holds {
			ok(t, q.Complete(t.Context(), mine))
		}
	}
}

func TestCompletionAndEffectAreOneCommit(t *testing.T) {
	t.Parallel()
	q := open(t)
	lease := claimed(t, q, NewJob{}, time.Minute)
	tx := begin(t, q)
	if first := must[bool](t)(q.Once(t.Context(), tx, "mail 7")); !first {
		t.Error("the first time is not the first")
	}
	ok(t, q.CompleteTx(t.Context(), tx, lease))
	ok(t, tx.Rollback(t.Context()))
	if status := get(t, q, lease.ID).Status; status != Processing {
		t.Errorf("rolled back, the job is %s", status)
	}

	tx = begin(t, q)
	if first := must[bool](t)(q.Once(t.Context(), tx, "mail 7")); !first {
		t.Error("an effect rolled back counts as done")
	}
	if first := must[bool](t)(q.Once(t.Context(), tx, "mail 7")); first {
		t.Error("the second time is the first again")
	}
	ok(t, q.CompleteTx(t.Context(), tx, lease))
	ok(t, tx.Commit(t.Context()))
	if status := get(t, q, lease.ID).Status; status != Completed {
		t.Errorf("committed, the job is %s", status)
	}
}

func TestRetryWaitsByTheDatabaseClock(t *testing.T) {
	t.Parallel()
	q := open(t)
	for delay, want := range map[time.Duration]time.Duration{
		0: 0, time.Minute: time.Minute, -time.Hour: 0, 90 * 24 * time.Hour: 90 * 24 * time.Hour, 1<<63 - 1: (1<<63 - 1) / 1000 * 1000,
	} {
		lease := claimed(t, q, NewJob{}, time.Minute)
		must[Status](t)(q.Retry(t.Context(), lease, "timeout", delay))
		job := get(t, q, lease.ID)
		// A float64 of seconds is exact to a few microseconds over centuries.
		if got := job.RunAt.Sub(job.UpdatedAt); (got - want).Abs() > 10*time.Microsecond {
			t.Errorf("after a delay of %v it runs %v after the error, want %v", delay, got, want)
		}
		exec(t, q, "delete from leasetop.jobs")
	}
}

func TestReleaseGivesTheAttemptAndThePlaceBack(t *testing.T) {
	t.Parallel()
	q := open(t)
	first, second := enqueue(t, q, NewJob{}), enqueue(t, q, NewJob{})
	before := get(t, q, first)
	take := func() []Job {
		return must[[]Job](t)(q.Claim(t.Context(), ClaimRequest{Queue: "emails", Owner: owner(), Lease: time.Minute, Limit: 1}))
	}
	released, later := take(), take()
	if len(released) != 1 || released[0].ID != first || len(later) != 1 || later[0].ID != second {
		t.Fatalf("claimed %v, then %v", released, later)
	}
	must[Status](t)(q.Release(t.Context(), released[0].Lease()))
	after := get(t, q, first)
	if after.Attempts != 0 || !after.RunAt.Equal(before.RunAt.Time) || len(after.Errors) != 0 {
		t.Errorf("released: attempts %d, due %v (was %v), history %v", after.Attempts, after.RunAt, before.RunAt, after.Errors)
	}
	if again := take(); len(again) != 1 || again[0].ID != first {
		t.Errorf("claimed %v, want the released job %d at once", again, first)
	}
}

func TestSnoozeGivesTheAttemptBackUntilLater(t *testing.T) {
	t.Parallel()
	q := open(t)
	lease := claimed(t, q, NewJob{MaxAttempts: 1}, time.Minute)
	must[Status](t)(q.Snooze(t.Context(), lease, time.Hour))
	job := get(t, q, lease.ID)
	if job.Status != Pending || job.Attempts != 0 || job.RunAt.Sub(job.UpdatedAt) != time.Hour {
		t.Errorf("%s, attempts %d, due in %v", job.Status, job.Attempts, job.RunAt.Sub(job.UpdatedAt))
	}
}

func TestHistorySaysHowEachClaimEnded(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := enqueue(t, q, NewJob{MaxAttempts: 3})
	retried := claim(t, q, time.Minute).Lease()
	must[Status](t)(q.Retry(t.Context(), retried, "503", 0))
	lost := claim(t, q, time.Minute).Lease()
	expire(t, q, id)
	must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10))
	failed := claim(t, q, time.Minute).Lease()
	must[Status](t)(q.Retry(t.Context(), failed, "503 again", 0))
	must[Done](t)(q.Redrive(t.Context(), "ann", id))
	buried := claim(t, q, time.Minute).Lease()
	ok(t, q.Bury(t.Context(), buried, "bad address"))

	job := get(t, q, id)
	want := []Attempt{
		{Attempt: 1, Worker: retried.Token, Outcome: "retry", Error: "503"},
		{Attempt: 2, Worker: lost.Token, Outcome: "lost", Error: "worker lost once: the lease ran out without a heartbeat"},
		{Attempt: 3, Worker: failed.Token, Outcome: "failed", Error: "503 again"},
		{Attempt: 3, Worker: "ann", Outcome: "redriven"},
		{Attempt: 1, Worker: buried.Token, Outcome: "buried", Error: "bad address"},
	}
	if len(job.Errors) != len(want) {
		t.Fatalf("history %+v", job.Errors)
	}
	for i, got := range job.Errors {
		if got.At.IsZero() || i > 0 && got.At.Before(job.Errors[i-1].At) {
			t.Errorf("entry %d at %v", i, got.At)
		}
		got.At = time.Time{}
		if got != want[i] {
			t.Errorf("entry %d is %+v, want %+v", i, got, want[i])
		}
	}
}

func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := enqueue(t, q, NewJob{MaxAttempts: 100})
	// A foreign writer kept more than our bound.
	exec(t, q, "update leasetop.jobs set errors = (select jsonb_agg(n) from generate_series(1, 50) n) where id = $1", id)
	for range 25 {
		must[Status](t)(q.Retry(t.Context(), claim(t, q, time.Minute).Lease(), strings.Repeat("x", 5000), 0))
	}
	job := get(t, q, id)
	if len(job.Errors) != 20 || job.Errors[0].Attempt != 6 || job.Errors[19].Attempt != 25 {
		t.Errorf("%d entries from attempt %d to %d", len(job.Errors), job.Errors[0].Attempt, job.Errors[len(job.Errors)-1].Attempt)
	}
	if n := len(job.Errors[19].Error); n != 2000 {
		t.Errorf("an entry of %d characters", n)
	}
}

// Nothing is written while the row is locked, the claim stands, and the connection is
// free at once, also for others' outcomes.
func TestHastyOutcomeOfALockedRowIsToldAndMayBeTriedAgain(t *testing.T) {
	t.Parallel()
	q := open(t)
	for name, end := range map[string]func(context.Context, Lease) error{
		"retry":   func(ctx context.Context, l Lease) error { _, err := q.Retry(ctx, l, "boom", 0); return err },
		"bury":    func(ctx context.Context, l Lease) error { return q.Bury(ctx, l, "boom") },
		"release": func(ctx context.Context, l Lease) error { _, err := q.Release(ctx, l); return err },
		"snooze":  func(ctx context.Context, l Lease) error { _, err := q.Snooze(ctx, l, time.Hour); return err },
	} {
		lease := claimed(t, q, NewJob{Queue: name}, time.Minute)
		tx := must[pgx.Tx](t)(q.Pool().Begin(t.Context()))
		must[pgconn.CommandTag](t)(tx.Exec(t.Context(), "UPDATE leasetop.jobs SET payload = payload WHERE id = $1", lease.ID))
		if err := end(Hasty(t.Context()), lease); !errors.Is(err, ErrLocked) {
			t.Errorf("%s of a locked row: %v, want ErrLocked", name, err)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		if job := get(t, q, lease.ID); job.Status != Processing || job.Attempts != 1 {
			t.Errorf("after the %s it is %s, attempts %d", name, job.Status, job.Attempts)
		}
		if err := end(Hasty(t.Context()), lease); err != nil {
			t.Errorf("%s of the row unlocked: %v", name, err)
		}
		if err := end(Hasty(t.Context()), lease); !errors.Is(err, ErrLeaseLost) {
			t.Errorf("%s of a claim that has ended: %v, want ErrLeaseLost", name, err)
		}
	}
}
