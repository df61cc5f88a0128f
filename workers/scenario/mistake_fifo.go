package scenario

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// mistakeFIFO has urgent jobs stand in one line with all others, beside a line of their own.
func mistakeFIFO() Scenario {
	const bulk, urgent = 200, 3
	var (
		gate          = NewGate()
		mu            sync.Mutex
		began         = map[string][]int64{} // by worker, in the order in which their jobs began
		mistake, cure []int64                // the urgent jobs
	)
	work := func(name string) func(ctx context.Context, job *queue.Job) error {
		return func(ctx context.Context, job *queue.Job) error {
			if err := gate.Wait(ctx, job.ID); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			began[name] = append(began[name], job.ID)
			return nil
		}
	}
	// before is how many bulk jobs the worker did before it was through with the urgent ones;
	// ok is false until then.
	before := func(name string, jobs []int64) (n int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		last := -1
		for _, id := range jobs {
			place := slices.Index(began[name], id)
			if place < 0 {
				return 0, false
			}
			last = max(last, place)
		}
		return last + 1 - len(jobs), true
	}
	stood := func(name, worker string, jobs *[]int64, kept func(n int) bool) func(ctx context.Context, s *Stage) (bool, string, error) {
		return func(_ context.Context, s *Stage) (bool, string, error) {
			n, ok := before(worker, *jobs)
			if ok {
				s.Bar(Bar{Name: name, Value: float64(n), Unit: "mails", Most: bulk, Note: "went before the urgent ones", Bad: n > 1, Over: true})
			}
			return ok && kept(n), fmt.Sprintf("after %d others", n), nil
		}
	}
	return Scenario{
		Name:  "mistake-fifo",
		Title: "Mistake: urgent jobs in the common line",
		Shows: "A queue goes by age. An urgent job that joins it stands behind all that is older, whatever its payload says. A queue of its own, which the workers ask first, puts it in front.",
		Needs: Queue, Lasts: 3 * time.Second, Quick: true,
		Setup: func(ctx context.Context, s *Stage) error {
			if _, err := s.Crew(ctx, CrewOptions{Workers: []string{"m1"}, Queues: []string{"mistake"}, Work: work("m1")}); err != nil {
				return err
			}
			_, err := s.Crew(ctx, CrewOptions{Workers: []string{"c1"}, Queues: []string{"urgent", "bulk"}, Work: work("c1")})
			return err
		},
		Steps: []Step{
			{
				Say: "We enqueue a newsletter: 200 mails for m1, and 200 for c1. m1 has one queue for everything. c1 asks its queue 'urgent' first, then 'bulk'. Each takes a mail, and waits for us.",
				Do: func(ctx context.Context, s *Stage) error {
					var jobs []queue.NewJob
					for range bulk {
						jobs = append(jobs, queue.NewJob{Queue: "mistake"}, queue.NewJob{Queue: "bulk"})
					}
					_, err := s.Enqueue(ctx, jobs...)
					return err
				},
				Expect: []Expect{
					{Text: "m1 and c1 hold a mail each", Holds: func(_ context.Context, s *Stage) (bool, string, error) {
						m, c := len(s.Worker("m1").Running), len(s.Worker("c1").Running)
						return m == 1 && c == 1, fmt.Sprintf("they hold %d and %d", m, c), nil
					}},
				},
			},
			{
				Say: "Now three customers want to reset their passwords. m1's mails say so in their payload, \"priority\": \"high\". c1's go to the queue 'urgent'.",
				Do: func(ctx context.Context, s *Stage) error {
					var jobs []queue.NewJob
					for range urgent {
						jobs = append(jobs, queue.NewJob{Queue: "mistake", Payload: []byte(`{"priority": "high"}`)})
					}
					for range urgent {
						jobs = append(jobs, queue.NewJob{Queue: "urgent", Payload: []byte(`{"priority": "high"}`)})
					}
					ids, err := s.Enqueue(ctx, jobs...)
					if err == nil {
						mistake, cure = ids[:urgent], ids[urgent:]
					}
					return err
				},
				Expect: []Expect{
					{Text: "all wait: 202 mails for m1, 199 and 3 for c1", Holds: func(ctx context.Context, s *Stage) (bool, string, error) {
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
				Say: "Both send. Watch which mails go before the urgent ones.",
				Do: func(context.Context, *Stage) error {
					gate.Open()
					return nil
				},
				Expect: []Expect{
					{Text: "c1 sends its urgent mails next, after 1 other", Holds: stood("queue of its own", "c1", &cure, func(n int) bool { return n == 1 })},
					{Text: "m1 sends them last, after all 200", Within: 10 * time.Second, Holds: stood("common line", "m1", &mistake, func(n int) bool { return n == bulk })},
					{Text: "all are sent in the end", Within: 10 * time.Second, Holds: func(ctx context.Context, s *Stage) (bool, string, error) {
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
		Measures: []Measure{
			{
				Name: "before", Text: "mails before the urgent ones, with a queue of their own", Bound: Exactly(1),
				Value: func(context.Context, *Stage) (float64, error) {
					n, _ := before("c1", cure)
					return float64(n), nil
				},
			},
			{
				Name: "before_in_line", Text: "and in the common line", Bound: Exactly(bulk),
				Value: func(context.Context, *Stage) (float64, error) {
					n, _ := before("m1", mistake)
					return float64(n), nil
				},
			},
		},
	}
}
