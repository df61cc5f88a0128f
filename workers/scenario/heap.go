package scenario

import (
	"context"
	"sync"
	"time"
)

// showHeap shows, as bars, the dead letters of a redrive's story by what they are, and
// what most of each died of, until the play is over.
func (s *Stage) showHeap() {
	ctx, stop := context.WithCancel(context.WithoutCancel(s.ctx))
	var showing sync.WaitGroup
	s.Later("end the bars", func(context.Context) error {
		stop()
		showing.Wait()
		return nil
	})
	showing.Go(func() {
		every := time.NewTicker(lookEvery)
		defer every.Stop()
		shown := map[string]Bar{}
		for {
			select {
			case <-ctx.Done():
				return
			case <-every.C:
			}
			now, err := s.heap(ctx)
			if err != nil || len(shown) == 0 && len(now) == 0 {
				continue // the picture stays as it was
			}
			for _, kind := range heapKinds {
				bar := now[kind]
				bar.Name, bar.Unit, bar.Most = kind, "dead", heapMost
				if before, ok := shown[kind]; !ok || before != bar {
					shown[kind] = bar
					s.Bar(bar)
				}
			}
		}
	})
}

// heap counts the dead letters by their kind. The largest group of a kind says why.
func (s *Stage) heap(ctx context.Context) (map[string]Bar, error) {
	bars := map[string]Bar{}
	for _, name := range []string{"mail", "bank"} {
		dead, err := s.dead(ctx, name)
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
