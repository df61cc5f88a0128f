package stories

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/faults"
	"github.com/leasetop/leasetop/workers/scenario"
)

// kill9 is the first promise with a real process: nothing of it can clean up.
func kill9() scenario.Scenario {
	const (
		many  = 20
		lease = 3 * time.Second
	)
	var (
		victim *faults.Process
		other  *scenario.Crew
		jobs   []int64
		gate   = scenario.NewGate()
		killed time.Time // by the database's clock
		holds  []func()  // show who holds the jobs
	)
	return scenario.Scenario{
		Name:  "kill9",
		Title: "kill -9 with 20 jobs in hand",
		Shows: "It does not matter how a worker dies, or with how much work in hand: no process needs to say goodbye. " +
			"What it held is back when its leases run out, all of it at once.",
		Needs: scenario.Queue, Lasts: 5 * time.Second, Quick: true,
		Setup: func(ctx context.Context, s *scenario.Stage) (err error) {
			other, err = s.Crew(ctx, scenario.CrewOptions{
				Lease: lease,
				// The other process holds its jobs and does none; this one does them when it is told.
				Work: func(ctx context.Context, job *queue.Job) error { return gate.Wait(ctx, job.ID) },
			})
			if err != nil {
				return err
			}
			if victim, err = s.Process(ctx, scenario.ProcessOptions{Name: "w1", Slots: many, Lease: lease}); err != nil {
				return err
			}
			s.Note("w1", fmt.Sprintf("is process %d", victim.Pid()))
			return nil
		},
		Steps: []scenario.Step{
			{
				Name: "w1 takes 20 jobs",
				Say: "w1 is a process of its own, which ps would show. It does up to 20 jobs at a time. We enqueue 20, and it claims them all, " +
					"by leases of 3 s: its lane shows a letter for one of them, the bar how many.",
				Do: func(ctx context.Context, s *scenario.Stage) (err error) {
					if jobs, err = s.Enqueue(ctx, slices.Repeat([]queue.NewJob{{Kind: scenario.Holding}}, many)...); err == nil {
						holds = append(holds, showHolder(s, "w1", jobs, victim.Pid()))
					}
					return err
				},
				Expect: []scenario.Expect{
					{Text: "all 20 rows name w1 and its pid", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						n, err := heldIn(ctx, s, jobs, victim.Pid())
						return n == many, fmt.Sprintf("%d of %d name process %d", n, many, victim.Pid()), err
					}},
				},
			},
			{
				Name: "kill -9",
				Say: "w2 joins, in this process, with 20 free slots. Then kill -9: no handler returns, nothing is written. " +
					"The rows name w1 until its leases run out, 3 s from its last heartbeat. Watch: then all are w2's.",
				Do: func(ctx context.Context, s *scenario.Stage) (err error) {
					if err := other.Pool.SpawnAs("w2", []string{s.Queue("")}, many); err != nil {
						return err
					}
					holds = append(holds, showHolder(s, "w2", jobs, os.Getpid()))
					if killed, err = s.Now(ctx); err != nil {
						return err
					}
					if err := victim.Kill(); err != nil {
						return err
					}
					s.Note("w1", fmt.Sprintf("kill -9 %d", victim.Pid()))
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "the process was ended by signal 9", Within: 2 * time.Second, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						select {
						case <-victim.Done():
							seen := fmt.Sprint(victim.Err())
							return strings.Contains(seen, "killed"), seen, nil
						default:
							return false, "it runs", nil
						}
					}},
					{Text: "w2 holds all 20, at attempt 2", Within: lease + 3*time.Second, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						n, err := heldIn(ctx, s, jobs, os.Getpid())
						again := 0
						for _, r := range s.Worker("w2").Running {
							if r.Attempt == 2 {
								again++
							}
						}
						if n == many && again == many {
							s.Note("w2", "takes all 20 over: their second attempt")
						}
						return n == many && again == many, fmt.Sprintf("%d are held by it, %d at their second attempt", n, again), err
					}},
				},
			},
			{
				Name: "w2 finishes all 20",
				Say:  "Now w2 may do what w1 could not. Each of the 20 jobs was begun twice, and will have one effect.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					gate.Open()
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "all 20 jobs are completed", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						ok, seen, err := s.AllCompleted(ctx, jobs...)
						for _, show := range holds {
							show() // what is the end is shown
						}
						return ok, seen, err
					}},
					{Text: "each had one effect", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.OneEffectEach(ctx, jobs...)
					}},
				},
			},
		},
		Measures: []scenario.Measure{{
			Name: "recovery", Text: "kill until all pending", Unit: "s",
			After: 2, Bound: scenario.AtMost((lease + workers.RecoveryBound).Seconds()), Timed: true,
			Value: func(ctx context.Context, s *scenario.Stage) (float64, error) {
				return recovery(ctx, s, killed, jobs...)
			},
		}},
	}
}

// showHolder shows how many of the jobs' rows name a worker's process, until the play is over,
// and whenever it is asked to.
func showHolder(s *scenario.Stage, worker string, jobs []int64, pid int) (show func()) {
	var mu sync.Mutex
	shown := -1
	show = func() {
		mu.Lock()
		defer mu.Unlock()
		n, err := heldIn(s.Context(), s, jobs, pid)
		if err == nil && n != shown {
			shown = n
			s.Bar(scenario.Bar{Name: "rows that name " + worker, Value: float64(n), Unit: fmt.Sprintf("of %d", len(jobs)), Most: float64(len(jobs))})
		}
	}
	beside(s, scenario.LookEvery, func() (over bool) {
		show()
		return false
	})
	return show
}

// heldIn counts the jobs among these whose row names a process of this number.
func heldIn(ctx context.Context, s *scenario.Stage, ids []int64, pid int) (n int, err error) {
	jobs, err := s.Q.ByID(ctx, ids...)
	if err != nil {
		return 0, err
	}
	for i := range jobs {
		token, ok := queue.ParseToken(jobs[i].LockedBy)
		if parts := strings.Split(token.Process, ":"); ok && len(parts) == 3 && parts[1] == strconv.Itoa(pid) {
			n++
		}
	}
	return n, nil
}
