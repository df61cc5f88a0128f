package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
)

// LookEvery is how often the audience's picture of the queue is renewed, and so how quick
// things may be that it is to see one by one.
const LookEvery = 100 * time.Millisecond

// lookShare is what part of the time looking takes at most, where it is slow.
const lookShare = 10

// observe has the audience's picture of the queue kept current until the stage is struck.
// What became of the jobs is counted apart: where they are many that takes longer.
func (s *Stage) observe(ctx context.Context) {
	ctx, s.watch = context.WithCancel(ctx)
	jobs := func(ctx context.Context) time.Duration {
		cost := s.look(ctx)
		s.showWorkers()
		return cost
	}
	counts := func(ctx context.Context) time.Duration {
		_, cost, _ := s.count(ctx) // the picture says whether it could
		return cost
	}
	for _, look := range []struct {
		at  func(context.Context) time.Duration
		now <-chan struct{}
	}{{jobs, s.soon}, {counts, nil}} {
		s.watched.Go(func() {
			timer := time.NewTimer(0)
			defer timer.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-timer.C:
				case <-look.now:
				}
				timer.Reset(max(LookEvery, lookShare*look.at(ctx)))
			}
		})
	}
}

// lookNow has the picture of the queue renewed at once.
func (s *Stage) lookNow() {
	select {
	case s.soon <- struct{}{}:
	default: // that is asked for already
	}
}

// look reads how the jobs stand, and tells how long that kept the database busy. While it
// cannot be reached the picture stays as it was, and says how old it is.
func (s *Stage) look(ctx context.Context) (cost time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	began := time.Now()
	queues := s.allQueues(false)
	depths, err := s.Depths(ctx)
	if err != nil {
		return 0
	}
	rows, err := s.Q.Pool().Query(ctx, s.Q.Schema().Query("scenario_leases"), queues)
	if err != nil {
		return 0
	}
	read := time.Now()
	held := map[queue.Lease]bool{}
	leases, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l Lease, err error) {
		var owner string
		var left float64
		err = row.Scan(&l.Job, &owner, &l.Attempt, &left)
		held[queue.Lease{ID: l.Job, Token: owner}] = true
		l.Worker, l.Expires = NameOf(owner), read.Add(time.Duration(left*float64(time.Second)))
		return l, err
	})
	if err != nil {
		return 0
	}
	hidden := map[string]bool{}
	for _, m := range s.members() {
		hidden[m.Name] = hidden[m.Name] || m.unlisted
	}
	leases = slices.DeleteFunc(leases, func(l Lease) bool { return hidden[l.Worker] })
	s.play.board.touch(func(b *Picture) (news bool) {
		s.mu.Lock()
		leases = append(leases, s.leaseless.jobs...)
		s.mu.Unlock()
		b.Looked = read
		if !slices.Equal(b.Depths, depths) || !slices.EqualFunc(b.Leases, leases, sameLease) {
			b.Depths, b.Leases, news = depths, leases, true
		}
		return news
	})
	if s.play.scenario.Needs == Queue {
		s.noteLosses(ctx, held)
	}
	return time.Since(began)
}

// count counts what must hold in every story, shows it, and tells how long that kept the
// database busy. The error says why it could not be.
func (s *Stage) count(ctx context.Context) (inv Invariants, cost time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	defer time.AfterFunc(staleAfter, s.missed).Stop()
	inv, cost, err = s.invariants(ctx)
	switch {
	case errors.Is(err, errSwept):
		s.play.cancel(errSwept)
	case errors.Is(ctx.Err(), context.Canceled): // nobody asks any more
		return inv, cost, ctx.Err()
	}
	if err != nil {
		s.missed()
		return inv, cost, err
	}
	s.play.board.touch(func(b *Picture) (news bool) {
		before := b.Invariants
		before.Counted = inv.Counted
		news = before != inv
		b.Invariants = inv
		return news
	})
	return inv, cost, nil
}

// missed shows that what must hold was not counted.
func (s *Stage) missed() {
	s.play.board.touch(func(b *Picture) (news bool) {
		news = !b.Invariants.Missed
		b.Invariants.Missed = true
		return news
	})
}

// sameLease tells whether a lease is as it was: to read it takes a different time each time.
func sameLease(a, b Lease) bool {
	return a.Job == b.Job && a.Worker == b.Worker && a.Attempt == b.Attempt && a.Expires.Sub(b.Expires).Abs() < LookEvery/2
}

// Depths are the depths of the story's queues.
func (s *Stage) Depths(ctx context.Context) ([]Depth, error) {
	rows, err := s.Q.Pool().Query(ctx, s.Q.Schema().Query("scenario_depth"), s.allQueues(false))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (d Depth, err error) {
		err = row.Scan(&d.Queue, &d.Pending, &d.Processing, &d.Completed, &d.Failed, &d.Dead)
		return d, err
	})
}

// NameOf is the worker's name in a fencing token, or the whole owner where it is none of ours.
func NameOf(owner string) string {
	if token, ok := queue.ParseToken(owner); ok {
		return token.Worker
	}
	return owner
}

// showWorkers shows the workers as they are.
func (s *Stage) showWorkers() {
	if s.over() {
		return
	}
	var all []Worker
	for _, m := range s.members() {
		if m.unlisted {
			continue
		}
		all = append(all, Worker{Name: m.Name, State: string(m.State), Slots: m.Slots, Pid: m.pid})
	}
	s.mu.Lock()
	all = append(all, s.leaseless.workers...)
	for i := range all {
		all[i].State = cmp.Or(s.said[all[i].Name], all[i].State)
	}
	s.mu.Unlock()
	s.play.board.touch(func(b *Picture) bool {
		runs := s.runs.of(all)
		news := !slices.Equal(b.Workers, all) || !slices.Equal(b.Runs, runs)
		b.Workers, b.Runs = all, runs
		return news
	})
}

// Invariants counts now what must hold in every story. [Stage.Picture] has what was counted last.
func (s *Stage) Invariants(ctx context.Context) (Invariants, error) {
	i, _, err := s.invariants(ctx)
	return i, err
}

func (s *Stage) invariants(ctx context.Context) (i Invariants, cost time.Duration, err error) {
	s.mu.Lock()
	began := time.Now()
	acked := slices.Clone(s.acked)
	i = Invariants{Recovery: s.recovery, Lease: s.lease, Overlaps: s.overlaps.Count(), Overlap: s.overlaps.Worst(), Exempt: len(s.exempt) > 0}
	i.Entered = len(s.crews)+len(s.processes) > 0
	s.mu.Unlock()
	i.Fenced = s.fenced()
	entered := true
	err = surely(ctx, func(ctx context.Context) error {
		asked := time.Now() // tries before, while the server was away, cost it nothing
		defer func() { cost = time.Since(asked) }()
		return s.Q.Pool().QueryRow(ctx, s.Q.Schema().Query("scenario_ledger"), s.run, acked, s.allQueues(true)).
			Scan(&i.Effects, &i.Doubled, &i.Lost, &entered)
	})
	switch {
	case err != nil:
		return i, 0, fmt.Errorf("count what must hold: %w", err)
	case !entered:
		return i, cost, errSwept
	}
	i.Known, i.Counted = true, began
	i.Entered = i.Entered || i.Effects > 0
	return i, cost, nil
}
