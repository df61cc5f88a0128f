package queue

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Ways into each status: they end with the lease under which the job got there,
// or that somebody lost.
var situations = map[string]func(*testing.T, *Queue, NewJob) Lease{
	"pending": func(t *testing.T, q *Queue, job NewJob) Lease {
		lease := claimed(t, q, job, time.Minute)
		must[Status](t)(q.Retry(t.Context(), lease, "not yet", 0))
		return lease
	},
	"scheduled": func(t *testing.T, q *Queue, job NewJob) Lease {
		lease := claimed(t, q, job, time.Minute)
		must[Status](t)(q.Retry(t.Context(), lease, "not yet", time.Hour))
		return lease
	},
	"mine": func(t *testing.T, q *Queue, job NewJob) Lease { return claimed(t, q, job, time.Minute) },
	"expired": func(t *testing.T, q *Queue, job NewJob) Lease {
		lease := claimed(t, q, job, time.Minute)
		expire(t, q, lease.ID)
		return lease
	},
	"theirs": func(t *testing.T, q *Queue, job NewJob) Lease {
		lease := claimed(t, q, job, time.Minute)
		must[Status](t)(q.Retry(t.Context(), lease, "not yet", 0))
		claimFrom(t, q, job.Queue, time.Minute)
		return lease
	},
	"completed": func(t *testing.T, q *Queue, job NewJob) Lease {
		lease := claimed(t, q, job, time.Minute)
		ok(t, q.Complete(t.Context(), lease))
		return lease
	},
	"failed": func(t *testing.T, q *Queue, job NewJob) Lease {
		lease := claimed(t, q, job, time.Minute)
		exec(t, q, "update leasetop.jobs set max_attempts = attempts where id = $1", lease.ID)
		if status := must[Status](t)(q.Retry(t.Context(), lease, "gave up", 0)); status != Failed {
			t.Fatalf("a retry without attempts left makes it %s", status)
		}
		return lease
	},
	"asked": func(t *testing.T, q *Queue, job NewJob) Lease {
		lease := claimed(t, q, job, time.Minute)
		cancelled(t, q, "ann", lease.ID)
		return lease
	},
	"overdue": func(t *testing.T, q *Queue, job NewJob) Lease {
		lease := claimed(t, q, job, time.Minute)
		cancelled(t, q, "ann", lease.ID)
		expire(t, q, lease.ID)
		return lease
	},
	"dead": func(t *testing.T, q *Queue, job NewJob) Lease {
		lease := claimed(t, q, job, time.Minute)
		ok(t, q.Bury(t.Context(), lease, "poison"))
		return lease
	},
	"archived": func(t *testing.T, q *Queue, job NewJob) Lease {
		lease := claimed(t, q, job, time.Minute)
		ok(t, q.Bury(t.Context(), lease, "poison"))
		wantDone(t, "discard", must[Done](t)(q.Discard(t.Context(), "ann", "", lease.ID)), []int64{lease.ID})
		return lease
	},
}

// errNothing is an operation that had nothing to do and says so without an error.
var errNothing = errors.New("nothing to do")

// errSkipped carries the reason of a skip.
type errSkipped string

func (e errSkipped) Error() string { return "skipped: " + string(e) }

