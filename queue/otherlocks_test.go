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

// otherLocks are locks on something else than one job's row.
var otherLocks = []struct{ name, sql, names string }{
	{"jobs, as CREATE INDEX has it", "lock table leasetop.jobs in share mode", "the table jobs is locked by pid %d (leasetop, postgres, "},
	{"jobs", "lock table leasetop.jobs in share row exclusive mode", "the table jobs is locked by pid %d (leasetop, postgres, "},
	{"the archive", "lock table leasetop.jobs_archive in exclusive mode", "the table jobs_archive is locked by pid %d (leasetop, postgres, "},
	{"the operator log", "lock table leasetop.operator_log in exclusive mode", "the table operator_log is locked by pid %d (leasetop, postgres, "},
	{"the queues", "lock table leasetop.queues in exclusive mode", "the table queues is locked by pid %d (leasetop, postgres, "},
	{"a queue", "select from leasetop.queues for update", "a row of the table queues is locked by pid %d (leasetop, postgres, "},
	{"the plans", "lock table leasetop.redrive_plans in exclusive mode", "the table redrive_plans is locked by pid %d (leasetop, postgres, "},
	{"the rows of the plans", "update leasetop.redrive_plans set reason = reason", "locked by pid %d (leasetop, postgres, "},
	{"the jobs of the plans", "lock table leasetop.redrive_jobs in exclusive mode", "the table redrive_jobs is locked by pid %d (leasetop, postgres, "},
	{"the payloads that were replaced", "lock table leasetop.originals in exclusive mode", "the table originals is locked by pid %d (leasetop, postgres, "},
}

// lockActs are acts that are about no jobs by themselves, besides those of hinderedActs.
var lockActs = []hinderedAct{
	{name: "pause", do: errorOnly(func(ctx context.Context, q *Queue) error { _, err := q.Pause(ctx, ann, "", "q1"); return err })},
	{name: "resume", do: errorOnly(func(ctx context.Context, q *Queue) error { _, err := q.Resume(ctx, "q2"); return err })},
	{name: "pause of a plan", ready: startedOne, do: ofPlan((*Queue).PausePlan)},
	{name: "cancel of a plan", ready: startedOne, do: ofPlan((*Queue).CancelPlan)},
	{name: "order to undo a plan", ready: startedOne, do: ofPlan((*Queue).UndoPlan)},
	{name: "purge of plans", do: errorOnly(func(ctx context.Context, q *Queue) error {
		_, err := q.Purge(ctx, Purge{What: PurgePlans}, nil)
		return err
	})},
	{name: "purge of keys of effects", do: errorOnly(func(ctx context.Context, q *Queue) error {
		_, err := q.Purge(ctx, Purge{What: PurgeOnce}, nil)
		return err
	})},
}

func errorOnly(do func(context.Context, *Queue) error) func(context.Context, *Queue, []int64) ([]int64, []Skip, error) {
	return func(ctx context.Context, q *Queue, ids []int64) ([]int64, []Skip, error) { return ids, nil, do(ctx, q) }
}

func startedOne(t *testing.T, q *Queue, ids []int64) { started(t, q, NewPlan{IDs: ids}) }

func ofPlan(do func(*Queue, context.Context, string, string, int64) (Plan, error)) func(context.Context, *Queue, []int64) ([]int64, []Skip, error) {
	return errorOnly(func(ctx context.Context, q *Queue) error {
		plans, err := q.Plans(ctx, 0, 1)
		if err != nil {
			return err
		}
		_, err = do(q, ctx, ann, "", plans[0].ID)
		return err
	})
}

