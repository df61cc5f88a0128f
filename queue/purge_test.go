package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// aged puts rows of this age, in days, into what a purge deletes, in two queues.
func aged(t testing.TB, q *Queue, what PurgeWhat, days ...int) {
	t.Helper()
	for _, d := range days {
		switch what {
		case PurgeCompleted:
			exec(t, q, `insert into leasetop.jobs (queue, kind, status, updated_at) select queue, $1::text, 'completed', now() - make_interval(days => $1::text::int) from unnest('{emails,reports}'::text[]) queue`, fmt.Sprint(d))
		case PurgeArchive:
			exec(t, q, `insert into leasetop.jobs_archive (id, queue, payload, status, attempts, max_attempts, run_at, created_at, updated_at, kind, errors, archived_by, archived_at)
				select nextval('leasetop.jobs_id_seq'), queue, '{}', 'dead', 1, 1, now(), now(), now(), '', '[]', 'ann', now() - make_interval(days => $1::text::int) from unnest('{emails,reports}'::text[]) queue`, fmt.Sprint(d))
		case PurgeOnce:
			exec(t, q, "insert into leasetop.once select 'mail ' || $1::text, now() - make_interval(days => $1::text::int)", fmt.Sprint(d))
		}
	}
}

var purgeTables = map[PurgeWhat]string{PurgeCompleted: "leasetop.jobs where status = 'completed'", PurgeArchive: "leasetop.jobs_archive", PurgeOnce: "leasetop.once"}

const day = 24 * time.Hour

// A purge deletes what is old enough by the database's clock, of one queue or all, and
// nothing else.
func TestPurgeDeletesWhatIsOldEnough(t *testing.T) {
	t.Parallel()
	for what, table := range purgeTables {
		t.Run(string(what), func(t *testing.T) {
			t.Parallel()
			q, set := openAt(t)
			aged(t, q, what, 0, 1, 2, 3, 10, 400)
			for _, step := range []struct {
				now   time.Duration
				older time.Duration
				queue string
				want  []int64 // of what has a queue, and of what has none
			}{
				{0, 100 * 365 * day, "", []int64{0, 0}},
				{-3 * day, 399 * day, "", []int64{0, 0}}, // the database's clock, not ours
				{0, 399 * day, "", []int64{2, 1}},
				{0, 399 * day, "", []int64{0, 0}},
				{0, 3*day - time.Hour, "emails", []int64{2}},
				{0, 3*day - time.Hour, "emails", []int64{0}},
				{0, 3*day - time.Hour, "nobody's", []int64{0}},
				{0, 3*day - time.Hour, "", []int64{2, 2}},
				{5 * day, 6*day - time.Hour, "", []int64{4, 2}},
				{5 * day, 0, "", []int64{2, 1}},
			} {
				set(step.now)
				want := step.want[0]
				if what == PurgeOnce {
					if len(step.want) == 1 {
						continue
					}
					want = step.want[1]
				}
				p := Purge{What: what, OlderThan: step.older, Queue: step.queue}
				if got := must[Purged](t)(q.Purge(t.Context(), p, nil)).Deleted; got != want {
					t.Errorf("%+v at %v: %d deleted, want %d", p, step.now, got, want)
				}
			}
			if n := count(t, q, "select count(*) from "+table); n != 0 {
				t.Errorf("%d left", n)
			}
		})
	}
}

// Whatever is asked for, jobs that are not over are left.
func TestPurgeLeavesWhatIsNotOver(t *testing.T) {
	t.Parallel()
	q := open(t)
	for situation, enter := range situations {
		for n := range 3 {
			enter(t, q, NewJob{Queue: fmt.Sprint(situation, n)})
		}
	}
	exec(t, q, "update leasetop.jobs set updated_at = now() - interval '10 years', created_at = now() - interval '10 years'")
	before := count(t, q, "select count(*) from leasetop.jobs where status <> 'completed'")
	for what := range purgeTables {
		want := map[PurgeWhat]int64{PurgeCompleted: 3, PurgeArchive: 3}[what]
		if n := must[Purged](t)(q.Purge(t.Context(), Purge{What: what}, nil)).Deleted; n != want {
			t.Errorf("%s: %d deleted, want %d", what, n, want)
		}
	}
	if n := count(t, q, "select count(*) from leasetop.jobs"); n != before || before == 0 {
		t.Errorf("%d jobs of %d that are not over", n, before)
	}
}

