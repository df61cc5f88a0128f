package scenario_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

func TestLoadKnowsWhatWasAcknowledged(t *testing.T) {
	t.Parallel()
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		load := s.Load(time.Millisecond)
		for len(load.Jobs()) < 10 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Millisecond):
			}
		}
		load.Stop()
		jobs := load.Jobs()
		if n, err := load.Refused(); n != 0 {
			t.Errorf("%d were refused: %v", n, err)
		}
		depths, err := s.Depths(ctx)
		if err != nil {
			return err
		}
		if len(depths) != 1 || depths[0].Pending != int64(len(jobs)) {
			t.Errorf("%d were acknowledged, there are %+v", len(jobs), depths)
		}
		return nil
	})
}

func TestLoadCountsWhatIsRefused(t *testing.T) {
	t.Parallel()
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		load := s.LoadOf(time.Millisecond, func(*rand.Rand) queue.NewJob { return queue.NewJob{Payload: []byte("no JSON")} })
		for n := 0; n == 0; n, _ = load.Refused() {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Millisecond):
			}
		}
		load.Stop()
		if n, err := load.Refused(); err == nil || len(load.Jobs()) != 0 {
			t.Errorf("%d refused, %v, acknowledged %v", n, err, load.Jobs())
		}
		return nil
	})
}

func TestLabourIsCutShort(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("told to")
	cancel(why)
	if err := scenario.Labour(ctx, &queue.Job{Payload: []byte(`{"ms": 60000}`)}); !errors.Is(err, why) {
		t.Errorf("it ends with %v", err)
	}
	if err := scenario.Labour(t.Context(), &queue.Job{Payload: []byte(`{"ms": "long"}`)}); err == nil {
		t.Error("it does what nobody can read")
	}
	if err := scenario.Labour(t.Context(), &queue.Job{Payload: []byte(`{}`)}); err != nil {
		t.Errorf("no labour: %v", err)
	}
}

// An audience may leave for the night: the jobs do not pile up until the morning.
func TestLoadRestsWhileThePlayWaitsForLong(t *testing.T) {
	t.Parallel()
	var (
		load  *scenario.Load
		stage *scenario.Stage
		began time.Time
	)
	story := scenario.Scenario{
		Name: "load", Needs: scenario.Queue, Flows: true,
		Steps: []scenario.Step{
			{Do: func(ctx context.Context, s *scenario.Stage) (err error) {
				stage = s
				_, err = s.Crew(ctx, scenario.CrewOptions{Workers: []string{"w1", "w2"}, Slots: 8, Conns: 8})
				load = s.LoadOf(time.Millisecond, func(*rand.Rand) queue.NewJob { return queue.NewJob{} })
				began = time.Now()
				return err
			}},
			{Expect: []scenario.Expect{{Text: "it goes on", Within: 30 * time.Second, Holds: func(context.Context, *scenario.Stage) (bool, string, error) {
				return len(load.Jobs()) > scenario.MostWaiting+50, "", nil
			}}}},
		},
	}
	play := scenario.Start(t.Context(), story, scenariotest.Ground(t), scenario.Options{Stepped: true, Patience: 10})
	scenariotest.Reach(t, play, 1)
	rests := func(p scenario.Picture) bool {
		return slices.ContainsFunc(p.Events, func(e scenario.Event) bool { return strings.Contains(e.Text, "the producer rests") })
	}
	scenariotest.Await(t, play, "the load rests", rests)
	rested := len(load.Jobs())
	before, err := stage.Pause(t.Context(), began, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	night := time.Second + 2*before // longer than any pause in the work, as which it does not count
	time.Sleep(night)
	if more := len(load.Jobs()) - rested; more > 1 {
		t.Errorf("it made %d jobs meanwhile", more)
	}
	play.Next()
	scenariotest.Await(t, play, "it goes on", func(p scenario.Picture) bool {
		return slices.ContainsFunc(p.Events, func(e scenario.Event) bool { return e.Text == "the producer goes on" })
	})
	if pause, err := stage.Pause(t.Context(), began, time.Now()); err != nil || pause >= night {
		t.Errorf("the longest pause was %v, %v", pause, err)
	}
	if r := play.Result(); !r.OK {
		t.Errorf("%+v", r)
	}
}
