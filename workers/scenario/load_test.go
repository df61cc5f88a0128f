package scenario

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

func TestLoadKnowsWhatWasAcknowledged(t *testing.T) {
	t.Parallel()
	try(t, ground(t), func(ctx context.Context, s *Stage) error {
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
	q, err := openQueue(t.Context(), ground(t).Queue.Pool().Config(), "", 1, "away")
	if err != nil {
		t.Fatal(err)
	}
	q.Pool().Close()
	var l Load
	l.enqueue(t.Context(), &Stage{Q: q, run: "try", queues: map[string]string{}}, queue.NewJob{})
	if n, err := l.Refused(); n != 1 || err == nil || len(l.Jobs()) != 0 {
		t.Errorf("%d refused, %v, acknowledged %v", n, err, l.Jobs())
	}
}

func TestLabourIsCutShort(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("told to")
	cancel(why)
	if err := Labour(ctx, &queue.Job{Payload: []byte(`{"ms": 60000}`)}); !errors.Is(err, why) {
		t.Errorf("it ends with %v", err)
	}
	if err := Labour(t.Context(), &queue.Job{Payload: []byte(`{"ms": "long"}`)}); err == nil {
		t.Error("it does what nobody can read")
	}
	if err := Labour(t.Context(), &queue.Job{Payload: []byte(`{}`)}); err != nil {
		t.Errorf("no labour: %v", err)
	}
}

// An audience may leave for the night: the jobs do not pile up until the morning.
func TestLoadRestsWhileThePlayWaitsForLong(t *testing.T) {
	t.Parallel()
	var (
		load  *Load
		stage *Stage
		began time.Time
	)
	story := Scenario{
		Name: "load", Needs: Queue, Flows: true,
		Steps: []Step{
			{Do: func(ctx context.Context, s *Stage) (err error) {
				stage = s
				_, err = s.Crew(ctx, CrewOptions{Workers: []string{"w1", "w2"}, Slots: 8, Conns: 8})
				load = s.LoadOf(time.Millisecond, func(*rand.Rand) queue.NewJob { return queue.NewJob{Value: labour{}} })
				began = time.Now()
				return err
			}},
			{Expect: []Expect{{Text: "it goes on", Within: 30 * time.Second, Holds: func(context.Context, *Stage) (bool, string, error) {
				return len(load.Jobs()) > mostWaiting+50, "", nil
			}}}},
		},
	}
	play := Start(t.Context(), story, ground(t), Options{Stepped: true, Patience: 10})
	reach(t, play, 1)
	rests := func(p Picture) bool {
		return slices.ContainsFunc(p.Events, func(e Event) bool { return strings.Contains(e.Text, "the producer rests") })
	}
	await(t, play, "the load rests", rests)
	rested := len(load.Jobs())
	time.Sleep(time.Second) // which counts for no pause in the work
	if more := len(load.Jobs()) - rested; more > 1 {
		t.Errorf("it made %d jobs meanwhile", more)
	}
	play.Next()
	await(t, play, "it goes on", func(p Picture) bool {
		return slices.ContainsFunc(p.Events, func(e Event) bool { return e.Text == "the producer goes on" })
	})
	if pause, err := stage.Pause(t.Context(), began, time.Now()); err != nil || pause >= time.Second {
		t.Errorf("the longest pause was %v, %v", pause, err)
	}
	if r := play.Result(); !r.OK {
		t.Errorf("%+v", r)
	}
}
