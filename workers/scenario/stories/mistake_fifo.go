package stories

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/scenario"
)

// mistakeFIFO has urgent jobs stand in one line with all others, beside a line of their own.
func mistakeFIFO() scenario.Scenario {
	const bulk, urgent = 200, 3
	const reset = "password-reset" // the kind of the urgent ones
	var (
		bulkGate, urgentGate = scenario.NewGate(), scenario.NewGate()
		mu                   sync.Mutex
		sent                 = map[string]int{} // newsletters, by worker
		before               = map[string]int{} // how many of them were sent when the first urgent mail's turn came
	)
	// mails is a figure of mails on its bar.
	mails := func(n int) string {
		if n == 1 {
			return "mail"
		}
		return "mails"
	}
	show := func(s *scenario.Stage, worker string, over bool) {
		names := map[string]string{"m1": "m1: one queue", "c1": "c1: two queues"}
		mu.Lock()
		n, note := sent[worker], "sent, and no urgent one yet"
		if over {
			n = before[worker]
			note = fmt.Sprintf("urgent after %d other %s", n, mails(n))
		}
		mu.Unlock()
		s.Bar(scenario.Bar{Name: names[worker], Value: float64(n), Unit: mails(n), Most: bulk, Note: note, Bad: n > 1, Over: over})
	}
	work := func(s *scenario.Stage, name string) func(ctx context.Context, job *queue.Job) error {
		return func(ctx context.Context, job *queue.Job) error {
			if job.Kind == reset {
				mu.Lock()
				if _, ok := before[name]; !ok {
					before[name] = sent[name]
				}
				mu.Unlock()
				return urgentGate.Wait(ctx, job.ID)
			}
			if err := bulkGate.Wait(ctx, job.ID); err != nil {
				return err
			}
			mu.Lock()
			_, late := before[name]
			sent[name]++
			mu.Unlock()
			if !late {
				show(s, name, false)
			}
			return nil
		}
	}
	ahead := func(worker string) (n int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		n, ok = before[worker]
		return n, ok
	}
	// turn tells whether the worker has an urgent mail in hand, after so many others.
	turn := func(worker, queue string, after int) func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
		return func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
			n, ok := ahead(worker)
			if !ok {
				return false, "it has none yet", nil
			}
			show(s, worker, true)
			depths, err := s.Depths(ctx)
			for _, d := range depths {
				if d.Queue == s.Queue(queue) && (d.Processing != 1 || d.Pending != urgent-1) {
					return false, fmt.Sprintf("%d in hand, %d wait", d.Processing, d.Pending), err
				}
			}
			return n == after, fmt.Sprintf("after %d", n), err
		}
	}
	return scenario.Scenario{
		Name:  "mistake-fifo",
		Title: "Mistake: urgent jobs in the common line",
		Shows: "A queue goes by age. An urgent job that joins it stands behind all that is older, whatever its payload says. A queue of its own, which the workers ask first, puts it in front.",
		Needs: scenario.Queue, Lasts: 3 * time.Second, Quick: true,
		Setup: func(ctx context.Context, s *scenario.Stage) error {
			if _, err := s.Crew(ctx, scenario.CrewOptions{Workers: []string{"m1"}, Queues: []string{"mistake"}, Work: work(s, "m1")}); err != nil {
				return err
			}
			_, err := s.Crew(ctx, scenario.CrewOptions{Workers: []string{"c1"}, Queues: []string{"urgent", "bulk"}, Work: work(s, "c1")})
			return err
		},
		Steps: []scenario.Step{
			{
				Name: "A newsletter goes out",
				Say:  "m is the mistake, c the cure. We enqueue a newsletter: 200 mails for m1, and 200 for c1. m1 has one queue, 'mistake', for everything. c1 has two, and asks 'urgent' first, then 'bulk'. Each takes a mail, and waits.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					var jobs []queue.NewJob
					for range bulk {
						jobs = append(jobs, queue.NewJob{Queue: "mistake", Kind: "newsletter"}, queue.NewJob{Queue: "bulk", Kind: "newsletter"})
					}
					_, err := s.Enqueue(ctx, jobs...)
					return err
				},
				Expect: []scenario.Expect{
					{Text: "m1 and c1 hold a mail each", Holds: func(_ context.Context, s *scenario.Stage) (bool, string, error) {
						m, c := len(s.Worker("m1").Running), len(s.Worker("c1").Running)
						return m == 1 && c == 1, fmt.Sprintf("they hold %d and %d", m, c), nil
					}},
				},
			},
			{
				Name: "Three urgent mails",
				Say:  "Now three customers of each want to reset their passwords. m1's mails say in their payload that they are urgent: \"priority\": \"high\". c1's go to the queue 'urgent'.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					var jobs []queue.NewJob
					for range urgent {
						jobs = append(jobs,
							queue.NewJob{Queue: "mistake", Kind: reset, Payload: []byte(`{"priority": "high"}`)},
							queue.NewJob{Queue: "urgent", Kind: reset})
					}
					_, err := s.Enqueue(ctx, jobs...)
					return err
				},
				Expect: []scenario.Expect{
					{Text: "all wait: 202 mails for m1, 199 and 3 for c1", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						pending := map[string]int64{}
						depths, err := s.Depths(ctx)
						for _, d := range depths {
							pending[d.Queue] = d.Pending
						}
						m, u, b := pending[s.Queue("mistake")], pending[s.Queue("urgent")], pending[s.Queue("bulk")]
						return m == bulk-1+urgent && u == urgent && b == bulk-1, fmt.Sprintf("%d, and %d and %d", m, b, u), err
					}},
				},
			},
			{
				Name: "Whose turn it is",
				Say:  "Both send, until they have an urgent mail in hand: with that they wait for us. Watch how many mails of the newsletter each sends before, and what JOBS says is still pending.",
				Do: func(_ context.Context, s *scenario.Stage) error {
					show(s, "m1", false)
					show(s, "c1", false)
					bulkGate.Open()
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "m1 has an urgent mail in hand after all 200", Harm: true, Within: 10 * time.Second, Holds: turn("m1", "mistake", bulk)},
					{Text: "c1 has one after the 1 that it held before", Holds: turn("c1", "urgent", 1)},
				},
			},
			{
				Name: "All are sent",
				Say:  "Both go on. m1 has only its urgent mails left: they come last. c1 sends its three, and then the other 199 of the newsletter.",
				Do: func(context.Context, *scenario.Stage) error {
					urgentGate.Open()
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "all 406 mails are sent", Within: 10 * time.Second, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						depths, err := s.Depths(ctx)
						n := int64(0)
						for _, d := range depths {
							n += d.Completed
						}
						return n == 2*(bulk+urgent), fmt.Sprintf("%d are sent", n), err
					}},
				},
			},
		},
		Measures: []scenario.Measure{
			{
				Name: "sent_before_in_own_queue", Text: "c1: mails before urgent", Bound: scenario.Exactly(1), After: 3,
				Value: func(context.Context, *scenario.Stage) (float64, error) {
					n, _ := ahead("c1")
					return float64(n), nil
				},
			},
			{
				Name: "sent_before_in_common_line", Text: "m1: mails before urgent", Harm: true, Bound: scenario.Exactly(bulk), After: 3,
				Value: func(context.Context, *scenario.Stage) (float64, error) {
					n, _ := ahead("m1")
					return float64(n), nil
				},
			},
		},
	}
}
