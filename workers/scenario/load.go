package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// Load is a producer that enqueues a job every so often, for workers that are to be seen
// at work. Where the world is steady under it, an audience may watch for as long as it likes.
type Load struct {
	stop context.CancelFunc
	over chan struct{}

	mu      sync.Mutex
	jobs    []int64 // what was acknowledged
	refused int
	last    error // why the last one was refused

	meanwhile int // jobs since the play waits
	resting   bool
}

// mostWaiting is how many jobs a load makes while the play waits for its audience: then it
// rests until the next step, for an audience may stay away for a day.
const mostWaiting = 2000

// rest is a time, by the database's clock, in which a load made nothing.
type rest struct{ from, to time.Time }

// rests tells whether the load rests.
func (l *Load) rests(ctx context.Context, s *Stage) bool {
	waits := s.play.board.waits()
	if waits {
		l.meanwhile++
	} else {
		l.meanwhile = 0
	}
	if should := l.meanwhile > mostWaiting; should != l.resting {
		ctx, cancel := context.WithTimeout(ctx, loadWaits)
		defer cancel()
		now, err := s.Now(ctx)
		if err != nil {
			return l.resting // the server is away: it is not the time to change
		}
		l.resting = should
		s.rests(now, should)
	}
	return l.resting
}

// rests notes that a load rests from now on, or no longer.
func (s *Stage) rests(now time.Time, rests bool) {
	text := "the producer rests until the next step: there are enough jobs"
	s.mu.Lock()
	if rests {
		s.rested = append(s.rested, rest{from: now})
	} else if n := len(s.rested); n > 0 {
		s.rested[n-1].to = now
		text = "the producer goes on"
	}
	s.mu.Unlock()
	s.Note("", text)
}

// labour is the payload of such a job: how long its handler is at it.
type labour struct {
	Ms int `json:"ms"`
}

// shortest and longest labour, and how long the producer waits for an answer.
const (
	leastLabour = 20 * time.Millisecond
	mostLabour  = 120 * time.Millisecond
	loadWaits   = 5 * time.Second
)

// Load begins to enqueue short jobs. It ends when it is stopped, and with the play. What
// the database does not take is not enqueued again: the next job is.
func (s *Stage) Load(every time.Duration) *Load { return s.LoadOf(every, ShortLabour) }

// ShortLabour is a job of [Stage.Load], of short labour. How short is drawn by lot.
func ShortLabour(lot *rand.Rand) queue.NewJob { return LabourBetween(lot, leastLabour, mostLabour) }

// LabourBetween is a job for [Labour], whose labour is between the two, by lot.
func LabourBetween(lot *rand.Rand, least, most time.Duration) queue.NewJob {
	takes := least + time.Duration(lot.Int64N(int64(most-least)))
	return queue.NewJob{Value: labour{Ms: int(takes.Milliseconds())}}
}

// LoadOf is a Load of other jobs. job may draw from what it is given.
func (s *Stage) LoadOf(every time.Duration, job func(lot *rand.Rand) queue.NewJob) *Load {
	ctx, stop := context.WithCancel(context.WithoutCancel(s.ctx))
	l := &Load{stop: stop, over: make(chan struct{})}
	lot := rand.New(rand.NewPCG(s.Rand.Uint64(), 1))
	s.Later("end the load", func(context.Context) error {
		l.Stop()
		return nil
	})
	go func() {
		defer close(l.over)
		next := time.NewTicker(every)
		defer next.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-next.C:
			}
			if !l.rests(ctx, s) {
				l.enqueue(ctx, s, job(lot))
			}
		}
	}()
	return l
}

func (l *Load) enqueue(ctx context.Context, s *Stage, job queue.NewJob) {
	// It goes on when the load is stopped: nobody should wonder whether the last was taken.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadWaits)
	defer cancel()
	ids, err := s.Enqueue(ctx, job)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.refused++
		l.last = err
		return
	}
	l.jobs = append(l.jobs, ids...)
}

// Stop ends the load, and returns when its last job was taken or refused.
func (l *Load) Stop() {
	l.stop()
	<-l.over
}

// Jobs are those that were acknowledged so far.
func (l *Load) Jobs() []int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.jobs)
}

// Refused is how many were not, and why the last was not.
func (l *Load) Refused() (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused, l.last
}

// Labour is the handler of a load's jobs: it takes its time.
func Labour(ctx context.Context, job *queue.Job) error {
	var l labour
	if err := json.Unmarshal(job.Payload, &l); err != nil {
		return queue.Permanent(fmt.Errorf("read how long it takes: %w", err))
	}
	return ToilFor(ctx, time.Duration(l.Ms)*time.Millisecond)
}

// ToilFor is work that takes so long. Where ctx ends before, it returns its cause.
func ToilFor(ctx context.Context, long time.Duration) error {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
