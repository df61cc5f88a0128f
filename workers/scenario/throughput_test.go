package scenario

import (
	"context"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

func TestPauseIsTheLongestTimeWithoutAnEffect(t *testing.T) {
	t.Parallel()
	try(t, ground(t), func(ctx context.Context, s *Stage) error {
		from, err := s.Now(ctx)
		if err != nil {
			return err
		}
		pause := func(after, before, want time.Duration) {
			t.Helper()
			if got, err := s.Pause(ctx, from.Add(after), from.Add(before)); err != nil || got != want {
				t.Errorf("from %v to %v the longest is %v, want %v: %v", after, before, got, want, err)
			}
		}
		pause(0, time.Minute, 0)
		jobs, err := s.Enqueue(ctx, queue.NewJob{})
		if err != nil {
			return err
		}
		for _, at := range []time.Duration{3 * time.Second, 4 * time.Second, 6 * time.Second} {
			_, err := s.Q.Pool().Exec(ctx, "insert into leasetop.scenario_ledger (run, job_id, attempt, owner, done_at) values ($1, $2, 1, 'w', $3)",
				s.run, jobs[0], from.Add(at))
			if err != nil {
				return err
			}
		}
		pause(0, time.Minute, 3*time.Second)
		pause(3*time.Second, time.Minute, 2*time.Second)
		pause(3*time.Second, 5*time.Second, time.Second)
		pause(3500*time.Millisecond, time.Minute, 2*time.Second)
		pause(7*time.Second, time.Minute, 0)
		_, err = s.Q.Pool().Exec(ctx, "delete from leasetop.scenario_ledger where run = $1", s.run)
		return err
	})
}

func TestWastedAreJobsThatDidNotGoStraightThrough(t *testing.T) {
	t.Parallel()
	try(t, ground(t), func(ctx context.Context, s *Stage) error {
		jobs, err := s.Enqueue(ctx, queue.NewJob{}, queue.NewJob{}, queue.NewJob{})
		if err != nil {
			return err
		}
		for n, statement := range []string{
			"update leasetop.jobs set attempts = 1 where id = $1",
			"update leasetop.jobs set attempts = 2 where id = $1",
			`update leasetop.jobs set errors = '[{"attempt": 1}]' where id = $1`,
		} {
			if _, err := s.Q.Pool().Exec(ctx, statement, jobs[n]); err != nil {
				return err
			}
			if got, err := s.Wasted(ctx); err != nil || got != int64(n) {
				t.Errorf("after %q it is %d, want %d: %v", statement, got, n, err)
			}
		}
		return nil
	})
}

func TestThroughputIsDrawn(t *testing.T) {
	t.Parallel()
	try(t, ground(t), func(ctx context.Context, s *Stage) error {
		if _, err := s.Crew(ctx, CrewOptions{Workers: []string{"w1"}}); err != nil {
			return err
		}
		s.PlotThroughput()
		if _, err := s.Enqueue(ctx, queue.NewJob{}, queue.NewJob{}); err != nil {
			return err
		}
		for {
			p := s.play.Picture()
			for _, plot := range p.Plots {
				sum := 0.0
				for _, point := range plot.Points {
					sum += point * plotEvery.Seconds()
				}
				if plot.Name == throughputPlot && plot.Unit == "jobs/s" && sum > 1.5 {
					return nil
				}
			}
			select {
			case <-s.play.Changed(p.Version):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
}
