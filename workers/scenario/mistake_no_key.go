package scenario

import (
	"context"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// mistakeNoKey is an effect that comes twice, beside one that is guarded by a key.
func mistakeNoKey() Scenario {
	var (
		mistake, cure *Crew
		gate          = NewGate()
		double, once  int64
	)
	effects := func(job *int64, n int, by ...string) func(ctx context.Context, s *Stage) (bool, string, error) {
		return func(ctx context.Context, s *Stage) (bool, string, error) {
			all, err := s.Effects(ctx, *job)
			whose := []string{}
			for _, e := range all {
				whose = append(whose, e.Worker)
			}
			return fmt.Sprint(whose) == fmt.Sprint(by) && len(all) == n, fmt.Sprintf("%d charges, by %v", len(all), whose), err
		}
	}
	return Scenario{
		Name:  "mistake-no-idempotency",
		Title: "Mistake: effects without a key",
		Shows: "A worker can die after the effect and before the job is completed, so every job may run twice. An effect that is noted under a key of the job's happens once.",
		Needs: Queue, Lasts: 4 * time.Second, Quick: true,
		Setup: func(ctx context.Context, s *Stage) (err error) {
			s.Exempt("mistake") // it charges twice
			mistake, err = s.Crew(ctx, CrewOptions{
				Workers: []string{"m1"}, Queues: []string{"mistake"},
				Handlers: func(c *Crew, h *workers.Handlers) {
					h.Queue(s.Queue("mistake"), func(ctx context.Context, job *queue.Job) error {
						if err := c.Effect(ctx, job); err != nil {
							return err
						}
						return gate.Wait(ctx, job.ID)
					})
				},
			})
			if err != nil {
				return err
			}
			cure, err = s.Crew(ctx, CrewOptions{
				Workers: []string{"c1"}, Queues: []string{"cure"},
				Handlers: func(c *Crew, h *workers.Handlers) {
					h.Queue(s.Queue("cure"), func(ctx context.Context, job *queue.Job) error {
						if err := c.EffectOnce(ctx, job); err != nil {
							return err
						}
						return gate.Wait(ctx, job.ID)
					})
				},
			})
			return err
		},
		Steps: []Step{
			{
				Say: "We enqueue two jobs, each to charge a customer once. m1 simply charges. c1 notes the charge under a key of its job, in one transaction with it. Then both have yet to say that they are done.",
				Do: func(ctx context.Context, s *Stage) error {
					jobs, err := s.Enqueue(ctx, queue.NewJob{Queue: "mistake"}, queue.NewJob{Queue: "cure"})
					if err == nil {
						double, once = jobs[0], jobs[1]
					}
					return err
				},
				Expect: []Expect{
					{Text: "m1 has charged its customer", Holds: effects(&double, 1, "m1")},
					{Text: "c1 has charged its customer", Holds: effects(&once, 1, "c1")},
				},
			},
			{
				Say: "m1 and c1 crash at this very moment. To the queue their jobs are not done, so when the leases of 2 s run out m2 and c2 get them: an attempt that knows nothing of the first.",
				Do: func(ctx context.Context, s *Stage) error {
					if err := mistake.Pool.SpawnAs("m2", []string{s.Queue("mistake")}, 1); err != nil {
						return err
					}
					if err := cure.Pool.SpawnAs("c2", []string{s.Queue("cure")}, 1); err != nil {
						return err
					}
					if err := mistake.Pool.Kill("m1"); err != nil {
						return err
					}
					err := cure.Pool.Kill("c1")
					gate.Open()
					return err
				},
				Expect: []Expect{
					{Text: "both jobs are completed, at their second attempt", Holds: func(ctx context.Context, s *Stage) (bool, string, error) {
						a, err := s.Job(ctx, double)
						if err != nil {
							return false, "", err
						}
						b, err := s.Job(ctx, once)
						return a.Status == queue.Completed && b.Status == queue.Completed && a.Attempts == 2 && b.Attempts == 2,
							fmt.Sprintf("they are %s and %s", a.Status, b.Status), err
					}},
					{Text: "m2 has charged m1's customer a second time", Holds: effects(&double, 2, "m1", "m2")},
					{Text: "c2 found the key, and did not charge again", Holds: effects(&once, 1, "c1")},
				},
			},
		},
		Measures: []Measure{
			{
				Name: "charges", Text: "charges of one customer, with the key", Bound: Exactly(1),
				Value: func(ctx context.Context, s *Stage) (float64, error) {
					all, err := s.Effects(ctx, once)
					return float64(len(all)), err
				},
			},
			{
				Name: "charges_without", Text: "and without", Bound: Exactly(2),
				Value: func(ctx context.Context, s *Stage) (float64, error) {
					all, err := s.Effects(ctx, double)
					return float64(len(all)), err
				},
			},
		},
	}
}
