package stories

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/faults"
	"github.com/leasetop/leasetop/workers/scenario"
)

const (
	mails    = 50 // that come to each worker while the provider is down
	attempts = 8  // that each of them has
	// For so long the provider is down: by backoff not even a mail that is always drawn the
	// shortest wait has used its attempts up by then.
	outage    = 4 * time.Second
	callTakes = 10 * time.Millisecond
	// usedUp is long enough for m's calls on any machine.
	usedUp = 30 * time.Second
)

// backoffs draws waits: a second, then two: queue.DefaultBackoff has two minutes, then four
// and so on. Each is half as long to half as long again, by lot, so that what failed at one
// moment comes back over a whole second, and on the plot few calls follow many. No mail
// fails a sixth time within an outage that lasts as long as it should: on a machine that is
// too busy for m's calls it lasts longer, and so do the waits from there on.
type backoffs struct {
	mu  sync.Mutex
	lot *rand.Rand
}

func (b *backoffs) wait(attempts int) time.Duration {
	delay := time.Second / 2 << min(attempts, 2)
	switch attempts {
	case 6:
		delay *= 2
	case 7:
		delay *= 16
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return delay/2 + time.Duration(b.lot.Int64N(int64(delay)))
}

// mostRetry is the longest wait of a mail that failed at most five times.
const mostRetry = 3 * time.Second

// atOnceAgain is what is called a backoff and is none.
func atOnceAgain(int) time.Duration { return 5 * time.Millisecond }

// sender is a worker that sends mails.
type sender struct {
	queue string
	plot  string // of its calls
	calls *callLog
	mails []int64 // those that came while the provider was down

	shown    sync.Mutex
	bar      scenario.Bar // of those that are sent
	redriven bool         // what is sent from then on is so by hand
}

// hire starts the worker.
func (m *sender) hire(ctx context.Context, s *scenario.Stage, worker string, provider *faults.Dependency, again queue.Backoff) error {
	m.calls.plotOn(s, m.plot)
	_, err := s.Crew(ctx, scenario.CrewOptions{
		Workers: []string{worker}, Queues: []string{m.queue}, Slots: 4, Conns: 8, Backoff: again,
		Unlisted: true, // a mail takes 10 ms
		Work: func(ctx context.Context, job *queue.Job) error {
			m.calls.note(job.ID)
			return provider.Call(ctx)
		},
	})
	return err
}

// look counts its mails that are sent, and those that failed for good, and shows how many
// are sent.
func (m *sender) look(ctx context.Context, s *scenario.Stage) (sent, failed int, err error) {
	jobs, err := s.Q.ByID(ctx, m.mails...)
	if err != nil {
		return 0, 0, err
	}
	for i := range jobs {
		switch {
		case jobs[i].Status == queue.Completed:
			sent++
		case jobs[i].Status == queue.Failed:
			failed++
		}
	}
	m.shown.Lock()
	defer m.shown.Unlock()
	bar := m.bar
	m.bar = scenario.Bar{
		Name: m.queue + ": sent by itself", Value: float64(sent), Unit: fmt.Sprintf("of %d", mails), Most: mails,
		Over: sent+failed == mails,
	}
	if m.redriven {
		m.bar.Name, m.bar.Over = m.queue+": sent, redriven", sent == mails
	}
	if m.bar != bar {
		s.Bar(m.bar)
	}
	return sent, failed, nil
}

// redrive has its mails tried anew, by hand, and tells how many there were.
func (m *sender) redrive(ctx context.Context, s *scenario.Stage) (n int, err error) {
	m.shown.Lock()
	m.redriven = true
	m.shown.Unlock()
	back, err := s.Q.Redrive(ctx, operator(s), m.mails...)
	if err != nil {
		return 0, err
	}
	return len(back.IDs), nil
}

// flaky is about what handlers call: when it is down, their retries must not keep it down,
// nor use themselves up.
func flaky() scenario.Scenario {
	var (
		provider *faults.Dependency
		c        = &sender{queue: "c", plot: "c: backs off", calls: newCallLog()}
		m        = &sender{queue: "m", plot: "m: retries at once", calls: newCallLog()}
		early    []int64
		up       time.Time // by this machine's clock, as done
		done     time.Time
	)
	mark := func(s *scenario.Stage, what string) {
		s.Mark(c.plot, what)
		s.Mark(m.plot, what)
		s.Note("", "the provider is "+what)
	}
	return scenario.Scenario{
		Name:  "flaky",
		Title: "A dependency is down",
		Shows: "What fails for the moment is to be tried again later and later, each job at a moment of its own. " +
			"Jobs that are retried at once batter whoever is down, and use their attempts up before it is back.",
		Needs: scenario.Queue, Lasts: 7 * time.Second, Quick: true,
		Setup: func(ctx context.Context, s *scenario.Stage) error {
			provider = faults.NewDependency(s.Rand.Uint64())
			provider.Set(0, callTakes)
			draws := &backoffs{lot: rand.New(rand.NewPCG(s.Rand.Uint64(), 0))}
			return errors.Join(
				m.hire(ctx, s, "m1", provider, atOnceAgain),
				c.hire(ctx, s, "c1", provider, draws.wait),
			)
		},
		Steps: []scenario.Step{
			{
				Name: "All is well",
				Say: "Two workers, m and c, send mails by one provider's server. What fails, m tries again at once (the mistake), c later and later (the cure). " +
					"Ten mails come for each, and nothing fails yet.",
				Do: func(ctx context.Context, s *scenario.Stage) (err error) {
					early, err = s.Enqueue(ctx, slices.Concat(mailsFor(m, 10), mailsFor(c, 10))...)
					return err
				},
				Expect: []scenario.Expect{
					{Text: "all twenty are sent", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.AllCompleted(ctx, early...)
					}},
				},
			},
			{
				Name: "The provider is down",
				Say: "The provider will be down for 4 s. 50 mails come for each, with 8 attempts. Both begin alike: 50 calls at once. " +
					"Then m's calls go on as a wall, until its mails have failed for good; c's are few, and go on.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					provider.Set(1, callTakes)
					mark(s, "down")
					m.calls.begin()
					c.calls.begin()
					all, err := s.Enqueue(ctx, slices.Concat(mailsFor(m, mails), mailsFor(c, mails))...)
					if err != nil {
						return err
					}
					m.mails, c.mails = all[:mails], all[mails:]
					for _, who := range []*sender{m, c} {
						if _, _, err := who.look(ctx, s); err != nil {
							return err
						}
						beside(s, scenario.LookEvery, func() (over bool) {
							_, _, _ = who.look(s.Context(), s) // when that fails the bar stays as it was
							return false
						})
					}
					beside(s, lookAgain, func() (over bool) {
						if m.calls.lasts() < outage || m.calls.count() < mails*attempts { // the second is so where a machine is very busy
							return false
						}
						provider.Set(0, callTakes)
						up = time.Now()
						m.calls.end()
						c.calls.end()
						mark(s, "up again")
						return true
					})
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "m: all 50 failed for good, after 8 calls", Harm: true, Within: usedUp, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						_, n, err := m.look(ctx, s)
						return n == mails, fmt.Sprintf("%d have failed for good", n), err
					}},
					{Text: "c: each failed, and was tried again", Within: usedUp, Holds: func(context.Context, *scenario.Stage) (bool, string, error) {
						n := c.calls.jobsWith(2)
						return n == mails, fmt.Sprintf("%d were tried twice", n), nil
					}},
					{Text: "c: none failed for good in the outage", Within: usedUp + 5*time.Second, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						_, n, err := c.look(ctx, s)
						if n > 0 && err == nil {
							err = scenario.ErrFinal
						}
						return n == 0 && c.calls.over(), fmt.Sprintf("%d have, after %.1f s", n, c.calls.lasts().Seconds()), err
					}},
					{Text: "c: all 50 are sent, without any help", Within: usedUp + 15*time.Second, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						sent, failed, err := c.look(ctx, s)
						if failed > 0 && err == nil {
							err = scenario.ErrFinal
						}
						if sent == mails && done.IsZero() {
							done = time.Now()
						}
						return sent == mails, fmt.Sprintf("%d are sent", sent), err
					}},
				},
			},
			{
				Name: "m's have failed for good",
				Say: "The provider is back, and still nobody sends m's mails: they failed for good (status failed). " +
					"Failed and dead jobs are both dead letters: they stay until somebody redrives them. We do, each with 8 new attempts.",
				Do: func(ctx context.Context, s *scenario.Stage) error {
					n, err := m.redrive(ctx, s)
					if err == nil {
						s.Note("", fmt.Sprintf("%d failed jobs of m are redriven, by hand", n))
					}
					return err
				},
				Expect: []scenario.Expect{
					{Text: "m: all 50 are sent, redriven by hand", Within: 10 * time.Second, Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						sent, _, err := m.look(ctx, s)
						return sent == mails, fmt.Sprintf("%d are sent", sent), err
					}},
				},
			},
		},
		Measures: []scenario.Measure{
			{
				Name: "calls_backoff", Text: "c: retries in the outage", Unit: "/s", After: 2, Bound: scenario.AtMost(mails),
				Value: func(context.Context, *scenario.Stage) (float64, error) { return c.calls.retries(), nil },
			},
			{
				Name: "spread", Text: "c: first retries spread", Unit: "s", After: 2, Bound: scenario.AtLeast(0.3),
				Value: func(context.Context, *scenario.Stage) (float64, error) { return c.calls.spread().Seconds(), nil },
			},
			{
				Name: "peak_backoff", Text: "c: most retries in 0.1 s", Unit: "calls", After: 2, Bound: scenario.AtMost(mails * 3 / 5), Timed: true,
				Value: func(context.Context, *scenario.Stage) (float64, error) {
					return float64(c.calls.busiest(time.Second / 10)), nil
				},
			},
			{
				Name: "recovery", Text: "c: all sent after return", Unit: "s", After: 2, Bound: scenario.AtMost(mostRetry.Seconds() + 1), Timed: true,
				Value: func(context.Context, *scenario.Stage) (float64, error) { return done.Sub(up).Seconds(), nil },
			},
		},
	}
}

// mailsFor are so many mails for a worker.
func mailsFor(who *sender, n int) []queue.NewJob {
	return slices.Repeat([]queue.NewJob{{Queue: who.queue, MaxAttempts: attempts}}, n)
}
