package workers

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// guarded calls code of the user's and returns its panic, nil for none: one job's
// mishap must not end the process, and all other jobs with it.
func guarded(do func()) (crash *panicked) {
	defer func() {
		if v := recover(); v != nil {
			crash = caught(v)
		}
	}()
	do()
	return nil
}

// verdict is what a handler's error says. An error's methods are the user's code, so it
// is read once, here.
type verdict struct {
	err       error // what the handler returned; a *panicked when that cannot be read
	text      string
	crash     *panicked
	permanent bool
	snooze    time.Duration
	snoozed   bool
}

// read reads a handler's error. One that panics when it is read is taken for a panic of
// the handler: a typed nil, as a rule.
func read(err error) (v verdict) {
	if err == nil {
		return verdict{}
	}
	crash := guarded(func() {
		v = verdict{err: err, text: err.Error(), crash: panicIn(err), permanent: queue.IsPermanent(err)}
		v.snooze, v.snoozed = queue.IsSnooze(err)
	})
	if crash != nil {
		crash.value = fmt.Sprintf("the handler's error, a %T, cannot be read: %s", err, crash.value)
		return verdict{err: crash, text: crash.Error(), crash: crash}
	}
	return v
}

// delay is how long the job waits before its next attempt.
func (r *run) delay() (d time.Duration) {
	backoff := r.handler.backoff
	if backoff == nil {
		backoff = queue.DefaultBackoff
	}
	if crash := guarded(func() { d = backoff(r.job.Attempts) }); crash != nil {
		d = queue.DefaultBackoff(r.job.Attempts)
		r.worker.pool.emit(Event{
			Worker: r.worker.name, What: Mishap, JobID: r.job.ID, Queue: r.job.Queue,
			Text: fmt.Sprintf("the backoff panicked, job %d gets the default one: %s", r.job.ID, crash.value),
		})
	}
	return d
}

// mishaps are the callbacks that panicked: each is told of once.
type mishaps struct {
	mu   sync.Mutex
	told map[string]bool
}

// call calls a callback of the user's that decides nothing. It may be called with the
// pool's lock held.
func (p *Pool) call(name string, do func()) {
	crash := guarded(do)
	if crash == nil {
		return
	}
	p.mishaps.mu.Lock()
	first := !p.mishaps.told[name]
	if p.mishaps.told == nil {
		p.mishaps.told = map[string]bool{}
	}
	p.mishaps.told[name] = true
	p.mishaps.mu.Unlock()
	if first {
		p.emit(Event{What: Mishap, Text: name + " panicked, which is told once: " + crash.value})
	}
}

// log writes to Options.Logger. It may be called with the pool's lock held.
func (p *Pool) log(level slog.Level, text string, attrs ...slog.Attr) {
	p.call("Options.Logger", func() { p.o.Logger.LogAttrs(context.Background(), level, text, attrs...) })
}
