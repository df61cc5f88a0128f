package scenario

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// Run is one run of a handler in this process, as it was there: exact, where leases are
// looked at now and then. Child processes tell of none.
type Run struct {
	ID      uint64 // a later run has a higher one
	Job     int64
	Worker  string // as the story calls it
	Attempt int
	Began   time.Time
	Ended   time.Time // zero while it goes on
	End     RunEnd
	Dead    time.Time // when it left the job a dead letter; zero when it did not
}

// RunEnd is how a run ended.
type RunEnd string

// The ends of runs.
const (
	runGoesOn  RunEnd = ""
	RunDone    RunEnd = "done"
	RunFailed  RunEnd = "failed"     // the job is tried again, unless it is dead
	RunBack    RunEnd = "given back" // its worker drained
	RunFenced  RunEnd = "fenced"     // its outcome came too late, and changed nothing
	RunStopped RunEnd = "stopped"    // its worker could not trust the lease any more
	RunCrashed RunEnd = "crashed"    // with its worker
)

// runsKept is how many runs there are in a picture, at most. Those that go on are kept
// before others.
const runsKept = 400

// runs notes the runs of a play's handlers. The zero value is ready, for several goroutines.
type runs struct {
	mu   sync.Mutex
	last uint64
	list []Run // oldest first
}

// note is a middleware that notes the runs of a handler.
func (r *runs) note(next workers.Handler) workers.Handler {
	return func(ctx context.Context, job *queue.Job) (err error) {
		id := r.begin(job)
		panics := true
		defer func() { r.end(id, endOf(ctx, err, panics), panics || queue.IsPermanent(err)) }()
		err = next(ctx, job)
		panics = false
		return err
	}
}

// endOf is how a run ended whose handler did so.
func endOf(ctx context.Context, err error, panics bool) RunEnd {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, workers.ErrCrashed):
		return RunCrashed
	case errors.Is(cause, workers.ErrTrustEnded), errors.Is(cause, queue.ErrLeaseLost):
		return RunStopped
	case err == nil && !panics:
		return RunDone
	case errors.Is(err, queue.ErrLeaseLost):
		return RunFenced
	case errors.Is(cause, workers.ErrDrained):
		return RunBack
	}
	return RunFailed
}

func (r *runs) begin(job *queue.Job) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.list) >= runsKept {
		over := max(slices.IndexFunc(r.list, func(one Run) bool { return one.End != runGoesOn }), 0)
		r.list = slices.Delete(r.list, over, over+1)
	}
	r.last++
	r.list = append(r.list, Run{ID: r.last, Job: job.ID, Worker: NameOf(job.LockedBy), Attempt: job.Attempts, Began: time.Now()})
	return r.last
}

func (r *runs) end(id uint64, how RunEnd, dead bool) {
	now := time.Now()
	r.change(func(one *Run) bool { return one.ID == id }, func(one *Run) {
		if one.End == runGoesOn {
			one.Ended, one.End = now, how
		}
		if dead && how == RunFailed {
			one.Dead = now
		}
	})
}

// heard takes what only the runtime knows: of outcomes that were fenced, and of jobs that
// are dead since their last worker was lost.
func (r *runs) heard(e workers.Event) {
	switch e.What {
	case workers.StaleFenced:
		r.change(func(one *Run) bool { return one.Job == e.JobID && one.Worker == e.Worker }, func(one *Run) {
			if one.Ended.IsZero() {
				one.Ended = e.At
			}
			one.End = RunFenced
		})
	case workers.ReapedDead:
		r.change(func(one *Run) bool { return one.Job == e.JobID }, func(one *Run) { one.Dead = e.At })
	}
}

// change changes the last run of which that holds.
func (r *runs) change(which func(*Run) bool, do func(*Run)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.list) - 1; i >= 0; i-- {
		if which(&r.list[i]) {
			do(&r.list[i])
			return
		}
	}
}

// of are the runs of these workers.
func (r *runs) of(crew []Worker) []Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.list), func(one Run) bool {
		return !slices.ContainsFunc(crew, func(w Worker) bool { return w.Name == one.Worker })
	})
}
