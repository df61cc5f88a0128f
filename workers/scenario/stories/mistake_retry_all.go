package stories

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/scenario"
)

// mistakeRetryAll tries again what can never succeed, beside one that says so at once.
func mistakeRetryAll() scenario.Scenario {
	const each, bad, attempts = 20, 8, 5
	var (
		mGate, cGate  = scenario.NewGate(), scenario.NewGate()
		noAddress     = errors.New("the mail has no address")
		mistake, cure struct {
			jobs  []int64
			wrong []int64      // those without an address
			vain  atomic.Int64 // runs of those
		}
	)
	became := func(ids *[]int64, want int, status queue.Status, after int) func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
		return func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
			all, err := s.Q.ByID(ctx, *ids...)
			n := 0
			for i := range all {
				if all[i].Status == status && all[i].Attempts == after {
					n++
				}
			}
			return n == want, fmt.Sprintf("%d are %s after %d", n, status, after), err
		}
	}
	show := func(s *scenario.Stage, over bool) {
		for _, one := range []struct {
			name string
			vain int64
		}{{"m: retry all", mistake.vain.Load()}, {"c: permanent", cure.vain.Load()}} {
			s.Bar(scenario.Bar{Name: one.name, Value: float64(one.vain), Unit: "runs", Most: attempts * bad, Note: "of the 8 mails without an address, in vain", Bad: one.vain > bad, Over: over})
		}
	}
	return scenario.Scenario{
		Name:  "mistake-retry-all",
		Title: "Mistake: every error is retried",
		Shows: "A mail without an address will have none tomorrow. Retried like a busy server it wastes every attempt, and is a dead letter last. Called permanent, it is one at once.",
		Needs: scenario.Queue, Lasts: 3 * time.Second, Quick: true,
		Setup: func(ctx context.Context, s *scenario.Stage) error {
			send := func(gate *scenario.Gate, vain *atomic.Int64, err error) func(ctx context.Context, job *queue.Job) error {
				return func(ctx context.Context, job *queue.Job) error {
					if err := gate.Wait(ctx, job.ID); err != nil {
						return err
					}
					if string(job.Payload) != "{}" {
						return nil
					}
					vain.Add(1)
					show(s, false)
					return err
				}
			}
			backoff := func(attempt int) time.Duration { return 100 * time.Millisecond << (attempt - 1) }
			_, err := s.Crew(ctx, scenario.CrewOptions{
				Workers: []string{"m1"}, Queues: []string{"mistake"}, Backoff: backoff, Work: send(mGate, &mistake.vain, noAddress),
			})
			if err != nil {
				return err
			}
			_, err = s.Crew(ctx, scenario.CrewOptions{
				Workers: []string{"c1"}, Queues: []string{"cure"}, Backoff: backoff, Work: send(cGate, &cure.vain, queue.Permanent(noAddress)),
			})
			return err
		},
		Steps: []scenario.Step{
			{
				Name: "40 mails, 16 wrong",
				Say:  "m is the mistake, c the cure. We enqueue 20 mails for m1, and 20 for c1. Of each 20, 8 have no address: no retry will cure that. Each worker takes a mail, and waits for us.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					wrong := s.Rand.Perm(each)[:bad]
					var new []queue.NewJob
					for _, name := range []string{"mistake", "cure"} {
						for i := range each {
							job := queue.NewJob{Queue: name, Payload: []byte(`{"to": "user@example.com"}`)}
							if slices.Contains(wrong, i) {
								job.Payload = nil
							}
							new = append(new, job)
						}
					}
					ids, err := s.Enqueue(ctx, new...)
					if err != nil {
						return err
					}
					mistake.jobs, cure.jobs = ids[:each], ids[each:]
					for _, i := range wrong {
						mistake.wrong, cure.wrong = append(mistake.wrong, ids[i]), append(cure.wrong, ids[each+i])
					}
					show(s, false)
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "m1 and c1 hold a mail each", Holds: func(_ context.Context, s *scenario.Stage) (bool, string, error) {
						n := 0
						for _, name := range []string{"m1", "c1"} {
							n += len(s.Worker(name).Running)
						}
						return n == 2, fmt.Sprintf("%d mails are held", n), nil
					}},
				},
			},
			{
				Name: "m retries all",
				Say:  "m1 sends. Each mail has 5 attempts, and waits that double between them: from 0.1 s here, from 2 minutes in earnest, half an hour in all. What fails at its last attempt has failed for good (FAILED in JOBS).",
				Do: func(context.Context, *scenario.Stage) error {
					mGate.Open()
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "m1: 12 sent, each at its first attempt", Holds: became(&mistake.jobs, each-bad, queue.Completed, 1)},
					{Text: "m1: 8 failed for good, after 5 attempts", Harm: true, Holds: became(&mistake.wrong, bad, queue.Failed, attempts)},
				},
			},
			{
				Name: "c says permanent",
				Say:  "c1 sends. It calls the missing address permanent: such a job is DEAD after one run. Failed and dead jobs are both dead letters: they stay until somebody looks at them and redrives them. c's are found at once.",
				Do: func(context.Context, *scenario.Stage) error {
					cGate.Open()
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "c1: 12 sent, each at its first attempt", Holds: became(&cure.jobs, each-bad, queue.Completed, 1)},
					{Text: "c1: 8 DEAD, after 1 attempt each", Holds: became(&cure.wrong, bad, queue.Dead, 1)},
				},
			},
		},
		Measures: []scenario.Measure{
			{
				Name: "runs_in_vain_when_permanent", Text: "c: runs in vain", Bound: scenario.Exactly(bad),
				Value: func(_ context.Context, s *scenario.Stage) (float64, error) {
					show(s, true)
					return float64(cure.vain.Load()), nil
				},
			},
			{
				Name: "runs_in_vain_when_retried", Text: "m: runs in vain", Harm: true, Bound: scenario.Exactly(attempts * bad), After: 2,
				Value: func(context.Context, *scenario.Stage) (float64, error) { return float64(mistake.vain.Load()), nil },
			},
		},
	}
}
