package queue

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// The specification: what each operation does to a job in each status. A cell
// names the status afterwards. "lost" is ErrLeaseLost, "skip" a skip with its
// reason, "-" no error and no result; with these three the row must be
// byte-identical, down to the transaction that wrote it.
//
// pending is due, scheduled is pending in the future. mine is processing under
// the lease that the operation names, expired the same with the lease run out
// and nobody in our place, theirs a fresh claim by somebody else after ours was
// lost. In completed, failed and dead, the operation names the lease under which
// the job got there. A "last" operation finds the attempts used up.
const specification = `
              pending     scheduled  mine        expired     theirs      completed  failed   dead
claim         processing  -          -           -           -           -          -        -
heartbeat     lost        lost       processing  processing  lost        lost       lost     lost
complete      lost        lost       completed   completed   lost        lost       lost     lost
completeTx    lost        lost       completed   completed   lost        lost       lost     lost
completeMany  lost        lost       completed   completed   lost        lost       lost     lost
retry         lost        lost       pending     pending     lost        lost       lost     lost
retry-last    lost        lost       failed      failed      lost        lost       lost     lost
bury          lost        lost       dead        dead        lost        lost       lost     lost
release       lost        lost       pending     pending     lost        lost       lost     lost
snooze        lost        lost       pending     pending     lost        lost       lost     lost
reclaim       -           -          -           pending     -           -          -        -
reclaim-last  -           -          -           dead        -           -          -        -
redrive       skip        skip       skip        skip        skip        skip       pending  pending
`

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
	"dead": func(t *testing.T, q *Queue, job NewJob) Lease {
		lease := claimed(t, q, job, time.Minute)
		ok(t, q.Bury(t.Context(), lease, "poison"))
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
		beat, err := q.Heartbeat(t.Context(), []Renewal{{lease, time.Minute}})
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
	"retry": func(t *testing.T, q *Queue, _ string, lease Lease) error {
		_, err := q.Retry(t.Context(), lease, "timeout", time.Minute)
		return err
	},
	"bury":    func(t *testing.T, q *Queue, _ string, lease Lease) error { return q.Bury(t.Context(), lease, "bad") },
	"release": func(t *testing.T, q *Queue, _ string, lease Lease) error { return q.Release(t.Context(), lease) },
	"snooze": func(t *testing.T, q *Queue, _ string, lease Lease) error {
		return q.Snooze(t.Context(), lease, time.Hour)
	},
	"reclaim": func(t *testing.T, q *Queue, _ string, _ Lease) error {
		taken, err := q.Reclaim(t.Context(), 10)
		if err == nil && len(taken) == 0 {
			return errNothing
		}
		return err
	},
	"redrive": func(t *testing.T, q *Queue, _ string, lease Lease) error {
		done, err := q.Redrive(t.Context(), "operator", lease.ID)
		if err == nil && len(done.Skipped) == 1 && len(done.IDs) == 0 {
			return errSkipped(done.Skipped[0].Reason)
		}
		return err
	},
}

func TestSpecification(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.TrimSpace(specification), "\n")
	columns := strings.Fields(lines[0])
	for _, line := range lines[1:] {
		cells := strings.Fields(line)
		name, cells := cells[0], cells[1:]
		if len(cells) != len(columns) {
			t.Fatalf("the specification of %s has %d cells, not %d", name, len(cells), len(columns))
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := open(t)
			operation, last := strings.CutSuffix(name, "-last")
			for i, situation := range columns {
				t.Run(situation, func(t *testing.T) {
					job := NewJob{Queue: name + "/" + situation, Kind: "send", IdempotencyKey: "k"}
					lease := situations[situation](t, q, job)
					if last {
						exec(t, q, "update leasetop.jobs set max_attempts = greatest(attempts, 1) where id = $1", lease.ID)
					}
					before := rowOf(t, q, lease.ID)
					err := operations[operation](t, q, job.Queue, lease)
					checkCell(t, q, lease.ID, cells[i], err, before)
				})
			}
		})
	}
}

func checkCell(t *testing.T, q *Queue, id int64, want string, err error, before string) {
	t.Helper()
	var skipped errSkipped
	unchanged := true
	switch want {
	case "lost":
		if !errors.Is(err, ErrLeaseLost) {
			t.Errorf("error %v, want ErrLeaseLost", err)
		}
	case "-":
		if err != errNothing {
			t.Errorf("error %v, want none and nothing done", err)
		}
	case "skip":
		if !errors.As(err, &skipped) || skipped == "" {
			t.Errorf("error %v, want a skip with its reason", err)
		}
	default:
		unchanged = false
		if err != nil {
			t.Errorf("error %v, want none", err)
		}
		if got := get(t, q, id).Status; string(got) != want {
			t.Errorf("the job is %s, want %s", got, want)
		}
	}
	if after := rowOf(t, q, id); unchanged != (after == before) {
		t.Errorf("row changed: %v, want %v\nbefore %s\nafter  %s", after != before, !unchanged, before, after)
	}
}

// A job that is not in processing has no owner, no claim time and no lease,
// whichever way it got there.
func TestOnlyProcessingJobsAreOwned(t *testing.T) {
	t.Parallel()
	q := open(t)
	for situation, enter := range situations {
		id := enter(t, q, NewJob{Queue: situation}).ID
		job := get(t, q, id)
		owned := job.LockedBy != "" && job.LockedAt != nil && job.LeaseExpiresAt != nil
		free := job.LockedBy == "" && job.LockedAt == nil && job.LeaseExpiresAt == nil
		if processing := job.Status == Processing; owned != processing || free == processing {
			t.Errorf("%s: %s job with owner %q, locked at %v until %v", situation, job.Status, job.LockedBy, job.LockedAt, job.LeaseExpiresAt)
		}
		if died := job.DiedAt != nil; died != job.Status.IsDeadLetter() {
			t.Errorf("%s: died at %v", situation, job.DiedAt)
		}
	}
}

// No operation knows a job that does not exist, and none makes one.
func TestOperationsOnAJobThatIsGone(t *testing.T) {
	t.Parallel()
	q := open(t)
	gone := Lease{ID: 4711, Token: owner()}
	for name, operation := range operations {
		err := operation(t, q, "emails", gone)
		switch name {
		case "claim", "reclaim":
			if err != errNothing {
				t.Errorf("%s: %v", name, err)
			}
		case "redrive":
			if err != errSkipped("no such job") {
				t.Errorf("%s: %v", name, err)
			}
		default:
			if !errors.Is(err, ErrLeaseLost) {
				t.Errorf("%s: %v, want ErrLeaseLost", name, err)
			}
		}
	}
	if n := count(t, q, "select count(*) from leasetop.jobs"); n != 0 {
		t.Errorf("%d jobs", n)
	}
}

// Somebody ended the job by hand and left the owner in its row. The claim is gone
// all the same.
func TestStatusCountsNotTheOwnerAlone(t *testing.T) {
	t.Parallel()
	q := open(t)
	for _, status := range []Status{Pending, Completed, Failed, Dead} {
		for name, operation := range operations {
			if name == "claim" || name == "reclaim" || name == "redrive" {
				continue
			}
			lease := claimed(t, q, NewJob{Queue: name + "/" + string(status)}, time.Minute)
			exec(t, q, "update leasetop.jobs set status = $2 where id = $1", lease.ID, status)
			before := rowOf(t, q, lease.ID)
			checkCell(t, q, lease.ID, "lost", operation(t, q, "", lease), before)
		}
	}
}
