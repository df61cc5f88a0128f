package stories

import (
	"context"
	"sync"
	"time"

	"github.com/leasetop/leasetop/workers/scenario"
)

// showHeap shows, as bars, the dead letters of a redrive's story by what they are, until the
// play is over; and what most of each died of, as long as why tells so.
func showHeap(s *scenario.Stage, why func() bool) {
	ctx, stop := context.WithCancel(context.WithoutCancel(s.Context()))
	var showing sync.WaitGroup
	s.Later("end the bars", func(context.Context) error {
		stop()
		showing.Wait()
		return nil
	})
	showing.Go(func() {
		every := time.NewTicker(scenario.LookEvery)
		defer every.Stop()
		shown := map[string]scenario.Bar{}
		for {
			select {
			case <-ctx.Done():
				return
			case <-every.C:
			}
			now, err := countHeap(ctx, s)
			if err != nil || len(shown) == 0 && len(now) == 0 {
				continue // the picture stays as it was
			}
			for _, kind := range heapKinds {
				bar := now[kind]
				bar.Name, bar.Unit, bar.Most = kind, "dead", heapMost
				if !why() {
					bar.Note = ""
				}
				if before, ok := shown[kind]; !ok || before != bar {
					shown[kind] = bar
					s.Bar(bar)
				}
			}
		}
	})
}

// countHeap counts the dead letters by their kind. The largest group of a kind says why.
func countHeap(ctx context.Context, s *scenario.Stage) (map[string]scenario.Bar, error) {
	bars := map[string]scenario.Bar{}
	for _, name := range []string{"mail", "bank"} {
		dead, err := deadIn(ctx, s, name)
		if err != nil {
			return nil, err
		}
		for _, group := range dead.Groups { // the largest first
			bar, ok := bars[group.Kind]
			if !ok {
				bar.Note = group.Error
			}
			bar.Value += float64(group.Count)
			bars[group.Kind] = bar
		}
	}
	return bars, nil
}
