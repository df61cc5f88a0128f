package stories

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/faults"
	"github.com/leasetop/leasetop/workers/scenario"
)

// killerAttempts is how many workers a job may take down.
const killerAttempts = 3

// poison is about jobs that can never be done: they must end, and take nothing along.
func poison() scenario.Scenario {
	var (
		crew              *scenario.Crew
		neighbours        = scenario.NewGate()
		strikes           [killerAttempts]*scenario.Gate // at each attempt the killer waits to strike
		good, more        []int64
		permanent, panics int64
		killer, innocent  int64
	)
	for i := range strikes {
		strikes[i] = scenario.NewGate()
	}
	const patience = scenario.UsualLease + 2*time.Second
	two := slices.Repeat([]queue.NewJob{{}}, 2)
	joins := func(s *scenario.Stage, name string) error { return crew.Pool.SpawnAs(name, []string{s.Queue("")}, 2) }
	deadAtOnce := func(text string, id *int64, cause string) scenario.Expect {
		return scenario.Expect{Text: text, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
			job, err := s.Job(ctx, *id)
			ok := job.Status == queue.Dead && job.Attempts == 1 && strings.Contains(job.LastError, cause)
			if ok {
				s.Note("", fmt.Sprintf("job %d, %s, is dead at its first attempt", job.ID, job.Kind))
			}
			return ok, fmt.Sprintf("it is %s at attempt %d", job.Status, job.Attempts), err
		}}
	}
	// both tells whether a worker has the killer and the innocent job in hand.
	both := func(text, worker string, attempt int, within time.Duration) scenario.Expect {
		return scenario.Expect{Text: text, Within: within, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
			ok, seen, err := s.Held(ctx, []int64{killer, innocent}, worker, worker)
			return ok && s.Runs(worker, killer, attempt) && s.Runs(worker, innocent, attempt), seen, err
		}}
	}
	return scenario.Scenario{
		Name:  "poison",
		Title: "Poison, three ways",
		Shows: "A job that can never be done ends as a dead letter: at once when its handler says so or panics, " +
			"and after three workers when it kills them. Its neighbours are done all the same.",
		Needs: scenario.Queue, Lasts: 7 * time.Second, Quick: true,
		Setup: func(ctx context.Context, s *scenario.Stage) (err error) {
			crew, err = s.Crew(ctx, scenario.CrewOptions{
				Workers: []string{"w1"}, Slots: 2,
				Handlers: func(c *scenario.Crew, h *workers.Handlers) {
					h.Queue(s.Queue(""), c.Handler(func(ctx context.Context, job *queue.Job) error { return neighbours.Wait(ctx, job.ID) }))
					faults.Poison(h, func(job *queue.Job) {
						if gate := strikes[min(job.Attempts, killerAttempts)-1]; gate.Wait(s.Context(), job.ID) == nil {
							faults.KillWorker(c.Pool, job)
						}
					})
				},
			})
			s.Later("let the poison strike", func(context.Context) error { // when it has not: nothing else ends it
				for _, gate := range strikes {
					gate.Open()
				}
				return nil
			})
			return err
		},
		Steps: []scenario.Step{
			{
				Name: "Two poisons die at once",
				Say: "w1 gets four jobs, and two are poison. One handler says that trying again is useless, a permanent error; " +
					"another has a bug and panics. Both jobs are dead at once; w1 works on, at the two others.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					jobs, err := s.Enqueue(ctx, append([]queue.NewJob{{Kind: faults.PoisonPermanent}, {Kind: faults.PoisonPanic}}, two...)...)
					if err == nil {
						permanent, panics, good = jobs[0], jobs[1], jobs[2:]
					}
					return err
				},
				Expect: []scenario.Expect{
					deadAtOnce("the permanent error: dead at its first attempt", &permanent, "nobody will ever"),
					deadAtOnce("the panic: dead at its first attempt", &panics, "panic"),
					{Text: "w1 has the two others in hand", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.Held(ctx, good, "w1", "w1")
					}},
				},
			},
			{
				Name: "A third, beside a neighbour",
				Say: "The two others may finish. The third poison kills its worker, as a job does that eats all memory: nobody lives to say so. " +
					"w1 claims it together with an innocent job. It does not strike yet.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					neighbours.Pass(good...)
					jobs, err := s.Enqueue(ctx, queue.NewJob{Kind: faults.PoisonKiller, MaxAttempts: killerAttempts}, queue.NewJob{})
					if err == nil {
						killer, innocent = jobs[0], jobs[1]
					}
					return err
				},
				Expect: []scenario.Expect{
					{Text: "the two are completed", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.AllCompleted(ctx, good...)
					}},
					both("w1 holds the poison and the innocent job", "w1", 1, 0),
				},
			},
			{
				Name: "The third takes w1 down",
				Say: "It strikes: w1 is gone, and both jobs are orphans until the lease of 2 s runs out. w2 waits already and takes both " +
					"over, at their second attempt: the innocent job pays for its neighbour too.",
				Do: func(_ context.Context, s *scenario.Stage) error {
					if err := joins(s, "w2"); err != nil {
						return err
					}
					strikes[0].Open()
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "w1 has crashed", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return workersAre(s, workers.Crashed, "w1")
					}},
					both("w2 holds both, each at its second attempt", "w2", 2, patience),
				},
			},
			{
				Name: "And w2",
				Say: "The innocent job is done in time, and so it paid one attempt, no more. Then the poison takes w2 down. " +
					"w3 waits already: watch the poison begin in its lane, at the third attempt.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					if err := joins(s, "w3"); err != nil {
						return err
					}
					neighbours.Pass(innocent)
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "the innocent job is completed at its second attempt", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						job, err := s.Job(ctx, innocent)
						ok := job.Status == queue.Completed && job.Attempts == 2
						if ok {
							strikes[1].Open()
						}
						return ok, fmt.Sprintf("it is %s at attempt %d", job.Status, job.Attempts), err
					}},
					{Text: "w2 has crashed", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return workersAre(s, workers.Crashed, "w2")
					}},
					{Text: "w3 holds the poison, at its third attempt", Within: patience, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						_, seen, err := s.Held(ctx, []int64{killer}, "w3")
						return s.Runs("w3", killer, killerAttempts), seen, err
					}},
				},
			},
			{
				Name: "And w3; then it is dead",
				Say: "Now the third strike, and three are what this job may have. w4 joins, with two new jobs; it does not get " +
					"the poison. Watch that end when w3's lease runs out: as a dead letter.",
				Do: func(ctx context.Context, s *scenario.Stage) (err error) {
					strikes[2].Open()
					if err = joins(s, "w4"); err != nil {
						return err
					}
					more, err = s.Enqueue(ctx, two...)
					return err
				},
				Expect: []scenario.Expect{
					{Text: "w3 has crashed", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return workersAre(s, workers.Crashed, "w3")
					}},
					{Text: "the poison is dead: worker lost 3 times", Within: patience, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						job, err := s.Job(ctx, killer)
						ok := job.Status == queue.Dead && strings.HasPrefix(job.LastError, "worker lost 3 times")
						if ok {
							s.Note("", fmt.Sprintf("job %d is dead: worker lost 3 times", killer))
						}
						return ok, fmt.Sprintf("it is %s: %s", job.Status, job.LastError), err
					}},
					{Text: "w4 has the two new jobs in hand", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.Held(ctx, more, "w4", "w4")
					}},
				},
			},
			{
				Name: "Work goes on",
				Say: "w4 may finish its two jobs, as if nothing had been. A dead letter is claimed by nobody: " +
					"all three poisons wait for a person to look at them.",
				Do: func(context.Context, *scenario.Stage) error {
					neighbours.Open()
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "the two new jobs are completed", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.AllCompleted(ctx, more...)
					}},
					{Text: "w4 is well", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return workersAre(s, workers.Idle, "w4")
					}},
				},
			},
		},
		Measures: []scenario.Measure{
			{
				Name: "claims", Text: "claims of the killer", Bound: scenario.Exactly(killerAttempts), After: 5,
				Value: func(ctx context.Context, s *scenario.Stage) (float64, error) {
					job, err := s.Job(ctx, killer)
					return float64(job.Attempts), err
				},
			},
			{
				Name: "workers", Text: "workers it took down", Bound: scenario.Exactly(killerAttempts), After: 5,
				Value: func(context.Context, *scenario.Stage) (float64, error) {
					crashed := 0
					for _, w := range crew.Pool.Workers() {
						if w.State == workers.Crashed {
							crashed++
						}
					}
					return float64(crashed), nil
				},
			},
		},
	}
}

// workersAre tells whether these workers are in a state.
func workersAre(s *scenario.Stage, state workers.State, names ...string) (bool, string, error) {
	var seen []string
	all := true
	for _, name := range names {
		is := s.Worker(name).State
		all = all && is == state
		seen = append(seen, fmt.Sprintf("%s is %s", name, is))
	}
	return all, strings.Join(seen, ", "), nil
}
