package stories

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/faults"
	"github.com/leasetop/leasetop/workers/scenario"
)

// breakage breaks things by lot, and mends each after a while. One goroutine does all of
// it, so that what is drawn depends on the seed.
type breakage struct {
	crews     []*scenario.Crew
	processes []*faults.Process
	named     int          // workers so far
	busy      map[any]bool // what is broken already: cables and processes
	mends     []mend
	counts    map[string]int
}

// mend is what ends a fault.
type mend struct {
	at time.Time
	do func(ctx context.Context) error
}

// breaks is a kind of fault. happens reports whether there was anything to break.
type breaks struct {
	name    string
	share   int // how often it is drawn, against the others
	happens func(b *breakage, ctx context.Context, s *scenario.Stage) (bool, error)
}

// all of them, in an order that the seed's draws rely on.
var allBreaks = []breaks{
	{"crash", 6, (*breakage).crash},
	{"kill -9", 4, (*breakage).kill},
	{"freeze", 4, (*breakage).freeze},
	{"suspend", 3, (*breakage).suspend},
	{"partition", 4, (*breakage).partition},
	{"cut", 4, (*breakage).cut},
	{"slow network", 4, (*breakage).slow},
	{"lost wake-ups", 3, (*breakage).deafen},
	{"drain", 3, (*breakage).drain},
	{"burst", 2, (*breakage).burst},
	{"server restart", 2, (*breakage).restart},
}

const (
	soakCrews     = 3
	soakWorkers   = 2 // in each
	soakProcesses = 2
	soakSlots     = 4
	soakBurst     = 200
)

