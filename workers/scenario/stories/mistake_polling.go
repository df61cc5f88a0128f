package stories

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/faults"
	"github.com/leasetop/leasetop/workers/scenario"
)

// mistakePolling is workers that know no way to wait but to ask again, beside as many that
// are told.
func mistakePolling() scenario.Scenario {
	const (
		many  = 50
		every = 50 * time.Millisecond
		jobs  = 20
		soon  = 100 * time.Millisecond
	)
	var (
		storm                  *faults.Storm
		crew                   *scenario.Crew
		stormRate, crewRate    float64 // claims a second while there is nothing to do
		stormDelay, crewDelay  time.Duration
		stormJobs, crewJobs    []int64
		stormAsked, crewAsked  func() float64
		asksMuch, asksSeldom   = "m1 to m50 ask", "c1 to c50 ask"
		asked                  = "times/s"
		unhurried              = 4 * time.Second // ours ask less and less often
		gathered               = time.Second     // until all of them are connected
		watched                = 3 * time.Second
		spacing                = 60 * time.Millisecond
		tellsMuch, tellsSeldom = "each of them every 50 ms", "when told, and now and then"
		longer                 = time.Minute // than each step takes
		act                    deed
	)
	stormAsked = func() float64 { return float64(storm.Polls()) }
	// The claims of the last half minute are all there are: the crew is younger.
	crewAsked = func() float64 { return float64(crew.Pool.ClaimLatency().Count) }
	return scenario.Scenario{
		Name:  "mistake-polling",
		Title: "Mistake: fifty workers poll every 50 ms",
		Shows: "Fifty idle workers that each ask every 50 ms are quick, and put up to a thousand questions a second to the server for it. Workers that are told of new jobs are quick too, and ask seldom.",
		Needs: scenario.Queue, Lasts: 13 * time.Second,
		Setup: func(_ context.Context, s *scenario.Stage) error {
			s.Exempt("mistake") // such workers enter no effects
			return nil
		},
		Steps: []scenario.Step{
			{
				Name: "Fifty workers poll",
				Say:  "m is the mistake, c the cure. m1 to m50 know one way to wait: each asks for a job every 50 ms. There is none all the while. Watch how often that is for the server, in a second.",
				Do: act.doing(func(ctx context.Context, s *scenario.Stage) error {
					var err error
					if storm, err = faults.PollingStorm(s.Q, s.Queue("mistake"), "m", many, every); err != nil {
						return err
					}
					s.Later("end the polling storm", func(context.Context) error {
						storm.Stop()
						return nil
					})
					s.Note("", "m1 to m50 begin to ask")
					if stormRate, err = plotRate(ctx, s, asksMuch, asked, stormAsked, gathered, watched); err != nil {
						return err
					}
					goOnPlotting(s, asksMuch, asked, stormAsked)
					s.Bar(scenario.Bar{Name: asksMuch, Value: stormRate, Unit: asked, Most: stormRate, Note: tellsMuch, Bad: true})
					return nil
				}),
				Expect: []scenario.Expect{
					{Text: "m1 to m50 ask more than 500 times a second", Harm: true, Within: longer, Holds: act.done(func() (bool, string) {
						return stormRate > 500, fmt.Sprintf("%.0f a second", stormRate)
					})},
				},
			},
			{
				Name: "Fifty are told",
				Say:  "c1 to c50 join, on a queue of their own, while m's go on. They LISTEN: the server tells them when there is work. In case it cannot, they look too, first after 0.1 s, then ever more seldom. Watch their bars sink.",
				Do: act.doing(func(ctx context.Context, s *scenario.Stage) (err error) {
					var names []string
					for i := range many {
						names = append(names, fmt.Sprintf("c%d", i+1))
					}
					if crew, err = s.Crew(ctx, scenario.CrewOptions{Workers: names, Queues: []string{"cure"}, Unlisted: true}); err != nil {
						return err
					}
					s.Note("", "c1 to c50 join, and listen")
					crewRate, err = plotRate(ctx, s, asksSeldom, asked, crewAsked, unhurried, watched)
					s.Bar(scenario.Bar{Name: asksSeldom, Value: crewRate, Unit: asked, Most: stormRate, Note: tellsSeldom, Over: true})
					return err
				}),
				Expect: []scenario.Expect{
					{Text: "c1 to c50 ask less than a tenth as often", Within: longer, Holds: act.done(func() (bool, string) {
						return crewRate < stormRate/10, fmt.Sprintf("%.0f against %.0f a second", crewRate, stormRate)
					})},
				},
			},
			{
				Name: "Do they come late?",
				Say:  "Do c1 to c50 pay for that by coming late? We send 20 jobs to them, and 20 to m1 to m50. Two bars will tell within what time half are done (full: 100 ms), and how many questions a second go into that.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					pause := time.NewTicker(spacing)
					defer pause.Stop()
					for range jobs {
						ids, err := s.Enqueue(ctx, queue.NewJob{Queue: "mistake"}, queue.NewJob{Queue: "cure"})
						if err != nil {
							return err
						}
						stormJobs, crewJobs = append(stormJobs, ids[0]), append(crewJobs, ids[1])
						select {
						case <-ctx.Done():
							return context.Cause(ctx)
						case <-pause.C:
						}
					}
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "all 40 jobs are done", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.AllCompleted(ctx, slices.Concat(stormJobs, crewJobs)...)
					}},
					{Text: "half of c's within 100 ms", Within: atOnce, Holds: func(ctx context.Context, s *scenario.Stage) (ok bool, seen string, err error) {
						if stormDelay, err = medianDelay(ctx, s, stormJobs); err != nil {
							return false, "", err
						}
						if crewDelay, err = medianDelay(ctx, s, crewJobs); err != nil {
							return false, "", err
						}
						most := inMilliseconds(soon)
						s.Bar(scenario.Bar{Name: "m's jobs take", Value: inMilliseconds(stormDelay), Unit: "ms", Most: most, Note: "for " + thousands(int(math.Round(stormRate))) + " questions a second", Over: true})
						s.Bar(scenario.Bar{Name: "c's jobs take", Value: inMilliseconds(crewDelay), Unit: "ms", Most: most, Note: fmt.Sprintf("for %.0f questions a second", crewRate), Over: true})
						if crewDelay < soon {
							s.Note("", fmt.Sprintf("m's are quick, for %s questions a second; c's too, for %.0f", thousands(int(math.Round(stormRate))), crewRate))
						}
						return crewDelay < soon, fmt.Sprintf("within %v", crewDelay), nil
					}},
				},
			},
		},
		Measures: []scenario.Measure{
			{
				Name: "times_as_many_claims", Text: "m asks: times as often", Harm: true, Bound: scenario.AtLeast(10), After: 2,
				Value: func(context.Context, *scenario.Stage) (float64, error) { return stormRate / max(crewRate, 1), nil },
			},
			{
				Name: "delay_when_told", Text: "c: from enqueued to done", Unit: "ms", Bound: scenario.AtMost(inMilliseconds(soon)), Timed: true,
				Value: func(context.Context, *scenario.Stage) (float64, error) { return inMilliseconds(crewDelay), nil },
			},
			{
				Name: "delay_when_polling", Text: "m: from enqueued to done", Unit: "ms",
				Value: func(context.Context, *scenario.Stage) (float64, error) { return inMilliseconds(stormDelay), nil },
			},
		},
	}
}
