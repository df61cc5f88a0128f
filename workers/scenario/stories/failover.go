package stories

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/sql/local"
	"github.com/leasetop/leasetop/workers/scenario"
)

// failover is restart's promise where the server does not come back.
func failover() scenario.Scenario {
	const lease = 10 * time.Second
	var (
		traffic  traffic
		standby  *local.Server
		promoted time.Time // by the database's clock
		refused  int
		back     func() // ends the outage
		servers  pair
	)
	return scenario.Scenario{
		Name:  "failover",
		Title: "The server dies, its standby takes over",
		Shows: "With a standby that has every commit before it is acknowledged, the loss of the server loses no job. " +
			"Workers whose connection string names both find the one that takes writes.",
		Needs: scenario.Server, Lasts: 14 * time.Second, Flows: true,
		Setup: func(ctx context.Context, s *scenario.Stage) (err error) {
			s.Note("", "the server is the primary; a standby will copy it")
			if standby, err = s.StartStandby(ctx, "-standby"); err != nil {
				return err
			}
			if err := s.Server.Await(ctx, standby); err != nil {
				return err
			}
			if err := nameBoth(ctx, s, standby); err != nil {
				return err
			}
			servers.standby = standby
			servers.begin(s)
			return traffic.setUp(ctx, s, scenario.CrewOptions{Workers: []string{"w1", "w2"}, Lease: lease})
		},
		Steps: []scenario.Step{
			{
				Name: "Jobs flow",
				Say: "Two servers run: a primary, and a standby that copies it as it goes. A commit is acknowledged when both have it. " +
					"A producer will enqueue 40 short jobs a second for w1 and w2, from now to the end.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					traffic.begin(s)
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "each commit waits for both servers", Within: 10 * time.Second, Holds: func(ctx context.Context, s *scenario.Stage) (ok bool, _ string, err error) {
						err = s.Q.Pool().QueryRow(ctx, s.Q.Schema().Query("scenario_in_sync")).Scan(&ok)
						return ok, "there is no synchronous standby", err
					}},
					traffic.flows("w1 and w2 complete jobs"),
				},
			},
			{
				Name: "The primary dies",
				Say: "The primary dies, for good. The standby takes no writes yet, so nothing can be enqueued, claimed or completed: watch the curve stop. " +
					"What the producer enqueues is refused, and it is told so.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					refused, _ = traffic.Refused()
					s.Mark(throughputPlot, "dies")
					s.Note("", "the primary: dead")
					back = s.Outage("there is no primary")
					if err := s.Server.Halt(ctx, local.Immediate); err != nil {
						return err
					}
					return servers.dies(ctx, s)
				},
				Expect: []scenario.Expect{
					{Text: "enqueues are refused", Within: 10 * time.Second, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						n, _ := traffic.Refused()
						return n-refused >= seenFlow, fmt.Sprintf("%d were refused", n-refused), nil
					}},
				},
			},
			{
				Name: "The standby takes over",
				Say: "We promote the standby: it will take writes. w1 and w2 try the servers of their connection string in turn, and go on with it " +
					"by themselves. Watch the curve come back.",
				Do: func(ctx context.Context, s *scenario.Stage) (err error) {
					if promoted, _, err = ask(ctx, s, standby); err != nil {
						return err
					}
					if err := standby.Promote(ctx); err != nil {
						return err
					}
					servers.promote(s)
					s.Note("", "the standby: now the primary")
					back()
					tellUnanswered(s, lease)
					n, _ := traffic.Refused()
					s.Note("", fmt.Sprintf("%d enqueues were refused meanwhile", n-refused))
					traffic.mark(s, "promoted")
					return nil
				},
				Expect: []scenario.Expect{
					traffic.there("every acknowledged job is there"),
					traffic.flows(fmt.Sprintf("w1 and w2 complete %d jobs after it", seenFlow)),
				},
			},
			{
				Name: "The rest is done",
				Say: "The producer ends now, and all will be done. Some jobs took a second attempt: the first broke off with the primary. " +
					"Should a claim's answer have got lost, its job waits, though w1 and w2 are idle: 10 s at most.",
				Do: func(context.Context, *scenario.Stage) error {
					traffic.Stop()
					return nil
				},
				Expect: []scenario.Expect{
					// One whose worker gave it up meanwhile waits for the end of its lease.
					{Text: "all jobs are completed", Within: lease + 10*time.Second, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						ok, seen, err := s.AllCompleted(ctx, traffic.Jobs()...)
						if ok {
							servers.has(s, int64(len(traffic.Jobs()))) // there may be no look any more
						}
						return ok, seen, err
					}},
					{Text: "each had one effect", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.OneEffectEach(ctx, traffic.Jobs()...)
					}},
				},
			},
		},
		Measures: []scenario.Measure{{
			Name: "follow", Text: "promotion until job done", Unit: "s", After: 3, Bound: scenario.AtMost(8), Timed: true,
			Value: func(ctx context.Context, s *scenario.Stage) (float64, error) {
				now, err := s.Now(ctx)
				if err != nil {
					return 0, err
				}
				pause, err := s.Pause(ctx, promoted, now)
				return pause.Seconds(), err
			},
		}},
	}
}

// ask is the clock of a server that may take no writes, and how many jobs it has as completed.
func ask(ctx context.Context, s *scenario.Stage, server *local.Server) (now time.Time, completed int64, err error) {
	conn, err := pgx.Connect(ctx, server.URL(s.Q.ConnConfig().Database))
	if err != nil {
		return now, 0, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := conn.QueryRow(ctx, s.Q.Schema().Query("scenario_now")).Scan(&now); err != nil {
		return now, 0, err
	}
	rows, err := conn.Query(ctx, s.Q.Schema().Query("scenario_depth"), []string{s.Queue("")})
	if err != nil {
		return now, 0, err
	}
	depths, err := pgx.CollectRows(rows, pgx.RowToStructByPos[scenario.Depth])
	for _, d := range depths {
		completed += d.Completed
	}
	return now, completed, err
}

// nameBoth has the audience, and the crews that start from now on, connect to whichever
// takes writes: the stage's own server or another one.
func nameBoth(ctx context.Context, s *scenario.Stage, other *local.Server) error {
	both, err := url.Parse(s.Q.Pool().Config().ConnString())
	if err != nil {
		return err
	}
	second, err := url.Parse(other.URL(""))
	if err != nil {
		return err
	}
	names := both.Query()
	for _, part := range []string{"host", "port"} {
		names.Set(part, names.Get(part)+","+second.Query().Get(part))
	}
	names.Set("target_session_attrs", "read-write")
	both.RawQuery = names.Encode()
	config, err := pgxpool.ParseConfig(both.String())
	if err != nil {
		return err
	}
	return s.Reconnect(ctx, config)
}
