package scenario_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/faults"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

func TestWorkerProcessIsSeenWithItsPidAndEndsWithThePlay(t *testing.T) {
	t.Parallel()
	var p *faults.Process
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) (err error) {
		if p, err = s.Process(ctx, scenario.ProcessOptions{Name: "w1", Slots: 3}); err != nil {
			return err
		}
		want := scenario.Worker{Name: "w1", State: string(workers.Idle), Slots: 3, Pid: p.Pid()}
		if p.Pid() == os.Getpid() || !slices.Contains(s.Picture().Workers, want) {
			t.Errorf("seen are %+v, want %+v", s.Picture().Workers, want)
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
