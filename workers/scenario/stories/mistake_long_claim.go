package stories

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/faults"
	"github.com/leasetop/leasetop/workers/scenario"
)

// mistakeLongClaim keeps the claim's transaction open while the job is worked on, beside
// claims that are committed at once.
func mistakeLongClaim() scenario.Scenario {
	const two, neighbours = 2, 1000
	var (
		cable                = faults.NewCable() // of those who make the mistake
		gate                 = scenario.NewGate()
		crew                 *scenario.Crew
		mistake, cure, other []int64
		pinned, left         int64 // old row versions: with the transactions open, and without
	)
	m := func(i int) string { return fmt.Sprintf("m%d", i+1) }
	// dead runs VACUUM, and tells how many old row versions it had to leave.
	dead := func(ctx context.Context, s *scenario.Stage) (n int64, err error) {
		if err := runVacuum(ctx, s); err != nil {
			return 0, err
		}
		err = s.Q.Pool().QueryRow(ctx, s.Q.Schema().Query("scenario_dead_rows")).Scan(&n)
		return n, err
	}
	// sweeps shows what VACUUM has to leave now: anything is harm.
	sweeps := func(ctx context.Context, s *scenario.Stage, bar, why string) (n int64, err error) {
		if n, err = dead(ctx, s); err == nil {
			s.Bar(scenario.Bar{Name: bar, Value: float64(n), Unit: "old rows", Most: float64(max(n, pinned)), Note: why, Bad: n > 0, Over: true})
		}
		return n, err
	}
	// keeps shows how many connections stand idle in a transaction.
	keeps := func(ctx context.Context, s *scenario.Stage, bar, app string) (n int, err error) {
		if err = s.Q.Pool().QueryRow(ctx, s.Q.Schema().Query("scenario_idle_in_transaction"), app).Scan(&n); err == nil {
			s.Bar(scenario.Bar{Name: bar, Value: float64(n), Unit: "connections", Most: two, Bad: n > 0, Over: true})
		}
		return n, err
	}
	// are tells whether all these jobs look like that.
	are := func(ctx context.Context, s *scenario.Stage, ids []int64, status queue.Status, attempts int) (bool, string, error) {
		all, err := s.Q.ByID(ctx, ids...)
		n := 0
		for i := range all {
			if all[i].Status == status && all[i].Attempts == attempts {
				n++
			}
		}
		return n == len(ids), fmt.Sprintf("%d of %d are %s after %d attempts", n, len(ids), status, attempts), err
	}
	return scenario.Scenario{
		Name:  "mistake-long-claim",
		Title: "Mistake: work inside the claim's transaction",
		Shows: "A claim that is committed only when the work is done hides the job, keeps a connection, and holds up VACUUM for the whole database. And a crash undoes it all, the count of attempts too.",
		Needs: scenario.Schema, Lasts: 4 * time.Second, Quick: true,
		Setup: func(ctx context.Context, s *scenario.Stage) (err error) {
			crew, err = s.Crew(ctx, scenario.CrewOptions{
				Queues: []string{"cure", "mistake"}, // what is left of the mistake in the end
				Work:   func(ctx context.Context, job *queue.Job) error { return gate.Wait(ctx, job.ID) },
			})
			if err != nil {
				return err
			}
			for i := range two {
				if err := crew.Pool.SpawnAs(fmt.Sprintf("c%d", i+1), []string{s.Queue("cure")}, 1); err != nil {
					return err
				}
			}
			_, err = s.Crew(ctx, scenario.CrewOptions{Workers: []string{"n1"}, Slots: 4, Conns: 6, Queues: []string{"other"}, Unlisted: true})
			return err
		},
		Steps: []scenario.Step{
			{
				Name: "Two ways to claim",
				Say:  "m is the mistake, c the cure; each has two jobs. m1 and m2 claim in a transaction that they keep open while they work. c1 and c2 claim, commit, and work under a lease. Compare what JOBS says, and the connections.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					ids, err := s.Enqueue(ctx, slices.Concat(slices.Repeat([]queue.NewJob{{Queue: "mistake"}}, two), slices.Repeat([]queue.NewJob{{Queue: "cure"}}, two))...)
					if err != nil {
						return err
					}
					mistake, cure = ids[:two], ids[two:]
					return claimAndHold(ctx, s, cable, "mistake", two, m)
				},
				Expect: []scenario.Expect{
					{Text: "c's two jobs are processing, at attempt 1", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return are(ctx, s, cure, queue.Processing, 1)
					}},
					{Text: "m's two jobs look as if nobody had them", Harm: true, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return are(ctx, s, mistake, queue.Pending, 0)
					}},
					{Text: "m keeps two connections, idle in a transaction", Harm: true, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						n, err := keeps(ctx, s, "m keeps", holders(s))
						return n == two, fmt.Sprintf("%d do", n), err
					}},
					{Text: "c keeps none", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						n, err := keeps(ctx, s, "c keeps", crew.Queue.Pool().Config().ConnConfig.RuntimeParams["application_name"])
						return n == 0, fmt.Sprintf("%d are idle in a transaction", n), err
					}},
				},
			},
			{
				Name: "VACUUM may not",
				Say:  "A neighbour does 1,000 other jobs meanwhile. That leaves old versions of rows, which VACUUM is there to clear away. We run it: it must leave them, for m's open transactions might still look at them.",
				Do: func(ctx context.Context, s *scenario.Stage) (err error) {
					jobs := make([]queue.NewJob, neighbours)
					for i := range jobs {
						jobs[i].Queue = "other"
					}
					other, err = s.Enqueue(ctx, jobs...)
					return err
				},
				Expect: []scenario.Expect{
					{Text: "the 1,000 other jobs are completed", Within: 20 * time.Second, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.AllCompleted(ctx, other...)
					}},
					{Text: "VACUUM must leave 1,000 old versions and more", Harm: true, Holds: func(ctx context.Context, s *scenario.Stage) (ok bool, seen string, err error) {
						if pinned, err = sweeps(ctx, s, "m's claims open", "left: m might still look at them"); err == nil && pinned >= neighbours {
							s.Note("", fmt.Sprintf("VACUUM ran and left %d old row versions", pinned))
						}
						return pinned >= neighbours, fmt.Sprintf("it left %d", pinned), err
					}},
				},
			},
			{
				Name: "The network breaks",
				Say:  "The network to m1 and m2 breaks. Their claims are rolled back as if they had never been. No attempt is counted: a job that kills its worker would do so for ever. Now VACUUM may clear up, with c's jobs still in work.",
				Do: func(_ context.Context, s *scenario.Stage) error {
					cable.Cut()
					s.Note("", "the network to m1 and m2 broke")
					for i := range two {
						s.Idle(m(i))
						s.Says(m(i), "partitioned")
					}
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "m's connections are gone", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						n, err := keeps(ctx, s, "m keeps", holders(s))
						return n == 0, fmt.Sprintf("it keeps %d", n), err
					}},
					{Text: "VACUUM leaves none", Holds: func(ctx context.Context, s *scenario.Stage) (ok bool, seen string, err error) {
						if left, err = sweeps(ctx, s, "m's claims gone", ""); err == nil && left == 0 {
							s.Note("", "VACUUM ran and left no old row version")
						}
						return left == 0, fmt.Sprintf("it left %d", left), err
					}},
					{Text: "m's jobs: no attempt is counted", Harm: true, Within: atOnce, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return are(ctx, s, mistake, queue.Pending, 0)
					}},
					{Text: "c's jobs are in work as before", Within: atOnce, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return are(ctx, s, cure, queue.Processing, 1)
					}},
				},
			},
			{
				Name: "Another takes them",
				Say:  "c3 joins, with room for two jobs, and takes those that m1 and m2 had. To the table that is their first attempt: it knows nothing of m1 and m2. Only our lanes remember that these had tried.",
				Do: func(_ context.Context, s *scenario.Stage) error {
					return crew.Pool.SpawnAs("c3", []string{s.Queue("mistake")}, two)
				},
				Expect: []scenario.Expect{
					{Text: "c3 has m's two jobs, at attempt 1 again", Harm: true, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						ok, seen, err := are(ctx, s, mistake, queue.Processing, 1)
						if ok {
							jobs := fmt.Sprintf("jobs %d, %d: attempt 1", mistake[0], mistake[1])
							s.Note("c3", fmt.Sprintf("has jobs %d, %d: the table says attempt 1", mistake[0], mistake[1]))
							s.Bar(scenario.Bar{Name: "attempts counted", Value: 1, Unit: "of 2", Most: 2, Note: jobs + ", yet it is the 2nd", Bad: true, Over: true})
						}
						return ok, seen, err
					}},
				},
			},
			{
				Name: "All four done",
				Say:  "c1 to c3 may finish now. With the commit at once the claim was in the table for all to see, cost no connection, and held nobody up.",
				Do: func(context.Context, *scenario.Stage) error {
					gate.Open()
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "all four jobs are completed", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.AllCompleted(ctx, slices.Concat(mistake, cure)...)
					}},
				},
			},
		},
		Measures: []scenario.Measure{
			{
				Name: "left_with_open_claims", Text: "claims open: rows left", Harm: true, Bound: scenario.AtLeast(neighbours), After: 2,
				Value: func(context.Context, *scenario.Stage) (float64, error) { return float64(pinned), nil },
			},
			{
				Name: "left_without_open_claims", Text: "claims gone: rows left", Bound: scenario.Exactly(0), After: 3,
				Value: func(context.Context, *scenario.Stage) (float64, error) { return float64(left), nil },
			},
		},
	}
}

