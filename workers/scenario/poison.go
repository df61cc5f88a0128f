package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/faults"
)

// killerAttempts is how many workers a job may take down.
const killerAttempts = 3

// poison is about jobs that can never be done: they must end, and take nothing along.
func poison() Scenario {
	var (
		crew               *Crew
		neighbours, strike = NewGate(), NewGate() // the killer strikes at once at its first attempt, then at its gate
		good, more         []int64
		permanent, panics  int64
		killer, innocent   int64
	)
	const patience = usualLease + 2*time.Second
	four := slices.Repeat([]queue.NewJob{{}}, 4)
	joins := func(s *Stage, name string) error { return crew.Pool.SpawnAs(name, []string{s.Queue("")}, 4) }
	deadAtOnce := func(text string, id *int64, cause string) Expect {
		return Expect{Text: text, Holds: func(ctx context.Context, s *Stage) (bool, string, error) {
			job, err := s.Job(ctx, *id)
			ok := job.Status == queue.Dead && job.Attempts == 1 && strings.Contains(job.LastError, cause)
			return ok, fmt.Sprintf("it is %s at attempt %d", job.Status, job.Attempts), err
		}}
	}
	return Scenario{
		Name:  "poison",
		Title: "Poison, three ways",
		Shows: "A job that can never be done ends as a dead letter: at once when its handler says so or panics, " +
			"and after three workers when it kills them. Its neighbours are done all the same.",
		Needs: Queue, Lasts: 8 * time.Second, Quick: true,
		Setup: func(ctx context.Context, s *Stage) (err error) {
			crew, err = s.Crew(ctx, CrewOptions{
				Workers: []string{"w1"}, Slots: 4,
				Handlers: func(c *Crew, h *workers.Handlers) {
					h.Queue(s.Queue(""), c.Handler(func(ctx context.Context, job *queue.Job) error { return neighbours.Wait(ctx, job.ID) }))
					faults.Poison(h, func(job *queue.Job) {
						if job.Attempts > 1 && strike.Wait(s.ctx, job.ID) != nil {
							return // the play is over
						}
						faults.KillWorker(c.Pool, job)
					})
				},
			})
			return err
		},
		Steps: []Step{
			{
				Say: "w1 gets six jobs, and two are poison. One handler says that trying again is useless, a permanent error; another has a bug and panics. Four are ordinary.",
				Do: func(ctx context.Context, s *Stage) error {
					neighbours.Open()
					jobs, err := s.Enqueue(ctx, append([]queue.NewJob{{Kind: faults.PoisonPermanent}, {Kind: faults.PoisonPanic}}, four...)...)
					if err == nil {
						permanent, panics, good = jobs[0], jobs[1], jobs[2:]
					}
					return err
				},
				Expect: []Expect{
					deadAtOnce("the permanent error: dead at its first attempt", &permanent, "nobody will ever"),
					deadAtOnce("the panic: dead at its first attempt", &panics, "panic"),
					{Text: "the four ordinary jobs are completed", Holds: func(ctx context.Context, s *Stage) (bool, string, error) { return s.AllCompleted(ctx, good...) }},
					{Text: "w1 is well", Holds: func(ctx context.Context, s *Stage) (bool, string, error) { return s.workersAre(workers.Idle, "w1") }},
				},
			},
			{
				Say: "The third poison kills its worker, as a job does that eats all memory. Nobody lives to say so. w1 claims it together with an innocent job, and both are orphans until the lease of 2 s runs out.",
				Do: func(ctx context.Context, s *Stage) error {
					neighbours.Shut()
					jobs, err := s.Enqueue(ctx, queue.NewJob{Kind: faults.PoisonKiller, MaxAttempts: killerAttempts}, queue.NewJob{})
					if err == nil {
						killer, innocent = jobs[0], jobs[1]
					}
					return err
				},
				Expect: []Expect{
					{Text: "w1 has crashed", Holds: func(ctx context.Context, s *Stage) (bool, string, error) { return s.workersAre(workers.Crashed, "w1") }},
					{Text: "its lease runs out, both jobs are pending again", Within: patience, Holds: func(ctx context.Context, s *Stage) (bool, string, error) {
						jobs, err := s.Q.ByID(ctx, killer, innocent)
						back := 0
						for i := range jobs {
							if jobs[i].Status == queue.Pending && jobs[i].Attempts == 1 {
								back++
							}
						}
						return back == 2, fmt.Sprintf("%d of them", back), err
					}},
				},
			},
			{
				Say: "We start w2 in its place. It claims both: their second attempt. The innocent job pays for its neighbour with an attempt, no more. The poison is in w2's hands and has not struck yet.",
				Do: func(ctx context.Context, s *Stage) error {
					neighbours.Open()
					return joins(s, "w2")
				},
				Expect: []Expect{
					{Text: "the innocent job is completed at its second attempt", Holds: func(ctx context.Context, s *Stage) (bool, string, error) {
						job, err := s.Job(ctx, innocent)
						return job.Status == queue.Completed && job.Attempts == 2, fmt.Sprintf("it is %s at attempt %d", job.Status, job.Attempts), err
					}},
					{Text: "w2 holds the poison", Holds: func(ctx context.Context, s *Stage) (bool, string, error) { return s.Held(ctx, []int64{killer}, "w2") }},
				},
			},
			{
				Say: "Now it strikes, and w2 is gone. w3 waits already, and takes the poison over as soon as the lease has run out: a third claim, a third crash. Three are what this job may have. Watch it end.",
				Do: func(ctx context.Context, s *Stage) error {
					strike.Open()
					return joins(s, "w3")
				},
				Expect: []Expect{
					{Text: "w2 and w3 have crashed too", Within: patience, Holds: func(ctx context.Context, s *Stage) (bool, string, error) {
						return s.workersAre(workers.Crashed, "w2", "w3")
					}},
					{Text: "the poison is dead: worker lost 3 times", Within: 2 * patience, Holds: func(ctx context.Context, s *Stage) (bool, string, error) {
						job, err := s.Job(ctx, killer)
						return job.Status == queue.Dead && strings.HasPrefix(job.LastError, "worker lost 3 times"), fmt.Sprintf("it is %s: %s", job.Status, job.LastError), err
					}},
				},
			},
			{
				Say: "A dead letter is claimed by nobody. We start w4 and enqueue four more jobs: work goes on as if nothing had been, and the poison waits for a person to look at it.",
				Do: func(ctx context.Context, s *Stage) (err error) {
					if err = joins(s, "w4"); err != nil {
						return err
					}
					more, err = s.Enqueue(ctx, four...)
					return err
				},
				Expect: []Expect{
					{Text: "the four new jobs are completed", Holds: func(ctx context.Context, s *Stage) (bool, string, error) { return s.AllCompleted(ctx, more...) }},
					{Text: "w4 is well", Holds: func(ctx context.Context, s *Stage) (bool, string, error) { return s.workersAre(workers.Idle, "w4") }},
				},
			},
		},
		Measures: []Measure{
			{
				Name: "claims", Text: "of the job that kills its worker", Bound: Exactly(killerAttempts),
				Value: func(ctx context.Context, s *Stage) (float64, error) {
					job, err := s.Job(ctx, killer)
					return float64(job.Attempts), err
				},
			},
			{
				Name: "workers", Text: "that the three poisons took down", Bound: Exactly(killerAttempts),
				Value: func(context.Context, *Stage) (float64, error) {
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
func (s *Stage) workersAre(state workers.State, names ...string) (bool, string, error) {
	var seen []string
	all := true
	for _, name := range names {
		is := s.Worker(name).State
		all = all && is == state
		seen = append(seen, fmt.Sprintf("%s is %s", name, is))
	}
	return all, strings.Join(seen, ", "), nil
}
