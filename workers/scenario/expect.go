package scenario

import (
	"context"
	"fmt"
	"slices"

	"github.com/leasetop/leasetop/queue"
)

// Job reads a job, with its history. The job is empty, not nil, when that fails.
func (s *Stage) Job(ctx context.Context, id int64) (*queue.Job, error) {
	job, err := s.Q.Get(ctx, id)
	if err != nil {
		return &queue.Job{}, err
	}
	return job, nil
}

// AllCompleted tells whether all these jobs are completed, and how one of them is that is not.
func (s *Stage) AllCompleted(ctx context.Context, ids ...int64) (bool, string, error) {
	jobs, err := s.Q.ByID(ctx, ids...)
	if err != nil {
		return false, "", err
	}
	n, other := 0, ""
	for i := range jobs {
		if job := &jobs[i]; job.Status == queue.Completed {
			n++
		} else {
			other = fmt.Sprintf("; job %d is %s at attempt %d", job.ID, job.Status, job.Attempts)
			if job.LastError != "" {
				other += fmt.Sprintf(": %.100s", job.LastError)
			}
		}
	}
	return n == len(ids), fmt.Sprintf("%d of %d are completed%s", n, len(ids), other), nil
}

// Held tells whether these workers hold these jobs, one each.
func (s *Stage) Held(ctx context.Context, ids []int64, workers ...string) (bool, string, error) {
	jobs, err := s.Q.ByID(ctx, ids...)
	if err != nil {
		return false, "", err
	}
	var by []string
	for i := range jobs {
		if jobs[i].Status == queue.Processing {
			by = append(by, NameOf(jobs[i].LockedBy))
		}
	}
	slices.Sort(by)
	return slices.Equal(by, workers), fmt.Sprintf("they are held by %q", by), nil
}

// Wasted is how many of the story's jobs took more than one attempt, or met anything else
// that their history tells of.
func (s *Stage) Wasted(ctx context.Context) (n int64, err error) {
	err = s.Q.Pool().QueryRow(ctx, s.Q.Schema().Query("scenario_wasted"), s.allQueues(true)).Scan(&n)
	return n, err
}