// holders is what the server knows those by who work inside the transactions of their claims.
func holders(s *scenario.Stage) string { return "leasetop scenario " + s.RunName() + " holders" }

// claimAndHold has so many workers claim a job each, in transactions that stay open until
// the cable is cut, or the play is over. No lease tells of them, so the story does.
func claimAndHold(ctx context.Context, s *scenario.Stage, cable *faults.Cable, name string, n int, worker func(i int) string) error {
	through := func(c *pgx.ConnConfig) {
		cable.Through(c)
		c.RuntimeParams["application_name"] = holders(s)
		c.RuntimeParams["idle_in_transaction_session_timeout"] = "0" // an audience may read for long
	}
	s.Later("end the open transactions", func(context.Context) error {
		cable.Close()
		return nil
	})
	for i := range n {
		conn, _, err := s.Q.Connect(ctx, through)
		if err != nil {
			return fmt.Errorf("claim and hold: %w", err)
		}
		if _, err := conn.Begin(ctx); err != nil {
			return fmt.Errorf("claim and hold: %w", err)
		}
		id, ok, err := faults.Skipping(ctx, conn, s.Q.Schema(), s.Queue(name), worker(i), scenario.UsualLease)
		if err != nil || !ok {
			return errors.Join(err, fmt.Errorf("%s got no job", worker(i)))
		}
		s.Working(worker(i), id)
	}
	return nil
}
