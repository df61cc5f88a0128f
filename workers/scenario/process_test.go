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

// Where processes come and go for days, those that are gone are no burden.
func TestForgottenProcessIsOffTheList(t *testing.T) {
	t.Parallel()
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		before := s.Undone()
		for _, kill := range []bool{true, false} {
			p, err := s.Process(ctx, scenario.ProcessOptions{Name: "w1"})
			if err != nil {
				return err
			}
			if kill {
				if err := p.Kill(); err != nil {
					return err
				}
				<-p.Done()
			}
			s.Forget(p)
			select {
			case <-p.Done():
			default:
				t.Error("it runs on")
			}
			s.ShowWorkers()
			if seen := s.Picture().Workers; len(seen) > 0 {
				t.Errorf("there is still %+v", seen)
			}
		}
		if left := s.Undone() - before; left > 1 {
			t.Errorf("%d things are left to be taken down, besides all processes at once", left)
		}
		return nil
	})
}
