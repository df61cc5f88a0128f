package stories

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/faults"
	"github.com/leasetop/leasetop/workers/scenario"
)

const (
	// So often an idle worker of this story looks for work by itself.
	storyPollMin, storyPollMax = 500 * time.Millisecond, time.Second
	// lookedAgain is how long after a job it has looked for the next, and found none.
	lookedAgain = 100 * time.Millisecond
	// toldWithin is before it would look again after that: what starts later was not announced.
	toldWithin = 200 * time.Millisecond
	// pollSlack is what else a job may wait that w1 finds by looking.
	pollSlack = 250 * time.Millisecond
	// seenWork is how long each of its jobs takes.
	seenWork = 200 * time.Millisecond
	// seldomStarts is long enough for any machine to find out that a job does not start.
	seldomStarts = 30 * time.Second
)

// wakeups is about the wake-up calls: they make the queue quick, and nothing depends on them.
func wakeups() scenario.Scenario {
	var (
		crew                             *scenario.Crew
		cable                            = faults.NewCable() // only the listening session leads through it
		starts                           = make(waits, 100)
		session                          int32 // on which w1 listened
		told, looked, again              []time.Duration
		announced, during, quiet, mended []int64
	)
	// completed holds for jobs however long they waited: that is measured, since a busy
	// machine may take as long over an announced job as an idle one takes to look.
	completed := func(ids *[]int64) scenario.Expect {
		return scenario.Expect{Text: "all five are completed", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
			return s.AllCompleted(ctx, *ids...)
		}}
	}
	median := func(name, text string, after int, bound scenario.Bound, waits *[]time.Duration) scenario.Measure {
		return scenario.Measure{
			Name: name, Text: text, Unit: "ms", After: after, Bound: bound, Timed: true,
			Value: func(context.Context, *scenario.Stage) (float64, error) { return milliseconds(middle(*waits)), nil },
		}
	}
	return scenario.Scenario{
		Name:  "wakeups",
		Title: "Nobody hears of new jobs",
		Shows: "The server tells idle workers of each new job, so that it starts within milliseconds. " +
			"When that is lost they find it by looking: later, but within a bound, and none is missed.",
		Needs: scenario.Queue, Lasts: 9 * time.Second, Quick: true,
		Setup: func(ctx context.Context, s *scenario.Stage) (err error) {
			crew, err = s.Crew(ctx, scenario.CrewOptions{
				Workers: []string{"w1"}, PollMin: storyPollMin, PollMax: storyPollMax, Listener: cable, Work: starts.note,
			})
			if err != nil {
				return err
			}
			session, err = listenerOf(ctx, s, crew, 0)
			return err
		},
		Steps: []scenario.Step{
			{
				Name: "The server tells",
				Say: "w1 is idle. It listens for news from the server, and looks for work by itself only once or twice a second. Five jobs of 0.2 s " +
					"will come, one after the other. Watch for the bar of how long they waited: it is short.",
				Do: func(ctx context.Context, s *scenario.Stage) (err error) {
					announced, told, err = starts.ofEach(ctx, s, 5, "wait: told")
					return err
				},
				Expect: []scenario.Expect{completed(&announced)},
			},
			{
				Name: "The session ends",
				Say:  "On the server we end the session on which w1 listens, and enqueue five jobs at that moment: nobody is told of them. Watch w1 make a new session by itself, and look for what it may have missed.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					name := crew.Queue.ConnConfig().RuntimeParams["application_name"]
					if _, err := faults.TerminateListeners(ctx, s.Q, name); err != nil {
						return err
					}
					s.Note("w1", "its listening session is ended on the server")
					jobs, err := s.Enqueue(ctx, slices.Repeat([]queue.NewJob{{}}, 5)...)
					during = jobs
					return err
				},
				Expect: []scenario.Expect{
					completed(&during),
					{Text: "w1 listens again, on a new session", Within: 10 * time.Second, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						now, err := listenerOf(ctx, s, crew, session)
						return err == nil && now != session, "there is none", err
					}},
				},
			},
			{
				Name: "Nothing is heard",
				Say: "Worse: the session will seem to stand, but nothing arrives on it, as behind a firewall that forgot it. No error tells " +
					"w1. Five jobs come, one after the other; w1 finds each by looking. Compare the bars.",
				Do: func(ctx context.Context, s *scenario.Stage) (err error) {
					cable.Stall()
					s.Note("w1", "nothing arrives on its session any more")
					starts.forget()
					quiet, looked, err = starts.ofEach(ctx, s, 5, "wait: looking")
					return err
				},
				Expect: []scenario.Expect{completed(&quiet)},
			},
			{
				Name: "The network is mended",
				Say:  "We mend the network. (Had we not, w1 would notice after 25 s of silence, and make a new session.) Five jobs come once more: watch them start at once, as in the beginning.",
				Do: func(ctx context.Context, s *scenario.Stage) (err error) {
					cable.Heal()
					s.Note("w1", "its session carries again")
					starts.forget()
					mended, again, err = starts.ofEach(ctx, s, 5, "wait: told again")
					return err
				},
				Expect: []scenario.Expect{completed(&mended)},
			},
		},
		Measures: []scenario.Measure{
			median("told", "median wait when told", 1, scenario.AtMost(100), &told),
			median("not_told", "median wait, not told", 3, scenario.AtLeast(milliseconds(toldWithin)), &looked),
			{
				Name: "looked", Text: "longest wait, not told", Unit: "ms", After: 3, Bound: scenario.AtMost(milliseconds(storyPollMax + pollSlack)), Timed: true,
				Value: func(context.Context, *scenario.Stage) (float64, error) { return milliseconds(slices.Max(looked)), nil },
			},
			median("told_again", "median wait, told again", 4, scenario.AtMost(100), &again),
		},
	}
}

