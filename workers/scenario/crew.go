package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/faults"
	"github.com/leasetop/leasetop/workers/internal/without"
)

// Crew stands for one process of workers: connections of its own through a cable of its
// own, heartbeats, a reaper, LISTEN.
type Crew struct {
	Pool  *workers.Pool
	Queue *queue.Queue
	Cable *faults.Cable
	stage *Stage

	unlisted bool
}

// CrewOptions say what a crew is.
type CrewOptions struct {
	Workers []string      // their names, as the story calls them: "w1"
	Queues  []string      // the story's names, in strict order; none is the story's only queue
	Slots   int           // of each worker; 0 is 1
	Lease   time.Duration // 0 is 2 s
	Backoff queue.Backoff // after retryable errors; nil is what the runtime has
	Conns   int32         // connections for claims and outcomes; 0 is 4
	PollMin time.Duration // as workers.Options have it
	PollMax time.Duration
	// Work does a job, whatever its kind, before the effect is entered and the job
	// completed in one transaction. nil does nothing.
	Work func(ctx context.Context, job *queue.Job) error
	// Handlers replaces all that: it sets up the handlers itself.
	Handlers func(c *Crew, h *workers.Handlers)
	// Listener is a cable for the session on which it hears of new work, besides the
	// crew's own; nil is none.
	Listener *faults.Cable
	// Unlisted crews have no lanes: they are so many, or their jobs so short, that lanes would
	// tell nothing.
	Unlisted bool
}

// UsualLease is the lease of crews and processes of which nothing else is said. It is
// short, so that an audience need not wait long for what a lease is about.
const UsualLease = 2 * time.Second

// Crew starts a crew. It ends with the play.
func (s *Stage) Crew(ctx context.Context, o CrewOptions) (*Crew, error) {
	if o.Lease == 0 {
		o.Lease = UsualLease
	}
	c := &Crew{stage: s, Cable: faults.NewCable(), unlisted: o.Unlisted}
	config := s.Q.Pool().Config()
	c.Cable.Through(config.ConnConfig)
	app := "leasetop scenario " + s.run
	if o.Listener != nil {
		o.Listener.ThroughListener(config.ConnConfig, app)
		s.Later("take the listener's cable away", func(context.Context) error {
			o.Listener.Close()
			return nil
		})
	}
	q, err := faults.Open(ctx, config, s.Q.Schema().Name(), max(o.Conns, 4), app)
	if err != nil {
		return nil, err
	}
	c.Queue = q
	handlers := workers.NewHandlers()
	handlers.Use(s.runs.note, s.noteOverlaps)
	names := o.Queues
	if len(names) == 0 {
		names = []string{""}
	}
	full := make([]string, len(names))
	for i, name := range names {
		full[i] = s.Queue(name)
	}
	if o.Handlers != nil {
		o.Handlers(c, handlers)
	} else {
		var options []workers.HandlerOption
		switch {
		case s.Lacks(without.Backoff):
			options = append(options, workers.WithBackoff(func(int) time.Duration { return 0 }))
		case o.Backoff != nil:
			options = append(options, workers.WithBackoff(o.Backoff))
		}
		for _, name := range full {
			handlers.Queue(name, c.Handler(o.Work), options...)
		}
	}
	c.Pool, err = workers.New(q, handlers, workers.Options{
		Lease: o.Lease, PollMin: o.PollMin, PollMax: o.PollMax, Events: s.hearing(c),
		Reaps: full, // others' jobs may lie beside them
	})
	if err != nil {
		q.Pool().Close()
		return nil, err
	}
	s.mu.Lock()
	s.crews = append(s.crews, c)
	s.noteLease(o.Lease)
	s.mu.Unlock()
	s.Later("end the workers", c.end)
	if err := c.Pool.Start(context.WithoutCancel(s.ctx)); err != nil { // what it carries is for tests
		return nil, err
	}
	for _, name := range o.Workers {
		if err := c.Pool.SpawnAs(name, full, max(o.Slots, 1)); err != nil {
			return nil, err
		}
	}
	s.showWorkers()
	return c, nil
}

// end ends a crew, whatever state it is in: nothing of it is needed any more.
func (c *Crew) end(ctx context.Context) error {
	c.Cable.Heal()
	for _, w := range c.Pool.Workers() {
		_ = c.Pool.Kill(w.Name) // it may have ended
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	err := c.Pool.Stop(ctx)
	if errors.Is(err, workers.ErrLeft) {
		err = nil // its jobs are removed next
	}
	c.Cable.Close()
	c.Queue.Pool().Close()
	return err
}

// Remove takes a worker that has ended off the crew's list, as [workers.Pool.Remove] does.
// What it did still counts.
func (c *Crew) Remove(worker string) error {
	past := &c.stage.past
	past.mu.Lock()
	defer past.mu.Unlock()
	var completed uint64
	for _, w := range c.Pool.Workers() {
		if w.Name == worker {
			completed = w.Completed
		}
	}
	if err := c.Pool.Remove(worker); err != nil {
		return err
	}
	past.completed += completed
	return nil
}

// Handler makes a handler: work, then the effect and the completion in one transaction.
func (c *Crew) Handler(work func(ctx context.Context, job *queue.Job) error) workers.Handler {
	return func(ctx context.Context, job *queue.Job) error {
		if work != nil {
			if err := work(ctx, job); err != nil {
				return err
			}
		}
		return Complete(ctx, c.Queue, c.stage.run, job)
	}
}

// Complete enters a job's effect in the ledger, under the name of the play, and completes the
// job, in one transaction: for handlers in processes of their own. Those of a crew have it
// from [Crew.Handler].
func Complete(ctx context.Context, q *queue.Queue, run string, job *queue.Job) error {
	tx, err := q.Pool().Begin(ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) // after a commit it does nothing
	if _, err := tx.Exec(ctx, q.Schema().Query("scenario_effect"), run, job.ID, job.Attempts, job.LockedBy); err != nil {
		return fmt.Errorf("enter the effect: %w", err)
	}
	if err := workers.CompleteTx(ctx, tx); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// Effect enters an effect that is not in the completion's transaction, as one on another
// system would not be.
func (c *Crew) Effect(ctx context.Context, job *queue.Job) error {
	_, err := c.Queue.Pool().Exec(ctx, c.Queue.Schema().Query("scenario_effect"), c.stage.run, job.ID, job.Attempts, job.LockedBy)
	return err
}

// noteOverlaps is a middleware that notes which handlers run one job at a time, but for queues
// in which that is the story's point.
func (s *Stage) noteOverlaps(next workers.Handler) workers.Handler {
	noted := s.overlaps.Wrap(next)
	return func(ctx context.Context, job *queue.Job) error {
		s.mu.Lock()
		exempt := s.exempt[job.Queue]
		s.mu.Unlock()
		if exempt {
			return next(ctx, job)
		}
		return noted(ctx, job)
	}
}