// CASES "Silent loss": fifteen thousand dead letters, and everything that is over is
// purged at once. All of them are still there, and so are those that were discarded.
func TestSilentLoss(t *testing.T) {
	t.Parallel()
	q := open(t)
	const dead = 15000
	exec(t, q, `insert into leasetop.jobs (queue, status, updated_at)
		select 'emails', case n % 4 when 0 then 'failed' when 1 then 'dead' else 'completed' end, now() - interval '5 years' from generate_series(1, $1) n`, 2*dead)
	before := deadIDs(t, q, "")
	if n := must[Purged](t)(q.Purge(t.Context(), Purge{What: PurgeCompleted}, nil)).Deleted; n != dead || len(before) != dead {
		t.Errorf("%d of %d completed deleted, %d dead letters", n, dead, len(before))
	}
	if after := deadIDs(t, q, ""); !slices.Equal(after, before) {
		t.Errorf("%d dead letters of %d are left", len(after), len(before))
	}
	wantDone(t, "discard", must[Done](t)(q.Discard(t.Context(), "ann", "", before[:500]...)), before[:500])
	must[Purged](t)(q.Purge(t.Context(), Purge{What: PurgeCompleted}, nil))
	wantDone(t, "restore", must[Done](t)(q.Restore(t.Context(), "ann", before[:500]...)), before[:500])
	if after := deadIDs(t, q, ""); !slices.Equal(after, before) {
		t.Errorf("after a discard and a restore, %d dead letters of %d", len(after), len(before))
	}
}

// Fifty thousand go in many short transactions; progress tells of each what has been
// committed by then.
func TestPurgeOfManyTellsItsProgress(t *testing.T) {
	t.Parallel()
	q := open(t)
	const rows = 50000
	exec(t, q, "insert into leasetop.jobs (queue, status, updated_at) select 'emails', case when n % 5 = 0 then 'dead' else 'completed' end, now() - interval '1 day' from generate_series(1, $1) n", rows)
	var told []int64
	deleted := must[Purged](t)(q.Purge(t.Context(), Purge{What: PurgeCompleted, OlderThan: time.Hour}, func(n int64) {
		if len(told)%5 == 0 {
			if left := count(t, q, "select count(*) from leasetop.jobs where status = 'completed'"); left != rows/5*4-n {
				t.Errorf("told that %d are deleted, %d are left", n, left)
			}
		}
		told = append(told, n)
	})).Deleted
	if deleted != rows/5*4 || len(told) != rows/purgeBatch+1 || told[len(told)-1] != deleted || !slices.IsSorted(told) || told[0] != purgeBatch/5*4 {
		t.Errorf("%d deleted, told %v", deleted, told)
	}
	if n := count(t, q, "select count(*) from leasetop.jobs"); n != rows/5 {
		t.Errorf("%d jobs left", n)
	}
}

// Called off in the middle, a purge says what it has deleted, and the next goes on.
func TestPurgeCalledOff(t *testing.T) {
	t.Parallel()
	for what, table := range purgeTables {
		t.Run(string(what), func(t *testing.T) {
			t.Parallel()
			q := open(t)
			const rows = 3*purgeBatch + 500
			switch what {
			case PurgeCompleted:
				exec(t, q, "insert into leasetop.jobs (queue, status, updated_at) select 'emails', 'completed', now() - interval '1 day' from generate_series(1, $1) n", rows)
			case PurgeArchive:
				exec(t, q, "insert into leasetop.jobs_archive select n, 'emails', '{}', 'dead', 1, 1, now(), null, now(), now(), '', null, '[]', null, now() - interval '1 day', 'ann', '' from generate_series(-1000, $1 - 1001) n", rows)
			case PurgeOnce:
				exec(t, q, `insert into leasetop.once select chr(32 + n % 90) || U&'\00E9' || n, now() - interval '1 day' from generate_series(1, $1) n`, rows)
			}
			ctx, cancel := context.WithCancel(t.Context())
			some, err := q.Purge(ctx, Purge{What: what}, func(n int64) {
				if n == 2*purgeBatch {
					cancel()
				}
			})
			first := some.Deleted
			if !errors.Is(err, context.Canceled) || first != 2*purgeBatch || !strings.HasPrefix(err.Error(), "purge "+string(what)+": ") {
				t.Errorf("called off: %d deleted, %v", first, err)
			}
			if left := count(t, q, "select count(*) from "+table); left != rows-first {
				t.Errorf("%d left after %d of %d", left, first, rows)
			}
			if second := must[Purged](t)(q.Purge(t.Context(), Purge{What: what}, nil)).Deleted; second != rows-first {
				t.Errorf("resumed, it deleted %d of %d", second, rows-first)
			}
		})
	}
}

