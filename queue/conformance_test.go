package queue

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// The specification: what each operation does to a job in each status. A cell
// names the status afterwards. "lost" is ErrLeaseLost, "skip" a skip with its
// reason, "-" no error and no result; with these three the row must be
// byte-identical, down to the transaction that wrote it.
//
// pending is due, scheduled is pending in the future. mine is processing under
// the lease that the operation names, expired the same with the lease run out
// and nobody in our place, theirs a fresh claim by somebody else after ours was
// lost. asked is mine with a cancel asked for, overdue the same expired. In
// completed, failed and dead, the operation names the lease under which the job
// got there; archived is a dead one that was discarded, and as the result of an
// operation that the job is in the archive. A "last" operation finds the attempts
// used up, a "paused" one the queue paused.
const specification = `
               pending     scheduled  mine        expired     theirs      asked       overdue     completed  failed    dead      archived
claim          processing  -          -           -           -           -           -           -          -         -         -
claim-paused   -           -          -           -           -           -           -           -          -         -         -
heartbeat      lost        lost       processing  processing  lost        processing  processing  lost       lost      lost      lost
complete       lost        lost       completed   completed   lost        completed   completed   lost       lost      lost      lost
completeTx     lost        lost       completed   completed   lost        completed   completed   lost       lost      lost      lost
completeMany   lost        lost       completed   completed   lost        completed   completed   lost       lost      lost      lost
completeUnlocked lost        lost       completed   completed   lost        completed   completed   lost       lost      lost      lost
retry          lost        lost       pending     pending     lost        dead        dead        lost       lost      lost      lost
retry-last     lost        lost       failed      failed      lost        dead        dead        lost       lost      lost      lost
bury           lost        lost       dead        dead        lost        dead        dead        lost       lost      lost      lost
release        lost        lost       pending     pending     lost        dead        dead        lost       lost      lost      lost
snooze         lost        lost       pending     pending     lost        dead        dead        lost       lost      lost      lost
reclaim        -           -          -           pending     -           -           dead        -          -         -         -
reclaim-last   -           -          -           dead        -           -           dead        -          -         -         -
redrive        skip        skip       skip        skip        skip        skip        skip        skip       pending   pending   skip
cancel         dead        dead       processing  processing  processing  processing  processing  skip       skip      skip      skip
edit           pending     pending    skip        skip        skip        skip        skip        skip       failed    dead      skip
editRedrive    skip        skip       skip        skip        skip        skip        skip        skip       pending   pending   skip
runNow         skip        pending    skip        skip        skip        skip        skip        skip       skip      skip      skip
takeBack       lost        lost       pending     pending     lost        dead        dead        lost       lost      lost      lost
discard        skip        skip       skip        skip        skip        skip        skip        skip       archived  archived  skip
restore        skip        skip       skip        skip        skip        skip        skip        skip       skip      skip      dead
purge          -           -          -           -           -           -           -           gone       -         -         -
purge-archive  -           -          -           -           -           -           -           -          -         -         gone
resume         -           -          -           -           -           -           -           -          -         -         -
`

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
			operation, paused := strings.CutSuffix(operation, "-paused")
			for i, situation := range columns {
				t.Run(situation, func(t *testing.T) {
					job := NewJob{Queue: name + "/" + situation, Kind: "send", IdempotencyKey: "k"}
					lease := situations[situation](t, q, job)
					if last {
						exec(t, q, "update leasetop.jobs set max_attempts = greatest(attempts, 1) where id = $1", lease.ID)
					}
					if paused {
						pause(t, q, job.Queue)
					}
					before := placeOf(t, q, lease.ID)
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
		place, _, _ := strings.Cut(placeOf(t, q, id), ":")
		if place == "jobs" {
			place = string(get(t, q, id).Status)
		}
		if place != want {
			t.Errorf("the job is %s, want %s", place, want)
		}
	}
	if after := placeOf(t, q, id); unchanged != (after == before) {
		t.Errorf("row changed: %v, want %v\nbefore %s\nafter  %s", after != before, !unchanged, before, after)
	}
}

// placeOf says where a job is, with its whole row there.
func placeOf(t testing.TB, q *Queue, id int64) (place string) {
	t.Helper()
	ok(t, q.pool.QueryRow(t.Context(), `select coalesce(
		(select 'jobs: ' || jobs::text || ' by ' || xmin || ' at ' || ctid from leasetop.jobs where id = $1),
		(select 'archived: ' || jobs_archive::text || ' by ' || xmin || ' at ' || ctid from leasetop.jobs_archive where id = $1), 'gone')`, id).Scan(&place))
	return place
}

// A job that is not in processing has no owner, no claim time and no lease,
// whichever way it got there.
func TestOnlyProcessingJobsAreOwned(t *testing.T) {
	t.Parallel()
	q := open(t)
	for situation, enter := range situations {
		id := enter(t, q, NewJob{Queue: situation}).ID
		if situation == "archived" {
			continue
		}
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
		want := errNothing
		switch name {
		case "edit", "editRedrive":
			want = errSkipped("edit job 4711: no such job")
		case "redrive", "cancel", "discard", "runNow":
			want = errSkipped("no such job")
		case "restore":
			want = errSkipped("not in the archive")
		}
		if slices.Contains(ofLeases, name) {
			want = ErrLeaseLost
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
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
		for _, name := range ofLeases {
			lease := claimed(t, q, NewJob{Queue: name + "/" + string(status)}, time.Minute)
			exec(t, q, "update leasetop.jobs set status = $2 where id = $1", lease.ID, status)
			before := placeOf(t, q, lease.ID)
			checkCell(t, q, lease.ID, "lost", operations[name](t, q, "", lease), before)
		}
	}
}
