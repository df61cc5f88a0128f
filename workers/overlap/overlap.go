// Package overlap notes when two handlers run one job at a time, both on leases that
// they trust: what the trust deadline prevents.
//
//	claimed ─► handler ─────────────────► returns
//	            │   as long as the lease can be trusted
//	            └──────────────┤ it is a runner of the job
//
// A run is over, as far as this goes, when its handler returned, when its worker knows
// that the lease is gone ([workers.LeaseGone]: lost, no longer trusted, crashed), or when
// the lease can be trusted no more ([workers.TrustedFor]): that is what ends the run of
// a frozen worker, which nobody tells anything. A handler that goes on after that, because
// it ignores its cancelled context, is told of by its pool as stuck.
//
// One Recorder may stand around the handlers of several pools of this process, when they
// work on one table: jobs are told apart by their ids.
package overlap

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// Recorder notes who runs which job. The zero value is ready for use, by several
// goroutines at once.
type Recorder struct {
	mu      sync.Mutex
	running map[int64][]*run // by job
	under   []*pair          // overlaps that go on
	count   int
	worst   time.Duration
}

// run is one handler at work.
type run struct {
	ctx      context.Context // of the handler, which knows of its lease
	returned chan struct{}
}

// pair is two runs of one job that overlap.
type pair struct {
	runs  [2]*run
	began time.Time // time.Since counts on the monotonic clock
}

// Wrap is a [workers.Middleware]. To see all of a run it belongs outermost.
func (r *Recorder) Wrap(next workers.Handler) workers.Handler {
	return func(ctx context.Context, job *queue.Job) error {
		end := r.begin(ctx, job.ID)
		defer end()
		return next(ctx, job)
	}
}

// Count is how often two runs of one job overlapped; it must be 0.
func (r *Recorder) Count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count
}

// Worst is how long the longest overlap lasted, or has lasted by now.
func (r *Recorder) Worst() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	worst := r.worst
	for _, p := range r.under {
		worst = max(worst, time.Since(p.began))
	}
	return worst
}

func (r *Recorder) begin(ctx context.Context, job int64) (end func()) {
	one := &run{ctx: ctx, returned: make(chan struct{})}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running == nil {
		r.running = map[int64][]*run{}
	}
	for _, other := range r.running[job] {
		if over, _ := other.over(); !over {
			r.overlaps(other, one)
		}
	}
	r.running[job] = append(r.running[job], one)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		close(one.returned)
		left := slices.DeleteFunc(r.running[job], func(other *run) bool { return other == one })
		if r.running[job] = left; len(left) == 0 {
			delete(r.running, job)
		}
	}
}

// overlaps begins an overlap. The lock is held.
func (r *Recorder) overlaps(a, b *run) {
	p := &pair{runs: [2]*run{a, b}, began: time.Now()}
	r.count++
	r.under = append(r.under, p)
	go func() {
		p.await()
		lasted := time.Since(p.began)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.worst = max(r.worst, lasted)
		r.under = slices.DeleteFunc(r.under, func(other *pair) bool { return other == p })
	}()
}

// await waits until one of the two is over.
func (p *pair) await() {
	a, b := p.runs[0], p.runs[1]
	for {
		overA, leftA := a.over()
		overB, leftB := b.over()
		if overA || overB {
			return
		}
		timer := time.NewTimer(min(leftA, leftB)) // a heartbeat may have put it off by then
		select {
		case <-timer.C:
		case <-a.returned:
		case <-b.returned:
		case <-workers.LeaseGone(a.ctx):
		case <-workers.LeaseGone(b.ctx):
		}
		timer.Stop()
	}
}

// over tells whether the run is none any more, and when that has to be asked again.
func (r *run) over() (over bool, again time.Duration) {
	select {
	case <-r.returned:
		return true, 0
	case <-workers.LeaseGone(r.ctx):
		return true, 0
	default:
	}
	left, ok := workers.TrustedFor(r.ctx)
	if !ok { // no handler's context: only its return ends it
		return false, time.Hour
	}
	return left <= 0, left
}
