package stories

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/scenario"
)

// partition is the promise of the trust deadline: who cannot reach the database stops
// before anybody else may begin.
func partition() scenario.Scenario {
	const lease = 3 * time.Second
	var (
		here, there *scenario.Crew
		jobs, more  []int64
		gate        = scenario.NewGate()
		stops       stops
	)
	return scenario.Scenario{
		Name:  "partition",
		Title: "The network goes away",
		Shows: "A worker that cannot renew its lease stops its handler by itself, shortly before the lease ends. " +
			"So no two workers ever run one job, though neither can ask the other.",
		Needs: scenario.Queue, Lasts: 5 * time.Second, Quick: true,
		Setup: func(ctx context.Context, s *scenario.Stage) (err error) {
			here, err = s.Crew(ctx, scenario.CrewOptions{
				Workers: []string{"w1", "w2"}, Lease: lease,
				Work: func(ctx context.Context, job *queue.Job) error {
					err := gate.Wait(ctx, job.ID)
					if errors.Is(err, workers.ErrTrustEnded) {
						if left, err := stops.note(s, job); err == nil {
							s.Note(scenario.NameOf(job.LockedBy), fmt.Sprintf("stops job %d %.2f s before its lease ends", job.ID, left.Seconds()))
						}
					}
					return err
				},
			})
			if err != nil {
				return err
			}
			there, err = s.Crew(ctx, scenario.CrewOptions{
				Lease: lease,
				Work:  func(ctx context.Context, job *queue.Job) error { return gate.Wait(ctx, job.ID) },
			})
			return err
		},
		Steps: []scenario.Step{
			{
				Name: "Two jobs are held",
				Say: "w1 and w2 are one process, with connections of its own. We enqueue two jobs; each holds one by a lease of 3 s, " +
					"which heartbeats renew every second.",
				Do: func(ctx context.Context, s *scenario.Stage) (err error) {
					jobs, err = s.Enqueue(ctx, queue.NewJob{}, queue.NewJob{})
					return err
				},
				Expect: []scenario.Expect{
					{Text: "w1 and w2 hold one job each", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						ok, seen, err := s.Held(ctx, jobs, "w1", "w2")
						return ok && len(s.Worker("w1").Running) == 1 && len(s.Worker("w2").Running) == 1, seen, err
					}},
				},
			},
			{
				Name: "The cable stalls",
				Say: "w3 and w4 join, in another process. We stall the first one's cable: no byte passes, and no error says so. " +
					"Watch w1 and w2 stop (■) by their own clock, a moment before their leases end; then w3 and w4 take over.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					for _, name := range []string{"w3", "w4"} {
						if err := there.Pool.SpawnAs(name, []string{s.Queue("")}, 1); err != nil {
							return err
						}
					}
					here.Cable.Stall()
					s.Says("w1", "partitioned")
					s.Says("w2", "partitioned")
					s.Note("", "the cable of w1 and w2 is stalled")
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "w1 and w2 stop their handlers", Within: lease + time.Second, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						n, _ := stops.least() // one that had to be stopped since another has its job is none
						return n == 2 && stops.err() == nil, fmt.Sprintf("%d of 2 have stopped", n), stops.err()
					}},
					{Text: "w3 and w4 take the jobs over, at attempt 2", Within: lease + 3*time.Second, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						ok, seen, err := s.Held(ctx, jobs, "w3", "w4")
						return ok && (s.Runs("w3", jobs[0], 2) || s.Runs("w4", jobs[0], 2)), seen, err
					}},
				},
			},
			{
				Name: "The cable is mended",
				Say: "We mend the cable, and enqueue two more jobs. w3 and w4 have their hands full, so watch " +
					"w1 and w2 connect again by themselves and take the new ones.",
				Do: func(ctx context.Context, s *scenario.Stage) (err error) {
					here.Cable.Heal()
					s.Says("w1", "")
					s.Says("w2", "")
					s.Note("", "the cable of w1 and w2 is mended")
					more, err = s.Enqueue(ctx, queue.NewJob{}, queue.NewJob{})
					return err
				},
				Expect: []scenario.Expect{
					{Text: "w1 and w2 hold the new jobs", Within: 15 * time.Second, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.Held(ctx, more, "w1", "w2")
					}},
				},
			},
			{
				Name: "All four finish",
				Say: "Now all four may finish. The first two jobs were begun twice; still each will have one effect. " +
					"See in the lanes that at no moment two workers ran the same one.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					gate.Open()
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "all four jobs are completed", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.AllCompleted(ctx, slices.Concat(jobs, more)...)
					}},
					{Text: "each had one effect", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.OneEffectEach(ctx, slices.Concat(jobs, more)...)
					}},
				},
			},
		},
		Measures: []scenario.Measure{
			{
				Name: "ahead", Text: "stop before lease's end", Unit: "ms", After: 2, Bound: scenario.AtLeast(0), Timed: true,
				Value: func(ctx context.Context, s *scenario.Stage) (float64, error) {
					_, left := stops.least()
					return milliseconds(left), stops.err()
				},
			},
			{
				Name: "overlap", Text: "longest overlap of two", Unit: "ms", Bound: scenario.Exactly(0),
				Value: func(ctx context.Context, s *scenario.Stage) (float64, error) {
					inv, err := s.Invariants(ctx)
					return milliseconds(inv.Overlap), err
				},
			},
		},
	}
}

// answersWithin is how long the database may take to tell of a lease.
const answersWithin = 5 * time.Second

// stops are the moments at which handlers were stopped, against the ends of their leases.
type stops struct {
	mu     sync.Mutex
	left   []time.Duration
	failed error
}

// note asks the database, over the audience's connection, how long the lease has yet. What
// the way there takes counts against the handler.
func (t *stops) note(s *scenario.Stage, job *queue.Job) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(s.Context(), answersWithin)
	defer cancel()
	var left float64
	err := s.Q.Pool().QueryRow(ctx, s.Q.Schema().Query("scenario_lease"), job.ID, job.Attempts).Scan(&left)
	if errors.Is(err, pgx.ErrNoRows) {
		err = fmt.Errorf("job %d was another's before its handler was stopped", job.ID)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	before := time.Duration(left * float64(time.Second))
	t.left, t.failed = append(t.left, before), errors.Join(t.failed, err)
	return before, err
}

// least is how many handlers were stopped, and how long before the end of its lease the latest was.
func (t *stops) least() (n int, left time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.left) == 0 {
		return 0, 0
	}
	return len(t.left), slices.Min(t.left)
}

func (t *stops) err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}
