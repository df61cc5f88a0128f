package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// CASES "Bulk writers": heartbeats, outcomes, reclaim, redrive, purge, cancel, discard,
// restore and enqueues in loops together, each taking the jobs in an order of its own.
// No deadlock reaches a caller, no beat is lost, no outcome is refused to a worker whose
// lease stands, and every job is accounted for in the end.
func TestBulkWriters(t *testing.T) {
	t.Parallel()
	q := openWith(t, 14, "deadlock_timeout = 20")
	w := &writers{q: q}
	ok(t, w.enqueue(t.Context()))
	loops := map[string]func(context.Context) error{
		"reclaim": func(ctx context.Context) error { _, err := q.Reclaim(ctx, 50); return err },
		"enqueue": w.enqueue, "enqueue too": w.enqueue,
		"redrive": w.each("redriven", func(ctx context.Context, ids []int64) (int, error) {
			done, err := q.Redrive(ctx, "ann", ids...)
			return len(done.IDs), err
		}),
		"discard": w.each("discarded", func(ctx context.Context, ids []int64) (int, error) {
			done, err := q.Discard(ctx, "ann", "", ids...)
			return len(done.IDs), err
		}),
		"restore": w.each("restored", func(ctx context.Context, ids []int64) (int, error) {
			done, err := q.Restore(ctx, "ann", ids...)
			return len(done.IDs), err
		}),
		"cancel": w.each("cancelled", func(ctx context.Context, ids []int64) (int, error) {
			done, err := q.Cancel(ctx, "ann", ids[:len(ids)/4]...)
			return len(done.IDs) + len(done.Asked), err
		}),
		"purge":         w.purge(PurgeCompleted),
		"purge archive": w.purge(PurgeArchive),
	}
	for n := range 4 {
		loops[fmt.Sprint("worker ", n)] = func(ctx context.Context) error { return w.work(ctx, n) }
	}
	var wg sync.WaitGroup
	for name, loop := range loops {
		wg.Go(func() {
			for round := range 25 {
				if err := loop(t.Context()); err != nil {
					t.Errorf("%s, round %d: %v", name, round, err)
					return
				}
			}
		})
	}
	wg.Wait()
	jobs, archived := count(t, q, "select count(*) from leasetop.jobs"), count(t, q, "select count(*) from leasetop.jobs_archive")
	if enqueued := w.get("enqueued"); enqueued != jobs+archived+w.get("purge completed")+w.get("purge archive") {
		t.Errorf("%d jobs and %d in the archive; told %v", jobs, archived, w.told())
	}
	if done := count(t, q, "select count(*) from leasetop.jobs where status = 'completed'"); w.get("completed") != done+w.get("purge completed") {
		t.Errorf("%d completed jobs; told %v", done, w.told())
	}
	if n := count(t, q, "select count(*) from (select queue, idempotency_key from leasetop.jobs where status in ('pending', 'processing') and idempotency_key is not null group by 1, 2 having count(*) > 1) as twins"); n != 0 {
		t.Errorf("%d keys have two live jobs", n)
	}
	t.Logf("%v, %d deadlocks hidden", w.told(), deadlocks(t, q))
}

// writers count what they were told that they did.
type writers struct {
	q      *Queue
	counts sync.Map
}

func (w *writers) add(what string, n int) {
	counter, _ := w.counts.LoadOrStore(what, new(atomic.Int64))
	counter.(*atomic.Int64).Add(int64(n))
}

func (w *writers) get(what string) int64 {
	counter, found := w.counts.Load(what)
	if !found {
		return 0
	}
	return counter.(*atomic.Int64).Load()
}

func (w *writers) told() map[string]int64 {
	told := map[string]int64{}
	w.counts.Range(func(what, _ any) bool { told[what.(string)] = w.get(what.(string)); return true })
	return told
}

// enqueue adds some jobs, half of them with keys that others use too, in any order.
func (w *writers) enqueue(ctx context.Context) error {
	var jobs []NewJob
	for n := range 60 {
		job := NewJob{Queue: "emails", MaxAttempts: 3}
		if n%2 == 0 {
			job.IdempotencyKey = fmt.Sprint("k", n)
		}
		jobs = append(jobs, job)
	}
	rand.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
	out, err := w.q.EnqueueMany(ctx, jobs)
	for _, e := range out {
		if !e.Existing {
			w.add("enqueued", 1)
		}
	}
	return err
}

// each does an act to all the jobs there are, in any order.
func (w *writers) each(what string, act func(context.Context, []int64) (int, error)) func(context.Context) error {
	return func(ctx context.Context) error {
		var ids []int64
		err := w.q.pool.QueryRow(ctx, "select array_agg(id) from (select id from leasetop.jobs union all select id from leasetop.jobs_archive) as places").Scan(&ids)
		if err != nil {
			return err
		}
		rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		n, err := act(ctx, ids[:min(len(ids), 60)])
		w.add(what, n)
		return err
	}
}

func (w *writers) purge(what PurgeWhat) func(context.Context) error {
	return func(ctx context.Context) error {
		n, err := w.q.Purge(ctx, Purge{What: what}, nil)
		w.add("purge "+string(what), int(n.Deleted))
		return err
	}
}

// work claims, keeps what it claimed by beats and ends it, each in an order of its own;
// every third time it dies instead.
func (w *writers) work(ctx context.Context, n int) error {
	lease := time.Minute
	if rand.IntN(3) == 0 {
		lease = time.Nanosecond
	}
	got, err := w.q.Claim(ctx, ClaimRequest{Queue: "emails", Owner: owner(), Lease: lease, Limit: 40})
	if err != nil || lease == time.Nanosecond {
		return err
	}
	rand.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
	var leases []Lease
	beaten := map[Lease]bool{}
	for i := range got {
		leases = append(leases, got[i].Lease())
	}
	for beats := 0; len(beaten) < len(leases); beats++ {
		var renewals []Renewal
		for _, l := range leases {
			renewals = append(renewals, Renewal{Lease: l, For: time.Minute})
		}
		beat, err := w.q.Heartbeat(ctx, renewals)
		switch {
		case err != nil:
			return err
		case len(beat.Lost) > 0:
			return fmt.Errorf("beat lost %v", beat.Lost)
		case beats > 100:
			return fmt.Errorf("no beat got through to %v", beat.Contended)
		}
		for _, l := range beat.Renewed {
			beaten[l] = true
		}
		w.add("contended", len(beat.Contended))
	}
	w.add("beats", len(beaten))
	for i, l := range slices.Clone(leases) {
		switch {
		case i%5 == 0:
			_, err = w.q.Retry(ctx, l, "503", 0)
		case i%5 == 1:
			_, err = w.q.Release(ctx, l)
		case i%5 == 2 && n%2 == 0:
			err = w.q.Bury(ctx, l, "poison")
		default:
			continue
		}
		leases = slices.DeleteFunc(leases, func(other Lease) bool { return other == l })
		if err != nil {
			return err
		}
	}
	lost, err := w.q.CompleteMany(ctx, leases)
	if len(lost) > 0 {
		err = errors.Join(err, fmt.Errorf("lost %v in the middle of their leases", lost))
	}
	w.add("completed", len(leases)-len(lost))
	return err
}
