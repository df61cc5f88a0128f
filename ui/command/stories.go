package command

import (
	"context"
	"fmt"

	"github.com/leasetop/leasetop/ui"
	"github.com/leasetop/leasetop/workers/scenario"
)

// stories are the scenarios as the screen knows them.
type stories struct{ scenario.Ground }

func (s stories) List() []scenario.Scenario { return scenario.All() }

func (s stories) Play(ctx context.Context, name string, seed uint64) (ui.Playing, error) {
	one, ok := scenario.ByName(name)
	if !ok {
		return nil, fmt.Errorf("there is no scenario %q", name)
	}
	return scenario.Start(ctx, one, s.Ground, scenario.Options{Seed: seed, Stepped: true}), nil
}
