package stories

import (
	"context"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local"
	"github.com/leasetop/leasetop/workers/faults"
	"github.com/leasetop/leasetop/workers/scenario"
)

// restart is the promise of the commit: what was acknowledged is there after a crash of
// the server, and workers find it again by themselves.
func restart() scenario.Scenario {
	const (
		away  = 2 * time.Second  // so long that it can be watched
		lease = 15 * time.Second // longer than that, on any machine
	)
	var (
		traffic traffic
		long    int64
		gate    = scenario.NewGate()
		began   time.Time // by the database's clock
	)
	return scenario.Scenario{
		Name:  "restart",
		Title: "The server crashes and comes back",
		Shows: "What the database acknowledged it still has after a crash. Workers connect again by themselves, renew their leases, " +
			"and write what they could not write meanwhile; nothing takes effect twice.",
		Needs: scenario.Server, Lasts: 11 * time.Second, Flows: true,
		Setup: func(ctx context.Context, s *scenario.Stage) (err error) {
			if err := traffic.setUp(ctx, s, scenario.CrewOptions{Workers: []string{"w1", "w2"}, Lease: lease}); err != nil {
				return err
			}
			_, err = s.Crew(ctx, scenario.CrewOptions{
				Workers: []string{"w3"}, Queues: []string{"long"}, Lease: lease,
				Work: func(ctx context.Context, job *queue.Job) error { return gate.Wait(ctx, job.ID) },
			})
			return err
		},
		Steps: []scenario.Step{
			{
				Name: "Jobs flow",
				Say: "This play has a database server of its own. A producer will enqueue 40 short jobs a second for w1 and w2, from now to the end; " +
					"w3 gets one long job. The curve shows the completed jobs.",
				Do: func(ctx context.Context, s *scenario.Stage) (err error) {
					ids, err := s.Enqueue(ctx, queue.NewJob{Queue: "long"})
					if err != nil {
						return err
					}
					long = ids[0]
					traffic.begin(s)
					began, err = s.Now(ctx)
					return err
				},
				Expect: []scenario.Expect{
					traffic.flows("w1 and w2 complete jobs"),
					{Text: "w3 is at the long job", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						ok, seen, err := s.Held(ctx, []int64{long}, "w3")
						return ok && s.Runs("w3", long, 1), seen, err
					}},
				},
			},
			{
				Name: "The server crashes",
				Say: "We crash the server, as if the power failed, and start it again two seconds later. Watch the curve stop: no job is claimed or completed. " +
					"The workers try to connect again by themselves, two seconds apart at most.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					s.Mark(throughputPlot, "crash")
					s.Note("", "the server crashes: all connections break")
					back := s.Outage("the server is away")
					if err := faults.RestartServer(ctx, s.Server, local.Immediate, func() error { return scenario.ToilFor(ctx, away) }); err != nil {
						return err
					}
					back()
					tellUnanswered(s, lease)
					refused, _ := traffic.Refused()
					s.Note("", fmt.Sprintf("%d enqueues were refused meanwhile", refused))
					traffic.mark(s, "back")
					return nil
				},
				Expect: []scenario.Expect{
					traffic.there("every acknowledged job is there"),
					traffic.flows(fmt.Sprintf("w1 and w2 complete %d jobs after it", seenFlow)),
					{Text: "w3 never stopped: its job is at attempt 1", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						ok, seen, err := s.Held(ctx, []int64{long}, "w3")
						return ok && s.Runs("w3", long, 1), seen, err
					}},
				},
			},
			{
				Name: "The rest is done",
				Say: "The producer ends now, and w3 may finish. Some jobs took a second attempt: the first broke off with its connection. " +
					"Should a claim's answer have got lost, its job waits for its lease's end: 15 s at most.",
				Do: func(_ context.Context, s *scenario.Stage) error {
					gate.Open()
					traffic.Stop()
					return nil
				},
				Expect: []scenario.Expect{
					// One whose claim was not answered waits for the end of its lease.
					{Text: "all jobs are completed", Within: lease + 10*time.Second, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.AllCompleted(ctx, append(traffic.Jobs(), long)...)
					}},
					{Text: "each had one effect", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.OneEffectEach(ctx, append(traffic.Jobs(), long)...)
					}},
				},
			},
		},
		Measures: []scenario.Measure{
			{
				Name: "away", Text: "longest standstill", Unit: "s", After: 2, Bound: scenario.AtMost(12), Timed: true,
				Value: func(ctx context.Context, s *scenario.Stage) (float64, error) {
					now, err := s.Now(ctx)
					if err != nil {
						return 0, err
					}
					pause, err := s.Pause(ctx, began, now)
					return pause.Seconds(), err
				},
			},
		},
	}
}