// The operations, each on the job's queue and the lease in question.
var operations = map[string]func(*testing.T, *Queue, string, Lease) error{
	"claim": func(t *testing.T, q *Queue, queue string, _ Lease) error {
		jobs, err := q.Claim(t.Context(), ClaimRequest{Queue: queue, Owner: owner(), Lease: time.Minute, Limit: 10})
		if err == nil && len(jobs) == 0 {
			return errNothing
		}
		return err
	},
	"heartbeat": func(t *testing.T, q *Queue, _ string, lease Lease) error {
		beat, err := q.Heartbeat(t.Context(), []Renewal{{Lease: lease, For: time.Minute}})
		if err == nil && len(beat.Lost) == 1 && beat.Lost[0].Lease == lease && len(beat.Renewed)+len(beat.Contended) == 0 {
			return ErrLeaseLost
		}
		if err == nil && (len(beat.Renewed) != 1 || len(beat.Lost)+len(beat.Contended) != 0) {
			return fmt.Errorf("a beat of %+v", beat)
		}
		return err
	},
	"complete": func(t *testing.T, q *Queue, _ string, lease Lease) error { return q.Complete(t.Context(), lease) },
	"completeTx": func(t *testing.T, q *Queue, _ string, lease Lease) error {
		return pgx.BeginFunc(t.Context(), q.Pool(), func(tx pgx.Tx) error { return q.CompleteTx(t.Context(), tx, lease) })
	},
	"completeMany": func(t *testing.T, q *Queue, _ string, lease Lease) error {
		lost, err := q.CompleteMany(t.Context(), []Lease{lease})
		if err == nil && len(lost) == 1 && lost[0] == lease {
			return ErrLeaseLost
		}
		return err
	},
	"completeUnlocked": func(t *testing.T, q *Queue, _ string, lease Lease) error {
		locked, lost, err := q.CompleteUnlocked(t.Context(), []Lease{lease})
		if err == nil && len(locked) == 0 && len(lost) == 1 && lost[0] == lease {
			return ErrLeaseLost
		}
		if err == nil && len(locked)+len(lost) != 0 {
			return fmt.Errorf("locked %v, lost %v", locked, lost)
		}
		return err
	},
	"retry": func(t *testing.T, q *Queue, _ string, lease Lease) error {
		_, err := q.Retry(t.Context(), lease, "timeout", time.Minute)
		return err
	},
	"bury": func(t *testing.T, q *Queue, _ string, lease Lease) error { return q.Bury(t.Context(), lease, "bad") },
	"release": func(t *testing.T, q *Queue, _ string, lease Lease) error {
		return errorOf(q.Release(t.Context(), lease))
	},
	"snooze": func(t *testing.T, q *Queue, _ string, lease Lease) error {
		return errorOf(q.Snooze(t.Context(), lease, time.Hour))
	},
	"reclaim": func(t *testing.T, q *Queue, _ string, _ Lease) error {
		taken, err := q.Reclaim(t.Context(), 10)
		if err == nil && len(taken) == 0 {
			return errNothing
		}
		return err
	},
	"redrive": func(t *testing.T, q *Queue, _ string, lease Lease) error {
		return skipped(q.Redrive(t.Context(), "operator", lease.ID))
	},
	"discard": func(t *testing.T, q *Queue, _ string, lease Lease) error {
		return skipped(q.Discard(t.Context(), "operator", "", lease.ID))
	},
	"restore": func(t *testing.T, q *Queue, _ string, lease Lease) error {
		return skipped(q.Restore(t.Context(), "operator", lease.ID))
	},
	"edit": func(t *testing.T, q *Queue, _ string, lease Lease) error {
		return edited(errorOf(q.EditPayload(t.Context(), "operator", Edit{ID: lease.ID, Was: []byte(`{}`), Payload: []byte(`{"n": 1}`)})))
	},
	"editRedrive": func(t *testing.T, q *Queue, _ string, lease Lease) error {
		return edited(errorOf(q.EditPayload(t.Context(), "operator", Edit{ID: lease.ID, Was: []byte(`{}`), Payload: []byte(`{"n": 1}`), Redrive: true})))
	},
	"runNow": func(t *testing.T, q *Queue, _ string, lease Lease) error {
		return skipped(q.RunNow(t.Context(), "operator", lease.ID))
	},
	"takeBack": func(t *testing.T, q *Queue, _ string, lease Lease) error {
		return q.TakeBack(t.Context(), "operator", lease)
	},
	"cancel": func(t *testing.T, q *Queue, _ string, lease Lease) error {
		done, err := q.Cancel(t.Context(), "operator", lease.ID)
		return skipped(Done{append(done.IDs, done.Asked...), done.Skipped}, err)
	},
	"purge": func(t *testing.T, q *Queue, queue string, _ Lease) error {
		n, err := q.Purge(t.Context(), Purge{What: PurgeCompleted, Queue: queue}, nil)
		if err == nil && n.Deleted == 0 {
			return errNothing
		}
		return err
	},
	"purge-archive": func(t *testing.T, q *Queue, queue string, _ Lease) error {
		n, err := q.Purge(t.Context(), Purge{What: PurgeArchive, Queue: queue}, nil)
		if err == nil && n.Deleted == 0 {
			return errNothing
		}
		return err
	},
	"resume": func(t *testing.T, q *Queue, queue string, _ Lease) error {
		resumed, err := q.Resume(t.Context(), queue)
		if err == nil && len(resumed) == 0 {
			return errNothing
		}
		return err
	},
}

// skipped is the reason when an act left its one job alone.
func skipped(done Done, err error) error {
	if err == nil && len(done.Skipped) == 1 && len(done.IDs) == 0 {
		return errSkipped(done.Skipped[0].Reason)
	}
	return err
}

// edited is a skip where there was nothing to edit.
func edited(err error) error {
	if errors.Is(err, ErrEdited) || errors.Is(err, ErrNotFound) {
		return errSkipped(err.Error())
	}
	return err
}

// ofLeases are the operations that end or prolong a claim.
var ofLeases = []string{"heartbeat", "complete", "completeTx", "completeMany", "completeUnlocked", "retry", "bury", "release", "snooze", "takeBack"}