// What another transaction holds is left to the next purge, and not waited for.
func TestPurgeSkipsWhatIsLocked(t *testing.T) {
	t.Parallel()
	q := open(t)
	for what, table := range purgeTables {
		aged(t, q, what, 1, 2, 3)
		rows := count(t, q, "select count(*) from "+table)
		tx := begin(t, q)
		column := map[PurgeWhat]string{PurgeOnce: "key"}[what]
		if column == "" {
			column = "id"
		}
		where := " where "
		if what == PurgeCompleted {
			where = " and "
		}
		must[any](t)(tx.Exec(t.Context(), "select from "+table+where+column+" = (select min("+column+") from "+table+") for update"))
		if n := must[Purged](t)(q.Purge(t.Context(), Purge{What: what}, nil)).Deleted; n != rows-1 {
			t.Errorf("%s: %d of %d deleted beside a lock", what, n, rows)
		}
		ok(t, tx.Rollback(t.Context()))
		if n := must[Purged](t)(q.Purge(t.Context(), Purge{What: what}, nil)).Deleted; n != 1 {
			t.Errorf("%s: %d deleted, want the one that was locked", what, n)
		}
	}
}

func TestPurgeRefusesNonsense(t *testing.T) {
	t.Parallel()
	q := open(t)
	aged(t, q, PurgeCompleted, 1)
	for want, p := range map[string]Purge{
		`nothing is called ""`:                         {},
		`nothing is called "failed"`:                   {What: "failed"},
		`nothing is called "archive; drop table jobs"`: {What: "archive; drop table jobs"},
		"older than -1ns":                              {What: PurgeCompleted, OlderThan: -1},
		"keys of once":                                 {What: PurgeOnce, Queue: "emails"},
	} {
		n, err := q.Purge(t.Context(), p, func(int64) { t.Error("something was done") })
		if err == nil || !strings.HasPrefix(err.Error(), "purge: ") || !strings.Contains(err.Error(), want) || n.Deleted != 0 {
			t.Errorf("%+v, %v; want an error with %q", n, err, want)
		}
	}
	// The longest that can be asked for.
	if n := must[Purged](t)(q.Purge(t.Context(), Purge{What: PurgeCompleted, OlderThan: 1<<63 - 1}, nil)).Deleted; n != 0 {
		t.Errorf("%d deleted", n)
	}
	if n := must[Purged](t)(q.Purge(t.Context(), Purge{What: PurgeCompleted, Queue: "'; drop"}, nil)).Deleted; n != 0 {
		t.Errorf("%d deleted", n)
	}
}

// The keys of effects that were done are forgotten with age alone: a younger one still
// stands in the way of a second effect.
func TestPurgeOfOnceKeepsTheYoungKeys(t *testing.T) {
	t.Parallel()
	q := open(t)
	aged(t, q, PurgeOnce, 1, 100)
	must[Purged](t)(q.Purge(t.Context(), Purge{What: PurgeOnce, OlderThan: 30 * day}, nil))
	tx := begin(t, q)
	for key, first := range map[string]bool{"mail 1": false, "mail 100": true} {
		if got := must[bool](t)(q.Once(t.Context(), tx, key)); got != first {
			t.Errorf("%s: first %v", key, got)
		}
	}
}

// Of plans only those go that ended long ago, with what they know of their jobs, a batch at a time.
func TestPurgeOfPlansLeavesWhatIsNotOver(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := deadLetters(t, q, 2*purgeBatch+1)
	large := started(t, q, NewPlan{IDs: ids})
	exact := started(t, q, NewPlan{IDs: ids[:purgeBatch]})
	fresh := started(t, q, NewPlan{IDs: ids[:3]})
	paused := started(t, q, NewPlan{IDs: ids[:3]})
	exec(t, q, "update leasetop.redrive_plans set state = 'cancelled', ended_at = now() - interval '91 days' where id = any($1)", []int64{large.ID, exact.ID})
	exec(t, q, "update leasetop.redrive_plans set state = 'done', ended_at = now() - interval '89 days' where id = $1", fresh.ID)
	exec(t, q, "update leasetop.redrive_plans set state = 'paused', created_at = now() - interval '91 days', changed_at = now() - interval '91 days' where id = $1", paused.ID)
	batches := 0
	n := must[Purged](t)(q.Purge(t.Context(), Purge{What: PurgePlans, OlderThan: 90 * 24 * time.Hour}, func(int64) { batches++ })).Deleted
	left := must[[]Plan](t)(q.Plans(t.Context(), 0, 10))
	if n != 2 || len(left) != 2 || left[0].ID != paused.ID || left[1].ID != fresh.ID {
		t.Errorf("%d are gone, and left are %+v", n, left)
	}
	if rows := count(t, q, "select count(*) from leasetop.redrive_jobs"); rows != 6 {
		t.Errorf("%d rows of jobs are left", rows)
	}
	if jobs := count(t, q, "select count(*) from leasetop.jobs"); jobs != int64(len(ids)) || batches < 6 {
		t.Errorf("%d jobs are left, after %d batches", jobs, batches)
	}
}
