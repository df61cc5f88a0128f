package stories

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/faults"
	"github.com/leasetop/leasetop/workers/scenario"
)

const (
	mails     = 50              // that come while the provider is down
	outage    = 3 * time.Second // for so long is it down, at least
	callsPlot = "calls of the provider"
)

// Retries wait half a second, then a second, then two: as queue.DefaultBackoff has it in
// minutes. Each is half as long to half as long again, by lot.
func storyBackoff(attempts int) time.Duration {
	delay := time.Second / 4 << min(attempts, 3)
	return delay/2 + rand.N(delay)
}

// mostRetry is its longest wait.
const mostRetry = 3 * time.Second

// flaky is about what handlers call: when it is down, their retries must not keep it down.
func flaky() scenario.Scenario {
	var (
		provider *faults.Dependency
		calls    = newCallLog()
		early    []int64
		late     []int64
		up       time.Time
		done     time.Time
	)
	return scenario.Scenario{
		Name:  "flaky",
		Title: "A dependency is down",
		Shows: "What fails for the moment is tried again, later and later, each job at a moment of its own. " +
			"So jobs that failed together do not come back together, and whoever is down can get up.",
		Needs: scenario.Queue, Lasts: 7 * time.Second, Quick: true, Flows: true,
		Setup: func(ctx context.Context, s *scenario.Stage) error {
			provider = faults.NewDependency(s.Rand.Uint64())
			calls.plotOn(s, callsPlot)
			_, err := s.Crew(ctx, scenario.CrewOptions{
				Workers: []string{"w1", "w2", "w3", "w4"}, Slots: 8, Conns: 8, Backoff: storyBackoff,
				Work: func(ctx context.Context, job *queue.Job) error {
					calls.note(job.ID)
					return provider.Call(ctx)
				},
			})
			return err
		},
		Steps: []scenario.Step{
			{
				Name: "All is well",
				Say:  "Four workers send mails by a provider's server. Ten mails come, and each is one call of that server. All is well.",
				Do: func(ctx context.Context, s *scenario.Stage) (err error) {
					early, err = s.Enqueue(ctx, slices.Repeat([]queue.NewJob{{}}, 10)...)
					return err
				},
				Expect: []scenario.Expect{
					{Text: "all ten are sent", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.AllCompleted(ctx, early...)
					}},
				},
			},
			{
				Name: "The provider is down",
				Say: "The provider goes down, and 50 mails come. Each call fails; the mail goes back to pending, to be tried again " +
					"later: not at once, and each at a time of its own. Watch the calls: a peak, then fewer and fewer.",
				Do: func(ctx context.Context, s *scenario.Stage) (err error) {
					provider.Set(1, 0)
					s.Mark(callsPlot, "down")
					s.Note("", "the provider is down")
					calls.begin()
					late, err = s.Enqueue(ctx, slices.Repeat([]queue.NewJob{{MaxAttempts: 1_000_000}}, mails)...) // audiences may read for hours
					return err
				},
				Expect: []scenario.Expect{
					{Text: "each mail has failed, and was tried again", Within: 10 * time.Second, Holds: func(context.Context, *scenario.Stage) (bool, string, error) {
						n := calls.jobsWith(2)
						return n == mails, fmt.Sprintf("%d were tried twice", n), nil
					}},
					{Text: "after 3 s: no more than 50 calls a second", Within: 6 * time.Second, Holds: func(context.Context, *scenario.Stage) (bool, string, error) {
						rate := calls.lately(2 * time.Second)
						return calls.lasts() >= outage && rate <= mails, fmt.Sprintf("%.0f calls/s", rate), nil
					}},
					{Text: "no mail has given up", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						jobs, err := s.Q.ByID(ctx, late...)
						gaveUp := 0
						for i := range jobs {
							if jobs[i].Status.IsDeadLetter() {
								gaveUp++
							}
						}
						return err == nil && gaveUp == 0, fmt.Sprintf("%d have", gaveUp), err
					}},
				},
			},
			{
				Name: "It is up again",
				Say:  "The provider comes up again. Nobody need do anything: each mail is sent when its own retry is due, within three seconds, and not all in one moment.",
				Do: func(_ context.Context, s *scenario.Stage) error {
					calls.end()
					provider.Set(0, 0)
					s.Mark(callsPlot, "up")
					up = time.Now()
					s.Note("", "the provider is up again")
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "all 50 mails are sent", Within: 10 * time.Second, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						ok, seen, err := s.AllCompleted(ctx, late...)
						if ok && done.IsZero() {
							done = time.Now()
						}
						return ok, seen, err
					}},
				},
			},
		},
		Measures: []scenario.Measure{
			{
				Name: "calls", Text: "retries while the provider was down", Unit: "/s", Bound: scenario.AtMost(mails),
				Value: func(context.Context, *scenario.Stage) (float64, error) { return calls.retries(), nil },
			},
			{
				Name: "spread", Text: "from the first mail's retry to the last mail's", Unit: "s", Bound: scenario.AtLeast(0.3),
				Value: func(context.Context, *scenario.Stage) (float64, error) { return calls.spread().Seconds(), nil },
			},
			{
				Name: "peak", Text: "retries in the busiest tenth of a second", Unit: "calls", Bound: scenario.AtMost(mails * 3 / 5), Timed: true,
				Value: func(context.Context, *scenario.Stage) (float64, error) {
					return float64(calls.busiest(time.Second / 10)), nil
				},
			},
			{
				Name: "recovery", Text: "from the provider's return until all were sent", Unit: "s", Bound: scenario.AtMost(mostRetry.Seconds() + 1), Timed: true,
				Value: func(context.Context, *scenario.Stage) (float64, error) {
					if done.IsZero() {
						return 0, errors.New("not all were sent")
					}
					return done.Sub(up).Seconds(), nil
				},
			},
		},
	}
}
