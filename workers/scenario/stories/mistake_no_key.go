package stories

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/scenario"
)

// mistakeNoKey is an effect that comes twice, beside one that is guarded by a key.
func mistakeNoKey() scenario.Scenario {
	var (
		mistake, cure *scenario.Crew
		gate          = scenario.NewGate()
		double, once  int64
		found         atomic.Bool  // c2 found the key
		ofM, ofC      atomic.Int64 // charges of m's customer, and of c's
	)
	effects := func(job *int64, n int, by ...string) func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
		return func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
			all, err := s.Effects(ctx, *job)
			whose := []string{}
			for _, e := range all {
				whose = append(whose, e.Worker)
			}
			return fmt.Sprint(whose) == fmt.Sprint(by) && len(all) == n, fmt.Sprintf("%d charges, by %v", len(all), whose), err
		}
	}
	// charged tells of a charge, or that there was none, and shows how many there were.
	charged := func(s *scenario.Stage, bar string, job *queue.Job, charges *atomic.Int64, now bool) {
		n, text, note := charges.Load(), fmt.Sprintf("finds the key of job %d: no second charge", job.ID), "the key is found: no second one"
		if now {
			n, text, note = charges.Add(1), fmt.Sprintf("charges its customer for job %d", job.ID), "of one customer"
		}
		if now && n > 1 {
			text, note = text+", again", "of one customer, for one job"
		}
		unit := "charges"
		if n == 1 {
			unit = "charge"
		}
		s.Note(scenario.NameOf(job.LockedBy), text)
		s.Bar(scenario.Bar{Name: bar, Value: float64(n), Unit: unit, Most: 2, Note: note, Bad: n > 1, Over: job.Attempts > 1})
	}
	return scenario.Scenario{
		Name:  "mistake-no-idempotency",
		Title: "Mistake: effects without a key",
		Shows: "A worker can die after the effect and before the job is completed, so every job may run twice. An effect that is noted under a key of the job's happens once.",
		Needs: scenario.Queue, Lasts: 4 * time.Second, Quick: true,
		Setup: func(ctx context.Context, s *scenario.Stage) (err error) {
			s.Exempt("mistake") // it charges twice
			mistake, err = s.Crew(ctx, scenario.CrewOptions{
				Workers: []string{"m1"}, Queues: []string{"mistake"},
				Handlers: func(c *scenario.Crew, h *workers.Handlers) {
					h.Queue(s.Queue("mistake"), func(ctx context.Context, job *queue.Job) error {
						if err := c.Effect(ctx, job); err != nil {
							return err
						}
						charged(s, "m: no key", job, &ofM, true)
						return gate.Wait(ctx, job.ID)
					})
				},
			})
			if err != nil {
				return err
			}
			cure, err = s.Crew(ctx, scenario.CrewOptions{
				Workers: []string{"c1"}, Queues: []string{"cure"},
				Handlers: func(c *scenario.Crew, h *workers.Handlers) {
					h.Queue(s.Queue("cure"), func(ctx context.Context, job *queue.Job) error {
						first, err := c.EffectOnce(ctx, job)
						if err != nil {
							return err
						}
						charged(s, "c: a key", job, &ofC, first)
						found.Store(!first)
						return gate.Wait(ctx, job.ID)
					})
				},
			})
			return err
		},
		Steps: []scenario.Step{
			{
				Name: "Two customers charged",
				Say:  "m is the mistake, c the cure. Each has a job: charge a customer once. m1 simply charges. c1 notes its job's key in one transaction with the charge. Then both have yet to say that they are done.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					jobs, err := s.Enqueue(ctx, queue.NewJob{Queue: "mistake"}, queue.NewJob{Queue: "cure"})
					if err == nil {
						double, once = jobs[0], jobs[1]
					}
					return err
				},
				Expect: []scenario.Expect{
					{Text: "m1 has charged its customer", Holds: effects(&double, 1, "m1")},
					{Text: "c1 has charged its customer", Holds: effects(&once, 1, "c1")},
				},
			},
			{
				Name: "A second attempt",
				Say:  "m1 and c1 crash at this very moment. To the queue their jobs are not done: when the leases of 2 s have run out, m2 and c2 take them over, and know nothing of the first attempt. Watch who charges again.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					if err := mistake.Pool.SpawnAs("m2", []string{s.Queue("mistake")}, 1); err != nil {
						return err
					}
					if err := cure.Pool.SpawnAs("c2", []string{s.Queue("cure")}, 1); err != nil {
						return err
					}
					if err := mistake.Pool.Kill("m1"); err != nil {
						return err
					}
					return cure.Pool.Kill("c1")
				},
				Expect: []scenario.Expect{
					{Text: "m2 is at work on m1's job, its second attempt", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						job, err := s.Job(ctx, double)
						return s.Runs("m2", double, 2), fmt.Sprintf("it is %s at attempt %d", job.Status, job.Attempts), err
					}},
					{Text: "c2 is at work on c1's job, its second attempt", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						job, err := s.Job(ctx, once)
						return s.Runs("c2", once, 2), fmt.Sprintf("it is %s at attempt %d", job.Status, job.Attempts), err
					}},
					{Text: "m2 has charged m1's customer a second time", Harm: true, Holds: effects(&double, 2, "m1", "m2")},
					{Text: "c2 found the key, and did not charge again", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						if !found.Load() {
							return false, "it has found none", nil
						}
						return effects(&once, 1, "c1")(ctx, s)
					}},
				},
			},
			{
				Name: "Both are done",
				Say:  "m2 and c2 may finish now. The queue says the same of both jobs: completed, at the second attempt. Only the customers can tell them apart.",
				Do: func(context.Context, *scenario.Stage) error {
					gate.Open()
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "both jobs are completed, at their second attempt", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						a, err := s.Job(ctx, double)
						if err != nil {
							return false, "", err
						}
						b, err := s.Job(ctx, once)
						return a.Status == queue.Completed && b.Status == queue.Completed && a.Attempts == 2 && b.Attempts == 2,
							fmt.Sprintf("they are %s and %s", a.Status, b.Status), err
					}},
					{Text: "c's customer is charged once", Within: atOnce, Holds: effects(&once, 1, "c1")},
					{Text: "m's customer is charged twice", Harm: true, Within: atOnce, Holds: effects(&double, 2, "m1", "m2")},
				},
			},
		},
		Measures: []scenario.Measure{
			{
				Name: "charges_with_key", Text: "c: charges, with a key", Bound: scenario.Exactly(1), After: 2,
				Value: func(ctx context.Context, s *scenario.Stage) (float64, error) {
					all, err := s.Effects(ctx, once)
					return float64(len(all)), err
				},
			},
			{
				Name: "charges_without_key", Text: "m: charges, without key", Harm: true, Bound: scenario.Exactly(2), After: 2,
				Value: func(ctx context.Context, s *scenario.Stage) (float64, error) {
					all, err := s.Effects(ctx, double)
					return float64(len(all)), err
				},
			},
		},
	}
}
