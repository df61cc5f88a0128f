package scenario

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/faults"
)

// ProcessOptions say what a worker in a process of its own does.
type ProcessOptions struct {
	Name  string // of the process and its one worker: "w1"; it is for the story's only queue
	Slots int    // 0 is 1
	Lease time.Duration
	// Handlers are those that it runs, by their registered name; "" is [Holding].
	Handlers string
}

// Holding is the kind of the jobs that worker processes do: they hold them, until they
// are killed or told to let go.
const Holding = "scenario hold"

func init() {
	faults.Register(Holding, func(*queue.Queue) *workers.Handlers {
		h := workers.NewHandlers()
		h.Kind(Holding, func(ctx context.Context, _ *queue.Job) error {
			<-ctx.Done()
			return context.Cause(ctx)
		})
		return h
	})
}

// Process starts a worker in a process of its own, which does jobs of the kind [Holding]
// when nothing else is said.
// It ends with the play.
func (s *Stage) Process(ctx context.Context, o ProcessOptions) (*faults.Process, error) {
	if o.Lease == 0 {
		o.Lease = UsualLease
	}
	s.ending.Do(func() { s.Later("end the worker processes", s.endProcesses) })
	queues := []string{s.Queue("")}
	of := &o
	handlers := cmp.Or(o.Handlers, Holding)
	p, err := faults.StartProcess(ctx, faults.ProcessOptions{
		URL: s.Q.Pool().Config().ConnString(), Schema: s.Q.Schema().Name(),
		Name: o.Name, Queues: queues, Reaps: queues, Slots: max(o.Slots, 1), Handlers: handlers, Lease: o.Lease, Events: s.hearing(of),
	})
	if err != nil {
		return nil, err
	}
	go func() {
		<-p.Done()
		s.troubles.forget(of)
	}()
	s.mu.Lock()
	s.processes = append(s.processes, p)
	s.noteLease(o.Lease)
	s.mu.Unlock()
	s.showWorkers()
	return p, nil
}

// Forget takes a process off the list, whether it has ended before or does so now. What it
// did still counts.
func (s *Stage) Forget(p *faults.Process) {
	p.Close()
	s.past.mu.Lock()
	defer s.past.mu.Unlock()
	s.mu.Lock()
	before := len(s.processes)
	s.processes = slices.DeleteFunc(s.processes, func(other *faults.Process) bool { return other == p })
	known := len(s.processes) < before
	s.mu.Unlock()
	for _, w := range p.Snapshot() {
		if known {
			s.past.completed += w.Completed
			s.past.fenced += w.Fenced
		}
	}
}

// endProcesses ends all there are.
func (s *Stage) endProcesses(context.Context) error {
	s.mu.Lock()
	processes := slices.Clone(s.processes)
	s.mu.Unlock()
	for _, p := range processes {
		p.Close()
	}
	return nil
}

// noteLease notes the shortest lease in use. The lock is held.
func (s *Stage) noteLease(lease time.Duration) {
	if s.lease == 0 || lease < s.lease {
		s.lease = lease
	}
}

// member is a worker of the story.
type member struct {
	workers.Snapshot
	pid      int  // of its process; 0 is this one
	unlisted bool // its crew is
}

// members are all workers there are: those in processes of their own, then the crews'.
func (s *Stage) members() []member {
	s.mu.Lock()
	crews, processes := slices.Clone(s.crews), slices.Clone(s.processes)
	s.mu.Unlock()
	var all []member
	for _, p := range processes {
		for _, w := range p.Snapshot() {
			all = append(all, member{w, p.Pid(), false})
		}
	}
	for _, c := range crews {
		for _, w := range c.Pool.Workers() {
			all = append(all, member{w, 0, c.unlisted})
		}
	}
	return all
}
