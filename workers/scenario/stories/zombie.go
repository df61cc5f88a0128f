package stories

import (
	"context"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/scenario"
)

// zombie is the promise of the fence: who lost a job cannot change it any more.
func zombie() scenario.Scenario {
	var (
		job         int64
		old, fresh  *scenario.Crew
		first, next = scenario.NewGate(), scenario.NewGate() // for the first attempt, and for those after it
	)
	work := func(ctx context.Context, job *queue.Job) error {
		if job.Attempts == 1 {
			return first.Wait(ctx, job.ID)
		}
		return next.Wait(ctx, job.ID)
	}
	return scenario.Scenario{
		Name:  "zombie",
		Title: "A zombie comes back",
		Shows: "A worker that was cut off past the end of its lease does not know that its job is another's by now. " +
			"Each claim writes a token of its own into the row; with an old token nothing can be written.",
		Needs: scenario.Queue, Lasts: 4 * time.Second, Quick: true,
		Setup: func(ctx context.Context, s *scenario.Stage) (err error) {
			if old, err = s.Crew(ctx, scenario.CrewOptions{Workers: []string{"w1"}, Work: work}); err != nil {
				return err
			}
			fresh, err = s.Crew(ctx, scenario.CrewOptions{Work: work})
			return err
		},
		Steps: []scenario.Step{
			{
				Name: "w1 takes a job",
				Say: "We enqueue one job. w1 claims it and writes a token of its own into the row, such as w1#1; EVENTS show which. " +
					"Only who shows the row's token may write how the job ended.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					jobs, err := s.Enqueue(ctx, queue.NewJob{})
					if err == nil {
						job = jobs[0]
					}
					return err
				},
				Expect: []scenario.Expect{
					{Text: "the job is leased, and w1 is at work on it", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						now, err := s.Job(ctx, job)
						ok := now.Status == queue.Processing && s.Runs("w1", job, 1)
						if ok {
							s.Note("w1", fmt.Sprintf("the row of job %d has its token, %s", job, scenario.ShortToken(now.LockedBy)))
						}
						return ok, fmt.Sprintf("it is %s", now.Status), err
					}},
				},
			},
			{
				Name: "w1 is frozen",
				Say: "w2 joins, in another process. We freeze w1: its handler goes on, but nothing that it sends, no heartbeat, gets out. " +
					"Its lease of 2 s runs out, and w2 takes the job over, with a new token. Then w1 thaws.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					if err := fresh.Pool.SpawnAs("w2", []string{s.Queue("")}, 1); err != nil {
						return err
					}
					return old.Pool.Freeze("w1")
				},
				Expect: []scenario.Expect{
					{Text: "w2 is at work on the job, at attempt 2", Within: 4 * time.Second, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						now, err := s.Job(ctx, job)
						ok := now.Attempts == 2 && s.Runs("w2", job, 2)
						if ok {
							s.Note("w2", fmt.Sprintf("takes job %d over; the row has %s now", job, scenario.ShortToken(now.LockedBy)))
						}
						return ok, fmt.Sprintf("it is %s at attempt %d", now.Status, now.Attempts), err
					}},
					{Text: "w1 has thawed, and is still at attempt 1", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						state := s.Worker("w1").State
						return state == workers.Busy && s.Runs("w1", job, 1), fmt.Sprintf("w1 is %s", state), nil
					}},
				},
			},
			{
				Name: "w1 writes too late",
				Say: "Two workers have one job in hand. w1 will be done first, and write effect and completion in one transaction. " +
					"But the row has w2's token: w1's matches no row, and all that it wrote is undone. Watch for ⊘.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					first.Open()
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "w1's late completion is fenced: it matches no row", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						n := old.Pool.Fenced()
						return n == 1, fmt.Sprintf("%d writes were fenced", n), nil
					}},
					{Text: "the job is w2's as before, and had no effect yet", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						now, err := s.Job(ctx, job)
						if err != nil {
							return false, "", err
						}
						effects, err := s.Effects(ctx, job)
						owner := scenario.NameOf(now.LockedBy)
						return owner == "w2" && now.Attempts == 2 && len(effects) == 0,
							fmt.Sprintf("it is %s, held by %q, with %d effects", now.Status, owner, len(effects)), err
					}},
				},
			},
			{
				Name: "w2 finishes",
				Say: "Now w2 may finish. Its token is the one in the row, so its effect will count and the job be completed. " +
					"Of the two that worked on it the ledger will have one.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					next.Open()
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "the job is completed", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) { return s.AllCompleted(ctx, job) }},
					{Text: "the one effect in the ledger is w2's", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						effects, err := s.Effects(ctx, job)
						return len(effects) == 1 && effects[0].Worker == "w2" && effects[0].Attempt == 2, fmt.Sprintf("%+v", effects), err
					}},
				},
			},
		},
		Measures: []scenario.Measure{
			{
				Name: "effects", Text: "effects of the job", Bound: scenario.Exactly(1),
				Value: func(ctx context.Context, s *scenario.Stage) (float64, error) {
					effects, err := s.Effects(ctx, job)
					return float64(len(effects)), err
				},
			},
			{
				Name: "fenced", Text: "stale writes fenced", After: 3, Bound: scenario.Exactly(1),
				Value: func(ctx context.Context, s *scenario.Stage) (float64, error) {
					return float64(old.Pool.Fenced() + fresh.Pool.Fenced()), nil
				},
			},
		},
	}
}
