package stories

import (
	"context"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/scenario"
)

// aCentury is as good as no lease: the table asks for one, so that nobody has none. The
// story says that it never ends.
const aCentury = 100 * 365 * 24 * time.Hour

// mistakeNoLease is a claim that never ends, beside one that does.
func mistakeNoLease() scenario.Scenario {
	var (
		mistake, cure *scenario.Crew
		gate          = scenario.NewGate()
		stuck, orphan int64
		crashed       time.Time // by the database's clock
	)
	work := func(ctx context.Context, job *queue.Job) error { return gate.Wait(ctx, job.ID) }
	return scenario.Scenario{
		Name:  "mistake-no-lease",
		Title: "Mistake: a claim without a lease",
		Shows: "A job that is only marked as taken stays taken when its worker dies: nobody can tell a dead owner from a busy one. A lease that must be renewed tells.",
		Needs: scenario.Queue, Lasts: 4 * time.Second, Quick: true,
		Setup: func(ctx context.Context, s *scenario.Stage) (err error) {
			// The cure's crew is first: its lease is the story's.
			if cure, err = s.Crew(ctx, scenario.CrewOptions{Workers: []string{"c1"}, Queues: []string{"cure"}, Work: work}); err != nil {
				return err
			}
			mistake, err = s.Crew(ctx, scenario.CrewOptions{Workers: []string{"m1"}, Queues: []string{"mistake"}, Lease: aCentury, Work: work})
			return err
		},
		Steps: []scenario.Step{
			{
				Name: "Two ways to claim",
				Say:  "m is the mistake, c the cure. m1's claim says that the job is taken, but not until when: it never runs out. c1 claims its job for 2 s, and renews that all the time. Each gets one job.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					jobs, err := s.Enqueue(ctx, queue.NewJob{Queue: "mistake"}, queue.NewJob{Queue: "cure"})
					if err == nil {
						stuck, orphan = jobs[0], jobs[1]
					}
					return err
				},
				Expect: []scenario.Expect{
					{Text: "m1 and c1 are at work, a job each", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.Runs("m1", stuck, 1) && s.Runs("c1", orphan, 1), "they are not at work", nil
					}},
				},
			},
			{
				Name: "Both workers crash",
				Say:  "m2 and c2 join, ready to take over. Then m1 and c1 crash. Watch c1's lease run out, and c2 take the job over. m1's job stays what it was: processing, by m1. m2 has nothing to do.",
				Do: func(ctx context.Context, s *scenario.Stage) (err error) {
					if err := mistake.Pool.SpawnAs("m2", []string{s.Queue("mistake")}, 1); err != nil {
						return err
					}
					if err := cure.Pool.SpawnAs("c2", []string{s.Queue("cure")}, 1); err != nil {
						return err
					}
					if crashed, err = s.Now(ctx); err != nil {
						return err
					}
					if err := mistake.Pool.Kill("m1"); err != nil {
						return err
					}
					return cure.Pool.Kill("c1")
				},
				Expect: []scenario.Expect{
					{Text: "c2 is at work on c1's job, its second attempt", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						job, err := s.Job(ctx, orphan)
						return s.Runs("c2", orphan, 2), fmt.Sprintf("it is %s at attempt %d", job.Status, job.Attempts), err
					}},
					{Text: "m1's job is still m1's, and m2 has nothing to do", Harm: true, Within: atOnce, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						job, err := s.Job(ctx, stuck)
						owner := scenario.NameOf(job.LockedBy)
						return job.Status == queue.Processing && owner == "m1" && len(s.Worker("m2").Running) == 0,
							fmt.Sprintf("it is %s, of %q", job.Status, owner), err
					}},
				},
			},
			{
				Name: "Back by hand",
				Say:  "So it stays, however long you read this. Somebody must find the job, make sure that m1 is dead, and take it back by hand, with its attempt: that counts as not used. Watch m2: it gets the job at once, as attempt 1.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					job, err := s.Job(ctx, stuck)
					if err == nil {
						err = s.Q.TakeBack(ctx, "an operator", job.Lease())
					}
					if err == nil {
						s.Note("", fmt.Sprintf("an operator took job %d back from m1", stuck))
					}
					return err
				},
				Expect: []scenario.Expect{
					{Text: "m2 is at work on m1's job", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						job, err := s.Job(ctx, stuck) // which has its attempt back
						return s.Runs("m2", stuck, 1), fmt.Sprintf("it is %s at attempt %d", job.Status, job.Attempts), err
					}},
				},
			},
			{
				Name: "Both are done",
				Say:  "m2 and c2 may finish now. In the end both jobs are done: c1's because its lease ran out, m1's because somebody was there to look.",
				Do: func(context.Context, *scenario.Stage) error {
					gate.Open()
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "both jobs are completed", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.AllCompleted(ctx, stuck, orphan)
					}},
				},
			},
		},
		Measures: []scenario.Measure{
			{
				Name: "recovery", Text: "c: crash until pending", Unit: "s", After: 2,
				Bound: scenario.AtMost((scenario.UsualLease + workers.RecoveryBound).Seconds()), Timed: true,
				Value: func(ctx context.Context, s *scenario.Stage) (float64, error) {
					return recovery(ctx, s, crashed, orphan)
				},
			},
		},
	}
}
