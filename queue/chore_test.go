package queue

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func takeChore(t testing.TB, q *Queue, name string, every time.Duration) bool {
	t.Helper()
	return must[bool](t)(q.TakeChore(t.Context(), name, every))
}

// Ten processes ask at once, again and again: each time the chore is due, one does it.
func TestOneOfTenTakesAChore(t *testing.T) {
	t.Parallel()
	q := openWith(t, 10)
	for range 20 {
		var taken atomic.Int64
		var callers sync.WaitGroup
		for range 10 {
			callers.Go(func() {
				mine, err := q.TakeChore(t.Context(), "retention", time.Hour)
				if err != nil {
					t.Error(err)
				}
				if mine {
					taken.Add(1)
				}
			})
		}
		callers.Wait()
		if n := taken.Load(); n != 1 {
			t.Errorf("%d of ten took the chore", n)
		}
		exec(t, q, "update leasetop.chores set due_at = now()")
	}
}

// Two ask at the same moment, and the one that waits for the other's commit has the
// earlier idea of now.
func TestChoreAskedForInEveryOrder(t *testing.T) {
	t.Parallel()
	q := open(t)
	sessions := twoSessions(t, q)
	for _, before := range []string{"nobody ever did it", "due"} {
		for _, order := range orders(3, 3) {
			name := before + order
			if before == "due" {
				takeChore(t, q, name, time.Hour)
				exec(t, q, "update leasetop.chores set due_at = now() - interval '1 second'")
			}
			var first, second int64
			steps := func(who string, taken *int64) []step {
				return []step{run(who+" begins", "begin"), rows(who+" asks", taken, func() (string, []any) {
					return q.Schema().Query("take_chore"), []any{name, 3600.0}
				}), run(who+" commits", "commit")}
			}
			story := interleave(t, q, sessions, order, steps("ann", &first), steps("bob", &second))
			if first+second != 1 {
				t.Errorf("%s: %s: taken %d times", before, story, first+second)
			}
		}
	}
}

// A chore comes round by the database's clock, each name for itself.
func TestChoresComeRound(t *testing.T) {
	t.Parallel()
	q, set := openAt(t)
	for _, c := range []struct {
		at    time.Duration
		name  string
		every time.Duration
		mine  bool
	}{
		{0, "a", time.Hour, true},
		{0, "a", time.Hour, false},
		{0, "b", time.Hour, true},
		{59 * time.Minute, "a", time.Hour, false},
		{61 * time.Minute, "a", time.Hour, true},
		{61 * time.Minute, "a", time.Hour, false},
		// Somebody now does it more often.
		{62 * time.Minute, "a", time.Minute, true},
		{62 * time.Minute, "a", time.Minute, false},
		{62 * time.Minute, "a", time.Hour, false},
		{64 * time.Minute, "a", time.Hour, true},
		// The clock went back: it is not put off until that time comes again.
		{-24 * time.Hour, "a", time.Hour, true},
		{-24 * time.Hour, "a", time.Hour, false},
		// Without rest, it is everybody's.
		{0, "c", 0, true},
		{0, "c", 0, true},
	} {
		set(c.at)
		if mine := takeChore(t, q, c.name, c.every); mine != c.mine {
			t.Errorf("at %v, %s every %v: mine %v, want %v", c.at, c.name, c.every, mine, c.mine)
		}
	}
}

func TestChoreErrorsNameTheChore(t *testing.T) {
	t.Parallel()
	q := open(t)
	if _, err := q.TakeChore(t.Context(), "a\x00b", time.Hour); err == nil || !strings.HasPrefix(err.Error(), `take chore "a\x00b": `) {
		t.Errorf("error %v", err)
	}
	exec(t, q, "drop table leasetop.chores")
	if _, err := q.TakeChore(t.Context(), "a", time.Hour); err == nil || !strings.Contains(err.Error(), "leasetop migrate up") {
		t.Errorf("error %v", err)
	}
}

// A chore that takes longer than its interval is still one process's: as long as that
// keeps it.
func TestKeptChoreIsNotTakenByAnother(t *testing.T) {
	t.Parallel()
	q, set := openAt(t)
	takeChore(t, q, "a", time.Hour)
	takeChore(t, q, "b", time.Hour)
	for at := 50 * time.Minute; at < 5*time.Hour; at += 50 * time.Minute {
		set(at)
		ok(t, q.KeepChore(t.Context(), "a", time.Hour))
		set(at + 45*time.Minute)
		if takeChore(t, q, "a", time.Hour) {
			t.Fatalf("%v on, another takes it", at)
		}
	}
	if !takeChore(t, q, "b", time.Hour) {
		t.Error("another chore was put off too")
	}
	set(6 * time.Hour)
	if !takeChore(t, q, "a", time.Hour) {
		t.Error("nobody keeps it any more, and nobody may take it")
	}
}
