package queue

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// CASES "Live twin": alone, among a hundred, twice in one set.
func TestPlanSkipsAJobWhoseKeyIsInUse(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 99} {
		t.Run(fmt.Sprint("among ", n), func(t *testing.T) {
			t.Parallel()
			q := open(t)
			others := deadLetters(t, q, n)
			twin := buried(t, q, NewJob{IdempotencyKey: "K"})
			live := enqueue(t, q, NewJob{IdempotencyKey: "K"})
			p := executed(t, q, started(t, q, NewPlan{IDs: append(others, twin)}).ID)
			if p.State != PlanDone || p.Skipped != 1 || p.Redriven != int64(n) {
				t.Errorf("%+v", p)
			}
			skipped := must[[]PlanJob](t)(q.PlanJobs(t.Context(), p.ID, 0, 10, "skipped"))
			if len(skipped) != 1 || skipped[0].ID != twin || skipped[0].Reason != fmt.Sprintf("idempotency key in use by #%d", live) || !skipped[0].Status.IsDeadLetter() {
				t.Errorf("%+v", skipped)
			}
		})
	}
	t.Run("twice in one set", func(t *testing.T) {
		t.Parallel()
		q := open(t)
		first, second := buried(t, q, NewJob{IdempotencyKey: "K"}), buried(t, q, NewJob{IdempotencyKey: "K"})
		p := executed(t, q, started(t, q, NewPlan{IDs: []int64{second, first}}).ID)
		jobs := must[[]PlanJob](t)(q.PlanJobs(t.Context(), p.ID, 0, 10))
		if jobs[0].State != "redriven" || jobs[1].Reason != fmt.Sprintf("idempotency key in use by #%d", second) {
			t.Errorf("%+v", jobs)
		}
	})
}

// A key that somebody is just about to take makes the whole batch wait, and no longer than a moment.
func TestPlanDoesNotWaitForAKeyWithOthers(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := deadLetters(t, q, 50)
	twin := buried(t, q, NewJob{IdempotencyKey: "K"})
	ids = append(ids, twin)
	ids = append(ids, deadLetters(t, q, 50)...)
	tx := begin(t, q)
	live := must[[]Enqueued](t)(q.EnqueueTx(t.Context(), tx, NewJob{Queue: "emails", IdempotencyKey: "K"}))[0].ID
	p := started(t, q, NewPlan{IDs: ids})
	var commit sync.Once
	p = must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, func(p Plan) {
		if p.Redriven == 50 { // all before it are back, and it holds up the rest
			commit.Do(func() { ok(t, tx.Commit(t.Context())) })
		}
	}))
	skipped := must[[]PlanJob](t)(q.PlanJobs(t.Context(), p.ID, 0, 10, "skipped"))
	if p.Redriven != 100 || len(skipped) != 1 || skipped[0].Reason != fmt.Sprintf("idempotency key in use by #%d", live) {
		t.Errorf("%+v %+v", p, skipped)
	}
}

func TestPlanPassesOverARowThatStaysLocked(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := deadLetters(t, q, 5)
	tx := begin(t, q)
	_, err := tx.Exec(t.Context(), "select from leasetop.jobs where id = $1 for update", ids[2])
	ok(t, err)
	p := executed(t, q, started(t, q, NewPlan{IDs: ids}).ID)
	skipped := must[[]PlanJob](t)(q.PlanJobs(t.Context(), p.ID, 0, 10, "skipped"))
	if p.Redriven != 4 || len(skipped) != 1 || skipped[0].ID != ids[2] || !strings.HasPrefix(skipped[0].Reason, fmt.Sprintf("locked by pid %d (leasetop, postgres, ", tx.Conn().PgConn().PID())) {
		t.Errorf("%+v %+v", p, skipped)
	}
}

func TestPlanPassesOverAJobThatTheTableRefuses(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := deadLetters(t, q, 100)
	exec(t, q, "alter table leasetop.jobs add constraint theirs check (status <> 'pending' or payload ->> 'n' <> '40')")
	p := executed(t, q, started(t, q, NewPlan{IDs: ids}).ID)
	skipped := must[[]PlanJob](t)(q.PlanJobs(t.Context(), p.ID, 0, 10, "skipped"))
	if p.Redriven != 99 || len(skipped) != 1 || skipped[0].ID != ids[39] || !strings.Contains(skipped[0].Reason, "theirs") {
		t.Errorf("%+v %+v", p, skipped)
	}
}

func TestPlanSkipsWhatIsNoDeadLetterAnyMore(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := deadLetters(t, q, 6)
	p := started(t, q, NewPlan{IDs: append(ids, 4711)})
	must[Done](t)(q.Redrive(t.Context(), bob, ids[0], ids[1], ids[2]))
	ok(t, q.Complete(t.Context(), claim(t, q, time.Minute).Lease()))
	claim(t, q, time.Minute)
	must[Done](t)(q.Discard(t.Context(), bob, "no use", ids[3]))
	exec(t, q, "delete from leasetop.jobs where id = $1", ids[4])
	p = executed(t, q, p.ID)
	if p.Redriven != 1 || p.Skipped != 6 {
		t.Errorf("%+v", p)
	}
	var got []string
	for _, j := range must[[]PlanJob](t)(q.PlanJobs(t.Context(), p.ID, 0, 10)) {
		got = append(got, j.Reason)
	}
	want := []string{"not a dead letter: completed", "not a dead letter: processing", "not a dead letter: pending", "already discarded", "no such job", "", "no such job"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Many locked jobs are waited for as long as one: all in all, not each.
func TestPlanWaitsForLockedJobsAllInAll(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := deadLetters(t, q, 20)
	p := started(t, q, NewPlan{IDs: ids})
	tx := must[pgx.Tx](t)(q.Pool().Begin(t.Context()))
	defer tx.Rollback(t.Context())
	_, err := tx.Exec(t.Context(), "select from leasetop.jobs where id = any($1) for update", ids[:10])
	ok(t, err)
	e := newExecution(q, p.ID, nil)
	e.most, e.size = 1, 1
	steps := 0
	for over := false; !over; steps++ {
		_, over, err = e.step(t.Context())
		ok(t, err)
	}
	e.release(t.Context())
	p = must[Plan](t)(q.Plan(t.Context(), p.ID))
	if p.State != PlanDone || p.Skipped != 10 || p.Redriven != 10 {
		t.Errorf("%+v", p)
	}
	// Each try waits for the patience with one lock, and so there are so many of them, and some for each job.
	if most := int(planStuck/(50*time.Millisecond)) + 3*20; steps > most {
		t.Errorf("it took %d steps, more than %d", steps, most)
	}
}

// A job that was locked at its turn is redriven at the end, when it is free by then.
func TestPlanComesBackToLockedJobs(t *testing.T) {
	t.Parallel()
	q := open(t)
	keepLedger(t, q)
	ids := deadLetters(t, q, 40)
	tx := begin(t, q)
	_, err := tx.Exec(t.Context(), "select from leasetop.jobs where id = any($1) for update", ids[3:8])
	ok(t, err)
	p := started(t, q, NewPlan{IDs: ids})
	p = must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, func(p Plan) {
		if p.Redriven == 35 {
			_ = tx.Rollback(t.Context()) // once
		}
	}))
	if entries, jobs := noted(t, q, "redriven", ids); p.State != PlanDone || p.Redriven != 40 || p.Skipped != 0 || entries != 40 || jobs != 40 {
		t.Errorf("%d redrives of %d jobs: %+v", entries, jobs, p)
	}
}