// setUp starts the workers.
func (b *breakage) setUp(ctx context.Context, s *scenario.Stage) error {
	for range soakCrews {
		crew, err := s.Crew(ctx, scenario.CrewOptions{Slots: soakSlots, Lease: soakLease, Conns: 8, Backoff: promptly, Work: scenario.Labour})
		if err != nil {
			return err
		}
		b.crews = append(b.crews, crew)
		for range soakWorkers {
			if err := b.spawn(s, crew); err != nil {
				return err
			}
		}
	}
	for range soakProcesses {
		if err := b.launch(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// name is the next worker's.
func (b *breakage) name() string {
	b.named++
	return "w" + strconv.Itoa(b.named)
}

// spawn adds a worker to a crew, and takes those off its list that are gone.
func (b *breakage) spawn(s *scenario.Stage, crew *scenario.Crew) error {
	for _, w := range crew.Pool.Workers() {
		if w.State == workers.Crashed || w.State == workers.Stopped {
			_ = crew.Remove(w.Name)
		}
	}
	return crew.Pool.SpawnAs(b.name(), []string{s.Queue("")}, soakSlots)
}

// launch starts a worker process.
func (b *breakage) launch(ctx context.Context, s *scenario.Stage) error {
	p, err := s.Process(ctx, scenario.ProcessOptions{Name: b.name(), Slots: soakSlots, Lease: soakLease, Handlers: soakHandlers})
	if err == nil {
		b.processes = append(b.processes, p)
	}
	return err
}

// next breaks one thing. What there is nothing of to be broken is drawn again.
func (b *breakage) next(ctx context.Context, s *scenario.Stage) error {
	shares := 0
	for _, one := range allBreaks {
		shares += one.share
	}
	for range 20 {
		drawn := s.Rand.IntN(shares)
		i := slices.IndexFunc(allBreaks, func(one breaks) bool { drawn -= one.share; return drawn < 0 })
		one := allBreaks[i]
		happened, err := one.happens(b, ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
		if happened {
			b.counts[one.name]++
			s.Bar(scenario.Bar{Name: one.name, Value: float64(b.counts[one.name])})
			s.Note("", one.name)
			return nil
		}
	}
	return nil
}

// total is how many faults there were.
func (b *breakage) total() (n int) {
	for _, one := range b.counts {
		n += one
	}
	return n
}

// later has something mended after a while.
func (b *breakage) later(after time.Duration, do func(ctx context.Context) error) {
	b.mends = append(b.mends, mend{time.Now().Add(after), do})
	slices.SortStableFunc(b.mends, func(x, y mend) int { return x.at.Compare(y.at) })
}

// rest waits, and mends what is due meanwhile.
func (b *breakage) rest(ctx context.Context, s *scenario.Stage, until time.Time) error {
	for {
		wait := until
		if len(b.mends) > 0 && b.mends[0].at.Before(until) {
			wait = b.mends[0].at
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Until(wait)):
		}
		if len(b.mends) == 0 || b.mends[0].at.After(wait) {
			return nil
		}
		if err := b.mendFirst(ctx); err != nil {
			return err
		}
	}
}

func (b *breakage) mendFirst(ctx context.Context) error {
	first := b.mends[0]
	b.mends = b.mends[1:]
	return first.do(ctx)
}

// mend mends all that is broken, now.
func (b *breakage) mend(ctx context.Context) error {
	var errs []error
	for len(b.mends) > 0 {
		errs = append(errs, b.mendFirst(ctx))
	}
	return errors.Join(errs...)
}

// worker draws a worker that is at work, or waits for it.
func (b *breakage) worker(s *scenario.Stage) (*scenario.Crew, string) {
	crew := b.crews[s.Rand.IntN(len(b.crews))]
	var well []string
	for _, w := range crew.Pool.Workers() {
		if w.State == workers.Idle || w.State == workers.Busy {
			well = append(well, w.Name)
		}
	}
	if len(well) == 0 {
		return crew, ""
	}
	return crew, well[s.Rand.IntN(len(well))]
}

func (b *breakage) crash(_ context.Context, s *scenario.Stage) (bool, error) {
	crew, worker := b.worker(s)
	if worker == "" || crew.Pool.Kill(worker) != nil {
		return false, nil
	}
	b.later(between(s.Rand, 0, 2*time.Second), func(context.Context) error { return b.spawn(s, crew) })
	return true, nil
}

func (b *breakage) drain(_ context.Context, s *scenario.Stage) (bool, error) {
	crew, worker := b.worker(s)
	if worker == "" || crew.Pool.Drain(worker) != nil {
		return false, nil
	}
	b.later(between(s.Rand, 0, time.Second), func(context.Context) error { return b.spawn(s, crew) })
	return true, nil
}

// freeze makes a zombie, which comes back by itself.
func (b *breakage) freeze(_ context.Context, s *scenario.Stage) (bool, error) {
	crew, worker := b.worker(s)
	return worker != "" && crew.Pool.Freeze(worker) == nil, nil
}

// cable draws a crew whose network is well, breaks it, and has it mended.
func (b *breakage) cable(s *scenario.Stage, most time.Duration, how func(*faults.Cable)) (bool, error) {
	cable := b.crews[s.Rand.IntN(len(b.crews))].Cable
	if b.busy[cable] {
		return false, nil
	}
	b.busy[cable] = true
	how(cable)
	b.later(between(s.Rand, 0, most), func(context.Context) error {
		cable.Heal()
		delete(b.busy, cable)
		return nil
	})
	return true, nil
}

func (b *breakage) partition(_ context.Context, s *scenario.Stage) (bool, error) {
	return b.cable(s, 2*soakLease, (*faults.Cable).Stall)
}

func (b *breakage) cut(_ context.Context, s *scenario.Stage) (bool, error) {
	return b.cable(s, soakLease, (*faults.Cable).Cut)
}

func (b *breakage) slow(_ context.Context, s *scenario.Stage) (bool, error) {
	late := between(s.Rand, time.Millisecond, 100*time.Millisecond)
	return b.cable(s, 2*soakLease, func(c *faults.Cable) { c.Delay(late) })
}

// process draws a process that is well.
func (b *breakage) process(s *scenario.Stage) *faults.Process {
	if len(b.processes) == 0 {
		return nil
	}
	p := b.processes[s.Rand.IntN(len(b.processes))]
	if b.busy[p] {
		return nil
	}
	return p
}

func (b *breakage) kill(ctx context.Context, s *scenario.Stage) (bool, error) {
	p := b.process(s)
	if p == nil {
		return false, nil
	}
	if err := p.Kill(); err != nil {
		return false, err
	}
	b.processes = slices.DeleteFunc(b.processes, func(other *faults.Process) bool { return other == p })
	b.later(between(s.Rand, 0, 2*time.Second), func(ctx context.Context) error {
		s.Forget(p)
		return b.launch(ctx, s)
	})
	return true, nil
}

// suspend makes a zombie of a whole process.
func (b *breakage) suspend(_ context.Context, s *scenario.Stage) (bool, error) {
	p := b.process(s)
	if p == nil {
		return false, nil
	}
	if err := p.Suspend(); err != nil {
		return false, err
	}
	b.busy[p] = true
	b.later(between(s.Rand, time.Second, 2*soakLease), func(context.Context) error {
		delete(b.busy, p)
		return p.Resume()
	})
	return true, nil
}

// deafen ends the sessions on which workers hear of new jobs.
func (b *breakage) deafen(ctx context.Context, s *scenario.Stage) (bool, error) {
	names := []string{b.crews[0].Queue.ConnConfig().RuntimeParams["application_name"]}
	for _, p := range b.processes {
		names = append(names, p.AppName())
	}
	n, err := faults.TerminateListeners(ctx, s.Q, names...)
	return n > 0, err
}

// burst is more work at once than there are hands.
func (b *breakage) burst(ctx context.Context, s *scenario.Stage) (bool, error) {
	jobs := make([]queue.NewJob, soakBurst)
	for i := range jobs {
		jobs[i] = soakJob(s.Rand)
	}
	_, err := s.Enqueue(ctx, jobs...)
	return true, err
}

func (b *breakage) restart(ctx context.Context, s *scenario.Stage) (bool, error) {
	mode := local.Fast
	if s.Rand.IntN(2) == 0 {
		mode = local.Immediate
	}
	err := faults.RestartServer(ctx, s.Server, mode, nil)
	s.Q.Pool().Reset() // what breaks next needs a connection that stands
	return true, err
}
