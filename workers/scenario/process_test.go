package scenario

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/faults"
)

// try plays one act by itself.
func try(t *testing.T, g Ground, act func(ctx context.Context, s *Stage) error) Result {
	t.Helper()
	r := Start(t.Context(), Scenario{Name: "try", Needs: Queue, Steps: []Step{{Do: act}}}, g, Options{Seed: 1}).Result()
	if r.Err != nil {
		t.Error(r.Err)
	}
	return r
}

func TestWorkerProcessIsSeenWithItsPidAndEndsWithThePlay(t *testing.T) {
	t.Parallel()
	var p *faults.Process
	try(t, ground(t), func(ctx context.Context, s *Stage) (err error) {
		if p, err = s.Process(ctx, ProcessOptions{Name: "w1", Slots: 3}); err != nil {
			return err
		}
		want := Worker{Name: "w1", State: string(workers.Idle), Slots: 3, Pid: p.Pid()}
		if p.Pid() == os.Getpid() || !slices.Contains(s.play.Picture().Workers, want) {
			t.Errorf("seen are %+v, want %+v", s.play.Picture().Workers, want)
		}
		return nil
	})
	select {
	case <-p.Done():
	default:
		t.Error("the process runs on after the play")
	}
	if errors.Is(p.Kill(), nil) {
		t.Error("there is somebody to kill")
	}
}
