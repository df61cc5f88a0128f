package scenario

import (
	"context"
	"errors"
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
