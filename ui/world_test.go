package ui

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/faults"
)

// world is what the dashboard acts on in tests. It keeps no database and no
// clock: what was asked of it is written down.
type world struct {
	archive []queue.Job
	mu      sync.Mutex
	state   *watch.State
	past    []watch.Event // what the feed keeps beside the State's
	crew    []workers.Snapshot
	asked   []string    // "redrive 1 2", "kill w3" …
	acts    []queue.Act // the operator log
	refused map[int64]*queue.Refused

	deadLooks  []queue.DeadStretch // what was asked about the dead letters
	groupings  int                 // how often they were grouped
	discarding func()              // called after every batch
	skip       map[int64]string
	now        time.Time
	stats      *Ledger
	turns      bool // leases come and go, see moving
	plans      plans
	broke      []faults.Broken

	jobs  []queue.Job // of the table, newest first
	looks []question  // what was asked about them

	oneJobs

	down   error    // what the database answers instead
	broken []string // what Update or View asked for, which they must not
}

func newWorld() *world {
	return &world{state: sampleState(), crew: sampleWorkers(), now: noon, stats: &Ledger{Effects: 194_321, Lease: 6 * time.Second}, jobs: sampleJobs(), oneJobs: oneJobs{entries: sampleActs()}}
}

func (w *world) note(format string, args ...any) {
	w.touch(format)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, fmt.Sprintf(format, args...))
}

// touch is called by all that would be I/O. It looks who called.
func (w *world) touch(what string) {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, "ui.(*app).Update") || strings.HasSuffix(f.Function, "ui.(*app).View") {
			w.mu.Lock()
			w.broken = append(w.broken, what)
			w.mu.Unlock()
			return
		}
		if !more {
			return
		}
	}
}

func (w *world) log() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.asked, "; ")
}

func (w *world) State() *watch.State            { w.touch("state"); return w.state }
func (w *world) Changed(uint64) <-chan struct{} { w.touch("changed"); return nil }
func (w *world) Refresh()                       { w.touch("refresh") }

// Events are those of the past and of the State; what came before them is missing.
func (w *world) Events(seq uint64) (events []watch.Event, missed uint64) {
	w.touch("events")
	events = append(w.past[:len(w.past):len(w.past)], w.state.Events...)
	for len(events) > 0 && events[0].Seq <= seq {
		events = events[1:]
	}
	if len(events) > 0 {
		missed = events[0].Seq - seq - 1
	}
	return events, missed
}

func (w *world) Reconcile(context.Context) (watch.Drift, error) {
	w.note("reconcile")
	return watch.Drift{Checked: w.now, Jobs: 1204}, w.down
}

func (w *world) List(_ context.Context, f queue.Filter, p queue.Page) ([]queue.Job, *queue.Cursor, error) {
	w.touch("list")
	if w.down != nil {
		w.note("list")
		return nil, nil, w.down
	}
	jobs := w.state.Dead.Latest
	if p.After != nil {
		for i := range jobs {
			if jobs[i].ID == p.After.ID {
				jobs = jobs[i+1:]
				break
			}
		}
	}
	if len(jobs) > p.Limit {
		last := jobs[p.Limit-1]
		return jobs[:p.Limit], &queue.Cursor{ID: last.ID, DiedAt: last.DiedAt}, nil
	}
	return jobs, nil, nil
}

func (w *world) Preview(_ context.Context, id int64, n int) (*queue.Job, int, error) {
	w.touch("preview")
	if w.down != nil {
		w.note("preview")
		return nil, 0, w.down
	}
	j := w.job(id)
	length := len(j.Payload)
	j.Payload = j.Payload[:min(n, length)]
	return j, length, nil
}

func (w *world) Redrive(_ context.Context, by string, ids ...int64) (queue.Done, error) {
	w.note("redrive %v by %s", ids, by)
	var done queue.Done
	for _, id := range ids {
		if reason, ok := w.skip[id]; ok {
			done.Skipped = append(done.Skipped, queue.Skip{ID: id, Reason: reason})
			continue
		}
		done.IDs = append(done.IDs, id)
	}
	return done, nil
}

func (w *world) Cancel(_ context.Context, by string, ids ...int64) (queue.Cancelled, error) {
	w.note("cancel %v by %s", ids, by)
	var done queue.Cancelled
	for _, id := range ids {
		if reason, ok := w.skip[id]; ok {
			done.Skipped = append(done.Skipped, queue.Skip{ID: id, Reason: reason})
			continue
		}
		done.Asked = append(done.Asked, id)
		for i := range w.state.Leases.List {
			if l := &w.state.Leases.List[i]; l.JobID == id {
				l.CancelledBy = by
			}
		}
	}
	return done, w.down
}

func (w *world) Pause(_ context.Context, by, why string, queues ...string) ([]string, error) {
	w.note("pause %v by %s", queues, by)
	return w.paused(queues, false)
}

func (w *world) Resume(_ context.Context, queues ...string) ([]string, error) {
	w.note("resume %v", queues)
	return w.paused(queues, true)
}

// paused returns the queues that were, or were not.
func (w *world) paused(queues []string, were bool) (names []string, err error) {
	for _, name := range queues {
		if _, ok := w.state.Pauses.Of(name); ok == were {
			names = append(names, name)
		}
	}
	return names, w.down
}

func (w *world) Workers() []workers.Snapshot { w.touch("workers"); return w.crew }

func (w *world) Fenced() uint64 {
	n := uint64(0)
	for _, one := range w.Workers() {
		n += one.Fenced
	}
	return n
}

func (w *world) Recovery() (r workers.Recovery) {
	for _, e := range sampleNews() {
		r.Note(e)
	}
	return r
}

func (w *world) ClaimLatency() workers.Latency {
	return workers.Latency{P50: 420 * time.Microsecond, P99: 2100 * time.Microsecond, Count: 99}
}

func (w *world) Spawn(queues []string, slots int) (string, error) {
	w.note("spawn %s %d", strings.Join(queues, ","), slots)
	return "w7", nil
}

func (w *world) SpawnProcess(_ context.Context, queues []string, slots int) (string, int, error) {
	w.note("spawn process %s %d", strings.Join(queues, ","), slots)
	return "p2", 4243, nil
}
func (w *world) Drain(name string) error  { w.note("drain %s", name); return nil }
func (w *world) Kill(name string) error   { w.note("kill %s", name); return nil }
func (w *world) Freeze(name string) error { w.note("freeze %s", name); return nil }
func (w *world) Remove(name string) error { w.note("remove %s", name); return nil }

func (w *world) Burst(context.Context) (int, error)     { w.note("burst"); return 500, nil }
func (w *world) Poison(context.Context) (int64, error)  { w.note("poison"); return 88200, nil }
func (w *world) Ledger(context.Context) (Ledger, error) { return *w.stats, nil }

// crewOf is the world's workers under the interface's method names; the feed
// has a Changed and Events of its own.
type crewOf struct{ *world }

func (crewOf) Changed() <-chan struct{} { return nil }

func (crewOf) Events(after uint64) ([]workers.Event, uint64) {
	news := sampleNews()
	return news[min(int(after), len(news)):], uint64(len(news))
}
