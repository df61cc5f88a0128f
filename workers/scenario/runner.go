package scenario

import (
	"slices"
	"sync"

	"github.com/leasetop/leasetop/workers"
)

// Worker is a worker as its own process sees it, which is not what the database says of
// it; the zero value when there is none of that name.
func (s *Stage) Worker(name string) workers.Snapshot {
	for _, m := range s.members() {
		if m.Name == name {
			return m.Snapshot
		}
	}
	return workers.Snapshot{}
}

// Runs tells whether a handler of the worker is at a job, at which attempt.
func (s *Stage) Runs(worker string, job int64, attempt int) bool {
	return slices.ContainsFunc(s.Worker(worker).Running, func(r workers.Running) bool {
		return r.JobID == job && r.Attempt == attempt
	})
}

// past is what workers did that are off the list. It is locked while one is taken off, and
// while all are counted, so that none is missed or counted twice.
type past struct {
	mu                sync.Mutex
	completed, fenced uint64 // fenced is of processes: pools keep their own
}

// Completed is how many jobs the story's workers have completed, those too that were removed
// since: it never falls.
func (s *Stage) Completed() int64 {
	s.past.mu.Lock()
	defer s.past.mu.Unlock()
	n := s.past.completed
	for _, m := range s.members() {
		n += m.Completed
	}
	return int64(n)
}

// fenced is how many stale writes of the story's workers matched no row.
func (s *Stage) fenced() uint64 {
	s.past.mu.Lock()
	defer s.past.mu.Unlock()
	s.mu.Lock()
	crews := slices.Clone(s.crews)
	s.mu.Unlock()
	n := s.past.fenced
	for _, c := range crews {
		n += c.Pool.Fenced()
	}
	for _, m := range s.members() {
		if m.pid != 0 {
			n += m.Fenced
		}
	}
	return n
}
