package command

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui"
	"github.com/leasetop/leasetop/ui/cli"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/demo"
	"github.com/leasetop/leasetop/workers/faults"
	"github.com/leasetop/leasetop/workers/overlap"
)

// shop is the demonstration with its workers, and what can be broken of it. The workers
// have connections of their own, through a cable: what is done to that parts them from the
// database, and not whoever looks on.
type shop struct {
	*demo.Demo
	crew   *faults.Crew
	damage *faults.Damage
	runs   *overlap.Recorder
	hangUp func() // ends the workers' connections
}

// shopConns are the connections of the workers in this process.
const shopConns = 10

func openShop(ctx context.Context, d *cli.Database) (*shop, error) {
	s := &shop{runs: &overlap.Recorder{}}
	cable, outside := faults.NewCable(), faults.NewDependency(rand.Uint64())
	q, hangUp, err := cable.Open(ctx, d.Queue, shopConns, fmt.Sprintf("leasetop workers %d", os.Getpid()))
	if err != nil {
		return nil, err
	}
	s.hangUp = hangUp
	handlers := demo.Handlers(q, outside, func(job *queue.Job) { faults.KillWorker(s.crew.Pool, job) })
	handlers.Use(s.runs.Wrap)
	s.crew, err = faults.NewCrew(q, handlers, demo.Named, workers.Options{Lease: demo.Lease, Grace: demo.Grace})
	if err != nil {
		hangUp()
		return nil, err
	}
	s.damage = faults.NewDamage(faults.Target{
		Queue: d.Queue, Crew: s.crew, Cable: cable, Dependency: outside, Server: d.Server(),
		Jobs: demo.Jobs, Poisoned: demo.Queues()[0],
	})
	return s, nil
}

// begin starts the workers and the demonstration, and looks what one that was killed left broken.
func (s *shop) begin(ctx context.Context, d *cli.Database) (err error) {
	if err := s.damage.Look(ctx); err != nil {
		return err
	}
	if err := s.crew.Start(ctx); err != nil {
		return err
	}
	s.Demo, err = demo.Start(ctx, d.Queue, s.crew.Pool)
	return err
}

// close ends it: the trickle, then the workers, with what runs in them released.
func (s *shop) close(ctx context.Context) error {
	if s.Demo != nil {
		s.Stop()
	}
	ctx, cancel := context.WithTimeout(ctx, demo.Farewell)
	defer cancel()
	err := s.crew.Stop(ctx)
	s.hangUp()
	return err
}

// Ledger is the demonstration's, as the screen knows it.
func (s *shop) Ledger(ctx context.Context) (ui.Ledger, error) {
	l, err := s.Demo.Ledger(ctx)
	return ui.Ledger{
		Effects: l.Effects, Doubled: l.Doubled, Lost: l.Lost,
		Overlaps: int64(s.runs.Count()), Overlap: s.runs.Worst(), Lease: demo.Lease,
	}, err
}

// healing is how long the end of the dashboard waits for what was broken: an index of a
// large table takes its time.
const healing = 30 * time.Second

// heal heals what was broken and is not yet. It says so, for it may take a while.
func heal(ctx context.Context, damage *faults.Damage) error {
	var names []string
	for _, one := range damage.Broken() {
		names = append(names, one.Title)
	}
	if len(names) > 0 {
		fmt.Fprintln(os.Stderr, "leasetop: healing "+strings.Join(names, ", "))
	}
	// What ended the dashboard was the first signal, if it was one; a second forces.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healing)
	defer cancel()
	err := damage.Close(ctx)
	if err != nil && errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: the next dashboard on this database can heal it", err)
	}
	return err
}
