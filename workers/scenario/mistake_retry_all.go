package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// mistakeRetryAll tries again what can never succeed, beside one that says so at once.
func mistakeRetryAll() Scenario {
	const each, bad = 20, 8
	var (
		gate          = NewGate()
		noAddress     = errors.New("the mail has no address")
		mistake, cure struct {
			jobs  []int64
			wrong []int64      // those without an address
			vain  atomic.Int64 // runs of those
		}
	)
	jobs := func(ctx context.Context, s *Stage, ids []int64, status queue.Status, attempts int) (int, error) {
		all, err := s.Q.ByID(ctx, ids...)
		n := 0
		for i := range all {
			if all[i].Status == status && all[i].Attempts == attempts {
				n++
			}
		}
		return n, err
	}
	became := func(ids *[]int64, want int, status queue.Status, attempts int) func(ctx context.Context, s *Stage) (bool, string, error) {
		return func(ctx context.Context, s *Stage) (bool, string, error) {
			n, err := jobs(ctx, s, *ids, status, attempts)
			return n == want, fmt.Sprintf("%d are %s after %d", n, status, attempts), err
		}
	}
	show := func(s *Stage, over bool) {
		for _, one := range []struct {
			name string
			vain int64
		}{{"retry all", mistake.vain.Load()}, {"permanent", cure.vain.Load()}} {
			s.Bar(Bar{Name: one.name, Value: float64(one.vain), Unit: "runs", Most: 5 * bad, Note: "in vain", Bad: one.vain > bad, Over: over})
		}
	}
	return Scenario{
		Name:  "mistake-retry-all",
		Title: "Mistake: every error is retried",
		Shows: "A mail without an address will have none tomorrow. Retried like a busy server it wastes every attempt, and you hear of it last. Called permanent, it is a dead letter at once.",
		Needs: Queue, Lasts: 3 * time.Second, Quick: true,
		Setup: func(ctx context.Context, s *Stage) error {
			send := func(vain *atomic.Int64, err error) func(ctx context.Context, job *queue.Job) error {
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
			_, err := s.Crew(ctx, CrewOptions{
				Workers: []string{"m1", "m2"}, Queues: []string{"mistake"}, Backoff: backoff, Work: send(&mistake.vain, noAddress),
			})
			if err != nil {
				return err
			}
			_, err = s.Crew(ctx, CrewOptions{
				Workers: []string{"c1", "c2"}, Queues: []string{"cure"}, Backoff: backoff, Work: send(&cure.vain, queue.Permanent(noAddress)),
			})
			return err
		},
		Steps: []Step{
			{
				Say: "We enqueue 20 mails for m1 and m2, and 20 for c1 and c2. Of each 20, 8 have no address: no retry will cure that. Each of the four takes a mail, and waits for us.",
				Do: func(ctx context.Context, s *Stage) error {
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
				Expect: []Expect{
					{Text: "each of the four holds a mail", Holds: func(_ context.Context, s *Stage) (bool, string, error) {
						n := 0
						for _, name := range []string{"m1", "m2", "c1", "c2"} {
							n += len(s.Worker(name).Running)
						}
						return n == 4, fmt.Sprintf("%d mails are held", n), nil
					}},
				},
			},
			{
				Say: "They send. c1 and c2 call the missing address a permanent error. m1 and m2 try again: 5 times, after waits that double. Here these begin at 0.1 s; at the usual 2 minutes it takes half an hour to learn of the fault.",
				Do: func(context.Context, *Stage) error {
					gate.Open()
					return nil
				},
				Expect: []Expect{
					{Text: "c1, c2: 12 sent, each at its first attempt", Holds: became(&cure.jobs, each-bad, queue.Completed, 1)},
					{Text: "c1, c2: 8 dead at their first attempt", Holds: became(&cure.wrong, bad, queue.Dead, 1)},
					{Text: "m1, m2: 12 sent", Holds: became(&mistake.jobs, each-bad, queue.Completed, 1)},
					{Text: "m1, m2: 8 failed, after five attempts each", Holds: became(&mistake.wrong, bad, queue.Failed, 5)},
				},
			},
		},
		Measures: []Measure{
			{
				Name: "vain", Text: "runs in vain, where the error is called permanent", Bound: Exactly(bad),
				Value: func(_ context.Context, s *Stage) (float64, error) {
					show(s, true)
					return float64(cure.vain.Load()), nil
				},
			},
			{
				Name: "vain_retried", Text: "and where every error is retried", Bound: Exactly(5 * bad),
				Value: func(context.Context, *Stage) (float64, error) { return float64(mistake.vain.Load()), nil },
			},
		},
	}
}
