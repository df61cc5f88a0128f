package scenario

import (
	"slices"

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

// Completed is how many jobs the story's workers have completed.
func (s *Stage) Completed() (n uint64) {
	for _, m := range s.members() {
		n += m.Completed
	}
	return n
}
