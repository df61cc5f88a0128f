package scenario

import (
	"context"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// crash is the first promise: a job whose worker dies is done by another.
func crash() Scenario {
	var (
		crew    *Crew
		gate    = NewGate()
		jobs    []int64
		victim  = int64(0)
		crashed time.Time // by the database's clock
	)
	return Scenario{
		Name:  "crash",
		Title: "A worker crashes in mid-job",
		Shows: "A job is never lost with its worker: when the lease runs out, another worker takes the job over and finishes it.",
		Needs: Queue, Lasts: 4 * time.Second, Quick: true,
		Setup: func(ctx context.Context, s *Stage) (err error) {
			crew, err = s.Crew(ctx, CrewOptions{
				Workers: []string{"w1", "w2"},
				Work:    func(ctx context.Context, job *queue.Job) error { return gate.Wait(ctx, job.ID) },
			})
			return err
		},
		Steps: []Step{
			{
				Say: "Two workers wait for work. We enqueue two jobs; each worker claims one and holds it by a lease of 2 s, which its heartbeats renew.",
				Do: func(ctx context.Context, s *Stage) (err error) {
					jobs, err = s.Enqueue(ctx, queue.NewJob{}, queue.NewJob{})
					return err
				},
				Expect: []Expect{
					{Text: "w1 and w2 hold one job each", Holds: func(ctx context.Context, s *Stage) (bool, string, error) {
						a, b, err := s.HeldBy(ctx, jobs[0], jobs[1])
						if a == "w1" {
							victim = jobs[0]
						} else {
							victim = jobs[1]
						}
						return a != b && a != "" && b != "", fmt.Sprintf("they are held by %q and %q", a, b), err
					}},
				},
			},
			{
				Say: "We kill w1 in the middle of its job. Nothing is cleaned up: to the database it is a process that died. Its row still says that w1 has the job, until the lease runs out.",
				Do: func(ctx context.Context, s *Stage) (err error) {
					if crashed, err = s.Now(ctx); err != nil {
						return err
					}
					return crew.Pool.Kill("w1")
				},
				Expect: []Expect{
					{Text: "the lease runs out, the job goes back to pending", Within: 3 * time.Second, Holds: func(ctx context.Context, s *Stage) (bool, string, error) {
						job, err := s.Job(ctx, victim)
						return err == nil && len(job.Errors) == 1, fmt.Sprintf("it is %s", job.Status), err
					}},
				},
			},
			{
				Say: "Now w2 has its own job done, and takes over the orphan: the same job, its second attempt.",
				Do: func(ctx context.Context, s *Stage) error {
					gate.Open()
					return nil
				},
				Expect: []Expect{
					{Text: "both jobs are completed", Holds: func(ctx context.Context, s *Stage) (bool, string, error) { return s.AllCompleted(ctx, jobs...) }},
					{Text: "the orphan at its second attempt", Holds: func(ctx context.Context, s *Stage) (bool, string, error) {
						job, err := s.Job(ctx, victim)
						return job.Attempts == 2, fmt.Sprintf("attempt %d", job.Attempts), err
					}},
				},
			},
		},
		Measures: []Measure{{
			Name: "recovery", Text: "from the crash until the job was pending again", Unit: "s", Bound: AtMost(2.25), Timed: true,
			Value: func(ctx context.Context, s *Stage) (float64, error) {
				job, err := s.Job(ctx, victim)
				if err != nil {
					return 0, err
				}
				return job.Errors[0].At.Sub(crashed).Seconds(), nil
			},
		}},
	}
}
