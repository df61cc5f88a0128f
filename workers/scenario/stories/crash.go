package stories

import (
	"context"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/scenario"
)

// crash is the first promise: a job whose worker dies is done by another.
func crash() scenario.Scenario {
	var (
		crew    *scenario.Crew
		gate    = scenario.NewGate()
		jobs    []int64
		orphan  int64
		crashed time.Time // by the database's clock
	)
	return scenario.Scenario{
		Name:  "crash",
		Title: "A worker crashes in mid-job",
		Shows: "A job is never lost with its worker: when the lease runs out, another worker takes the job over and finishes it.",
		Needs: scenario.Queue, Lasts: 4 * time.Second, Quick: true,
		Setup: func(ctx context.Context, s *scenario.Stage) (err error) {
			crew, err = s.Crew(ctx, scenario.CrewOptions{
				Workers: []string{"w1", "w2"},
				Work:    func(ctx context.Context, job *queue.Job) error { return gate.Wait(ctx, job.ID) },
			})
			return err
		},
		Steps: []scenario.Step{
			{
				Name: "Each takes a job",
				Say: "Two workers wait. We enqueue two jobs, and each worker claims one: it will hold it by a lease of 2 s, " +
					"which heartbeats renew. Both jobs take long.",
				Do: func(ctx context.Context, s *scenario.Stage) (err error) {
					jobs, err = s.Enqueue(ctx, queue.NewJob{}, queue.NewJob{})
					return err
				},
				Expect: []scenario.Expect{
					{Text: "w1 and w2 hold one job each", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						for _, id := range jobs {
							if s.Runs("w1", id, 1) {
								orphan = id
							}
						}
						ok, seen, err := s.Held(ctx, jobs, "w1", "w2")
						return ok && orphan != 0, seen, err
					}},
				},
			},
			{
				Name: "w1 crashes",
				Say: "We crash w1 in mid-job. Nothing is cleaned up: to the database it is a process that died. " +
					"Its row names w1 until the lease runs out (░), up to 2 s later; then the job is back.",
				Do: func(ctx context.Context, s *scenario.Stage) (err error) {
					if crashed, err = s.Now(ctx); err != nil {
						return err
					}
					return crew.Pool.Kill("w1")
				},
				Expect: []scenario.Expect{
					{Text: "the lease runs out, the job goes back to pending", Within: 3 * time.Second, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						job, err := s.Job(ctx, orphan)
						return job.Status == queue.Pending && len(job.Errors) == 1, fmt.Sprintf("it is %s", job.Status), err
					}},
					{Text: "w2 still has its own, at attempt 1", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						ok, seen, err := s.Held(ctx, jobs, "w2")
						return ok && (s.Runs("w2", jobs[0], 1) || s.Runs("w2", jobs[1], 1)), seen, err
					}},
				},
			},
			{
				Name: "w2 takes over",
				Say: "The orphan waits, for w2 has its hands full. Now w2 may finish its own job. " +
					"Watch the letter: the job that w1 lost begins again in w2's lane, at its second attempt.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					for _, id := range jobs {
						if id != orphan {
							gate.Pass(id)
						}
					}
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "w2 is at work on the orphan, attempt 2", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						_, seen, err := s.Held(ctx, []int64{orphan}, "w2")
						ok := s.Runs("w2", orphan, 2)
						if ok {
							s.Note("w2", fmt.Sprintf("takes job %d over: its second attempt", orphan))
						}
						return ok, seen, err
					}},
				},
			},
			{
				Name: "w2 finishes both",
				Say:  "Now w2 may finish that too. w1 never came back, and nothing will be missing: both jobs are completed, each with one effect.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					gate.Open()
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "both jobs are completed", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.AllCompleted(ctx, jobs...)
					}},
					{Text: "the orphan had one effect, and it is w2's", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						effects, err := s.Effects(ctx, orphan)
						return len(effects) == 1 && effects[0].Attempt == 2 && effects[0].Worker == "w2", fmt.Sprintf("%+v", effects), err
					}},
				},
			},
		},
		Measures: []scenario.Measure{{
			Name: "recovery", Text: "crash until pending", Unit: "s",
			After: 2, Bound: scenario.AtMost((scenario.UsualLease + workers.RecoveryBound).Seconds()), Timed: true,
			Value: func(ctx context.Context, s *scenario.Stage) (float64, error) {
				return recovery(ctx, s, crashed, orphan)
			},
		}},
	}
}

// recovery is how long after a moment of the database's clock the last of these jobs was
// pending again, in seconds.
func recovery(ctx context.Context, s *scenario.Stage, since time.Time, ids ...int64) (float64, error) {
	var worst time.Duration
	for _, id := range ids {
		job, err := s.Job(ctx, id)
		if err != nil {
			return 0, err
		}
		if len(job.Errors) == 0 {
			return 0, fmt.Errorf("job %d was never taken back", id)
		}
		worst = max(worst, job.Errors[0].At.Sub(since))
	}
	return worst.Seconds(), nil
}