// waits are the times from the enqueue of jobs to their start, by the database's clock.
type waits chan time.Duration

// note is the work of a handler. It takes long enough to be seen.
func (w waits) note(ctx context.Context, job *queue.Job) error {
	wait := time.Duration(0)
	if job.LockedAt != nil {
		wait = job.LockedAt.Sub(job.CreatedAt)
	}
	select {
	case w <- wait:
	default: // nobody asks
	}
	return scenario.ToilFor(ctx, seenWork)
}

// forget forgets what was noted before.
func (w waits) forget() {
	for len(w) > 0 {
		<-w
	}
}

// ofEach enqueues n jobs, each when the one before is done and its worker idle again: who
// has just done one looks for the next. A bar shows how long they waited.
func (w waits) ofEach(ctx context.Context, s *scenario.Stage, n int, bar string) (ids []int64, all []time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, seldomStarts)
	defer cancel()
	for range n {
		added, err := s.Enqueue(ctx, queue.NewJob{})
		if err != nil {
			return nil, nil, err
		}
		ids = append(ids, added...)
		select {
		case wait := <-w:
			all = append(all, wait)
			showWait(s, bar, all, len(all) == n)
		case <-ctx.Done():
			return nil, nil, fmt.Errorf("wait for job %d to start: %w", added[0], context.Cause(ctx))
		}
		for done := false; !done; {
			select {
			case <-time.After(lookAgain):
			case <-ctx.Done():
				return nil, nil, fmt.Errorf("wait for job %d to end: %w", added[0], context.Cause(ctx))
			}
			if done, _, err = s.AllCompleted(ctx, added...); err != nil {
				return nil, nil, err
			}
		}
		if err := scenario.ToilFor(ctx, lookedAgain); err != nil {
			return nil, nil, err
		}
	}
	return ids, all, nil
}

// showWait shows how long jobs waited.
func showWait(s *scenario.Stage, name string, waits []time.Duration, over bool) {
	note := "from enqueue to start"
	if len(waits) > 1 {
		note += fmt.Sprintf(", median of %d jobs", len(waits))
	}
	s.Bar(scenario.Bar{Name: name, Value: milliseconds(middle(waits)), Unit: "ms", Most: milliseconds(storyPollMax), Over: over, Note: note})
}

// listenerOf waits for the session on which a crew hears of new work, if need be until
// that is another than the given one, and returns its process on the server.
func listenerOf(ctx context.Context, s *scenario.Stage, c *scenario.Crew, but int32) (int32, error) {
	name := workers.ListenerName(c.Queue.ConnConfig().RuntimeParams["application_name"])
	for {
		rows, err := s.Q.Pool().Query(ctx, s.Q.Schema().Query("scenario_listeners"), name)
		if err != nil {
			return 0, err
		}
		pids, err := pgx.CollectRows(rows, pgx.RowTo[int32])
		if err != nil {
			return 0, err
		}
		if i := slices.IndexFunc(pids, func(pid int32) bool { return pid != but }); i >= 0 {
			return pids[i], nil
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("wait for the workers to listen: %w", context.Cause(ctx))
		case <-time.After(lookAgain):
		}
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
