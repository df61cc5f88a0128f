package scenario

import "slices"

// leaseless is what the story tells of those who work without a lease, of whom no table
// and no pool of workers knows.
type leaseless struct {
	workers []Worker // in the order in which they were told of
	jobs    []Lease  // without an end
}

// Working tells that a worker which no crew has works on a job without a lease.
func (s *Stage) Working(worker string, job int64) {
	s.mu.Lock()
	s.leaseless.turns(worker, "busy")
	s.leaseless.jobs = append(s.leaseless.jobs, Lease{Job: job, Worker: worker, Attempt: 1})
	s.mu.Unlock()
	s.showLeaseless()
}

// Idle tells that such a worker works on nothing any more.
func (s *Stage) Idle(worker string) {
	s.mu.Lock()
	s.leaseless.turns(worker, "idle")
	s.leaseless.jobs = slices.DeleteFunc(s.leaseless.jobs, func(l Lease) bool { return l.Worker == worker })
	s.mu.Unlock()
	s.showLeaseless()
}

// turns notes the state of a worker, who may be new.
func (l *leaseless) turns(worker, state string) {
	i := slices.IndexFunc(l.workers, func(w Worker) bool { return w.Name == worker })
	if i < 0 {
		i = len(l.workers)
		l.workers = append(l.workers, Worker{Name: worker, Slots: 1})
	}
	l.workers[i].State = state
}

// showLeaseless shows them as they are now, and not with the next look.
func (s *Stage) showLeaseless() {
	s.play.board.change(func(b *Picture) {
		s.mu.Lock()
		defer s.mu.Unlock()
		held := slices.DeleteFunc(slices.Clone(b.Leases), func(l Lease) bool { return l.Expires.IsZero() })
		b.Leases = append(held, s.leaseless.jobs...)
	})
	s.showWorkers()
}
