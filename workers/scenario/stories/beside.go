package stories

import (
	"context"
	"sync"
	"time"

	"github.com/leasetop/leasetop/workers/scenario"
)

// beside does something every so often, beside the steps of a story: until it says that it
// is over, or the play is.
func beside(s *scenario.Stage, every time.Duration, do func() (over bool)) {
	ctx, stop := context.WithCancel(s.Context())
	var doing sync.WaitGroup
	s.Later("end what goes on beside the steps", func(context.Context) error {
		stop()
		doing.Wait()
		return nil
	})
	doing.Go(func() {
		defer stop()
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if do() {
				return
			}
		}
	})
}
