package command

import (
	"context"
	"fmt"

	"github.com/leasetop/leasetop/ui"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/stories"
)

// playhouse has the scenarios as the screen knows them.
type playhouse struct{ scenario.Ground }

func (h playhouse) List() []scenario.Scenario { return stories.All() }

func (h playhouse) Play(ctx context.Context, name string, seed uint64) (ui.Playing, error) {
	one, ok := stories.ByName(name)
	if !ok {
		return nil, fmt.Errorf("there is no scenario %q", name)
	}
	return scenario.Start(ctx, one, h.Ground, scenario.Options{Seed: seed, Stepped: true}), nil
}