// Whatever somebody has locked, each act ends soon: it is done, or the holder is named.
func TestNoLockHoldsUpAnActForLong(t *testing.T) {
	t.Parallel()
	for _, act := range slices.Concat(hinderedActs, lockActs) {
		t.Run(act.name, func(t *testing.T) {
			t.Parallel()
			q := open(t)
			if act.job == nil {
				act.job = dead
			}
			for _, lock := range otherLocks {
				exec(t, q, "truncate leasetop.jobs, leasetop.jobs_archive, leasetop.queues")
				must[[]string](t)(q.Pause(t.Context(), ann, "", "q1", "q2"))
				ids := []int64{act.job(t, q), act.job(t, q)}
				if act.ready != nil {
					act.ready(t, q, ids)
				}
				tx := begin(t, q)
				must[any](t)(tx.Exec(t.Context(), lock.sql))
				want := fmt.Sprintf(lock.names, tx.Conn().PgConn().PID())
				ctx, cancel := context.WithTimeout(hurried(t.Context()), 20*time.Second)
				var done []int64
				var left []Skip
				err := q.Logged(ctx, Act{By: ann, What: act.name, IDs: ids}, func(ctx context.Context) (_, _ int, err error) {
					done, left, err = act.do(ctx, q, ids)
					return len(done), len(left), err
				})
				switch {
				case err != nil && (!errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "not known")):
					t.Errorf("%s: %v\nwant %q", lock.name, err, want)
				case err == nil && lock.name == "the operator log":
					t.Errorf("%s: it was done", lock.name)
				case err == nil && len(done)+len(left) != len(ids):
					t.Errorf("%s: done %v, left %+v of %v", lock.name, done, left, ids)
				}
				for _, s := range left {
					if !strings.Contains(s.Reason, want) {
						t.Errorf("%s: job %d is left: %q, want %q", lock.name, s.ID, s.Reason, want)
					}
				}
				cancel()
				ok(t, tx.Rollback(t.Context()))
			}
		})
	}
}

// A key that an open transaction has taken holds up the redrive of its job alone, which
// names that transaction.
func TestKeyOfAnOpenTransactionIsNamed(t *testing.T) {
	t.Parallel()
	for _, act := range hinderedActs {
		if !slices.Contains([]string{"redrive with keys", "edit and redrive", "plan"}, act.name) {
			continue
		}
		q := open(t)
		id, free := buried(t, q, NewJob{IdempotencyKey: act.name}), dead(t, q)
		tx := begin(t, q)
		must[any](t)(q.EnqueueTx(t.Context(), tx, NewJob{Queue: get(t, q, id).Queue, IdempotencyKey: act.name}))
		want := fmt.Sprintf("a row or a key is locked by pid %d (leasetop, postgres, ", tx.Conn().PgConn().PID())
		done, left, err := act.do(hurried(t.Context()), q, []int64{id, free})
		if err != nil || !slices.Equal(done, []int64{free}) || len(left) != 1 || !strings.Contains(left[0].Reason, want) {
			t.Errorf("%s: done %v, left %+v, %v; want %q", act.name, done, left, err, want)
		}
		ok(t, tx.Rollback(t.Context()))
	}
}

// While an enqueue waits for who has its key, that can be asked.
func TestBlockedNamesWhoHasAKey(t *testing.T) {
	t.Parallel()
	q := open(t)
	tx := begin(t, q)
	must[any](t)(q.EnqueueTx(t.Context(), tx, NewJob{Queue: "q", IdempotencyKey: "k"}))
	if who := q.Blocked(t.Context()); who != "" {
		t.Errorf("nothing waits: %q", who)
	}
	added := make(chan error, 1)
	go func() {
		_, err := q.Enqueue(t.Context(), NewJob{Queue: "q", IdempotencyKey: "k"})
		added <- err
	}()
	want := fmt.Sprintf("a row or a key is locked by pid %d (leasetop, postgres, ", tx.Conn().PgConn().PID())
	who := ""
	for end := time.Now().Add(time.Minute); who == "" && time.Now().Before(end); {
		who = q.Blocked(t.Context())
	}
	if !strings.HasPrefix(who, want) {
		t.Errorf("%q, want %q", who, want)
	}
	ok(t, tx.Commit(t.Context()))
	ok(t, <-added)
}
