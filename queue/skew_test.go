package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Programs of the first release and of this one work side by side on one queue: each
// completes jobs that the other retried, released or lost, and no job is completed twice.
func TestFirstLightBesideThisRelease(t *testing.T) {
	t.Parallel()
	q := openWith(t, 12)
	const jobs = 200
	old := openFirstLight(t, q)
	for range jobs / 2 {
		must[map[int64]int64](t)(old.enqueue(t.Context(), "emails", nil))
	}
	must[[]Enqueued](t)(q.EnqueueMany(t.Context(), slices.Repeat([]NewJob{{Queue: "emails"}}, jobs/2)))
	exec(t, q, "update leasetop.jobs set max_attempts = 1000")

	var completed [2]atomic.Int64
	var workers sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // it gives up
	defer cancel()
	left := func() bool {
		return completed[0].Load()+completed[1].Load() < jobs && ctx.Err() == nil && !t.Failed()
	}
	// Each worker lives its own life: what it does with a claim is chance.
	for range 3 {
		old := openFirstLight(t, q)
		workers.Go(func() {
			for left() {
				claimed, err := old.claim(ctx, "emails", owner(), 3)
				for _, job := range claimed {
					switch rand.N(5) {
					case 0:
						_, err = askOne[string](ctx, old, "retry", job.ID, job.LockedBy, "503", 0.0)
					case 1:
						_, err = askOne[string](ctx, old, "release", job.ID, job.LockedBy, 0.0)
					case 2: // it dies: its lease runs out
						_, err = old.conn.Exec(ctx, "update leasetop.jobs set lease_expires_at = now() - interval '1 second' where id = $1 and locked_by = $2", job.ID, job.LockedBy)
					default:
						var done []int64
						done, err = ask(ctx, old, "complete", func(row pgx.CollectableRow) (id int64, err error) {
							err = row.Scan(&id, new(string))
							return id, err
						}, []int64{job.ID}, []string{job.LockedBy})
						completed[0].Add(int64(len(done)))
					}
				}
				if err == nil {
					_, err = ask(ctx, old, "reclaim", pgx.RowToMap, 2)
				}
				if err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
		workers.Go(func() {
			for left() {
				q.Forget("emails")
				claimed, err := q.Claim(ctx, ClaimRequest{Queue: "emails", Owner: owner(), Lease: time.Minute, Limit: 3})
				for _, job := range claimed {
					switch rand.N(5) {
					case 0:
						_, err = q.Retry(ctx, job.Lease(), "503", 0)
					case 1:
						_, err = q.Release(ctx, job.Lease())
					case 2:
						_, err = q.pool.Exec(ctx, "update leasetop.jobs set lease_expires_at = now() - interval '1 second' where id = $1 and locked_by = $2", job.ID, job.LockedBy)
					default:
						if err = q.Complete(ctx, job.Lease()); err == nil {
							completed[1].Add(1)
						}
					}
				}
				if err == nil {
					_, err = q.Reclaim(ctx, 2)
				}
				if err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
	if n := count(t, q, "select count(*) from leasetop.jobs where status = 'completed'"); n != jobs || completed[0].Load()+completed[1].Load() != jobs {
		t.Errorf("%d jobs are completed of %d; the first release completed %d, this one %d", n, jobs, completed[0].Load(), completed[1].Load())
	}
	t.Logf("the first release completed %d, this one %d", completed[0].Load(), completed[1].Load())
}

// A job is cancelled while a worker of the first release has it, which knows nothing of
// that. What it makes of the job stands; the next worker that knows ends it.
func TestCancelWhileFirstLightHoldsTheJob(t *testing.T) {
	t.Parallel()
	for outcome, c := range map[string]struct {
		do   func(context.Context, *firstLight, Job) error
		then string // the job, once a worker of this release has looked for work
	}{
		"complete": {func(ctx context.Context, old *firstLight, job Job) error {
			_, err := ask(ctx, old, "complete", pgx.RowToMap, []int64{job.ID}, []string{job.LockedBy})
			return err
		}, "completed"},
		"bury": {func(ctx context.Context, old *firstLight, job Job) error {
			_, err := askOne[int64](ctx, old, "bury", job.ID, job.LockedBy, "poison", "buried")
			return err
		}, "dead: poison"},
		"retry": {func(ctx context.Context, old *firstLight, job Job) error {
			_, err := askOne[string](ctx, old, "retry", job.ID, job.LockedBy, "503", 0.0)
			return err
		}, "dead: cancelled by ann"},
		"release": {func(ctx context.Context, old *firstLight, job Job) error {
			_, err := askOne[string](ctx, old, "release", job.ID, job.LockedBy, 0.0)
			return err
		}, "dead: cancelled by ann"},
		"its death": {func(ctx context.Context, old *firstLight, job Job) error {
			if _, err := old.conn.Exec(ctx, "update leasetop.jobs set lease_expires_at = now() - interval '1 second'"); err != nil {
				return err
			}
			_, err := ask(ctx, old, "reclaim", pgx.RowToMap, 10)
			return err
		}, "dead: cancelled by ann"},
	} {
		t.Run(outcome, func(t *testing.T) {
			t.Parallel()
			q := open(t)
			old := openFirstLight(t, q)
			id := enqueue(t, q, NewJob{})
			job := must[[]Job](t)(old.claim(t.Context(), "emails", owner(), 1))[0]
			if done := must[Cancelled](t)(q.Cancel(t.Context(), "ann", id)); len(done.Asked) != 1 {
				t.Fatalf("%+v", done)
			}
			ok(t, c.do(t.Context(), old, job))
			for _, next := range take(t, q, "emails", 10) {
				if next.CancelledBy != "ann" {
					t.Errorf("claimed to be run: %+v", next)
				}
				must[Status](t)(q.Release(t.Context(), next.Lease()))
			}
			got := get(t, q, id)
			if text := string(got.Status); text != c.then && text+": "+got.LastError != c.then {
				t.Errorf("it is %s: %s; want %s", got.Status, got.LastError, c.then)
			}
		})
	}
}

// A redrive by a program of the first release is one like any other, of a cancelled job too.
func TestFirstLightRedrivesACancelledJob(t *testing.T) {
	t.Parallel()
	q := open(t)
	old := openFirstLight(t, q)
	for name, cancel := range map[string]func(id int64){
		"pending": func(id int64) { must[Cancelled](t)(q.Cancel(t.Context(), "ann", id)) },
		"running": func(id int64) {
			lease := claim(t, q, time.Minute).Lease()
			must[Cancelled](t)(q.Cancel(t.Context(), "ann", id))
			must[Status](t)(q.Release(t.Context(), lease))
		},
	} {
		id := enqueue(t, q, NewJob{})
		cancel(id)
		if job := get(t, q, id); job.Status != Dead || job.LastError != "cancelled by ann" {
			t.Fatalf("%s: %+v", name, job)
		}
		if queue := must[string](t)(askOne[string](t.Context(), old, "redrive", id, "bob")); queue != "emails" {
			t.Errorf("%s: redriven to %q", name, queue)
		}
		job := claim(t, q, time.Minute)
		if job.ID != id || job.CancelledBy != "" {
			t.Errorf("%s: claimed %+v, want it to be run", name, job)
		}
		if status := must[Status](t)(q.Retry(t.Context(), job.Lease(), "503", 0)); status != Pending {
			t.Errorf("%s: retried, it is %s", name, status)
		}
		ok(t, q.Complete(t.Context(), claim(t, q, time.Minute).Lease()))
	}
}

// A cancel that came after a redrive is not lost by a worker of the first release that
// gives the claim back and leaves no trace of it.
func TestFirstLightReleasesACancelledJobThatWasRedriven(t *testing.T) {
	t.Parallel()
	q := open(t)
	old := openFirstLight(t, q)
	for name, redrive := range map[string]func(id int64){
		"by this release": func(id int64) { must[Done](t)(q.Redrive(t.Context(), "bob", id)) },
		"by the first":    func(id int64) { must[string](t)(askOne[string](t.Context(), old, "redrive", id, "bob")) },
	} {
		id := enqueue(t, q, NewJob{})
		must[Cancelled](t)(q.Cancel(t.Context(), "ann", id))
		redrive(id)
		lease := must[[]Job](t)(old.claim(t.Context(), "emails", owner(), 1))[0].Lease()
		if asked := must[Cancelled](t)(q.Cancel(t.Context(), "carl", id)).Asked; len(asked) != 1 {
			t.Fatalf("%s: asked %v", name, asked)
		}
		must[string](t)(askOne[string](t.Context(), old, "release", lease.ID, lease.Token, 0.0))
		job := claim(t, q, time.Minute)
		if job.ID != id || job.CancelledBy != "carl" {
			t.Errorf("%s: claimed %+v, want it cancelled by carl", name, job)
		}
		must[Status](t)(q.Retry(t.Context(), job.Lease(), "", 0))
		if job := get(t, q, id); job.Status != Dead || job.LastError != "cancelled by carl" {
			t.Errorf("%s: it ended %s, %q", name, job.Status, job.LastError)
		}
	}
}

// A program of this release on a schema of the first: what needs more than there is
// fails, changes nothing, and names the cure.
func TestThisReleaseOnFirstLightsSchema(t *testing.T) {
	t.Parallel()
	for operation := range every(nil, Lease{}, 0) {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			q := open(t)
			lease, dead := claimed(t, q, NewJob{}, time.Minute), buried(t, q, NewJob{})
			enqueue(t, q, NewJob{})
			atFirstLight(t, q)
			do := every(q, lease, dead)[operation]
			table := func() string {
				return rowOf(t, q, lease.ID) + rowOf(t, q, dead) + fmt.Sprint(count(t, q, "select count(*) from leasetop.jobs"))
			}
			before := table()
			err := do(t.Context())
			switch operation {
			case "ping", "enqueue", "enqueue one", "enqueue many", "enqueue tx", "complete", "complete tx", "once", "depth", "payloads", "next expiry", "expiry to come", "migrate", "purge completed", "purge once", "vitals", "key holder":
				ok(t, err) // as ever
				return
			}
			want := "the schema leasetop is older than this program ("
			if !errors.Is(err, ErrSchemaOld) || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), "): run `leasetop migrate up`") {
				t.Errorf("error %v", err)
			}
			if after := table(); after != before {
				t.Errorf("it became\n%s\nfrom\n%s", after, before)
			}
			ok(t, q.Migrate(t.Context()))
			ok(t, do(t.Context()))
		})
	}
}
