package scenario

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// What never happens would break nothing: each kind of fault does, one after another, and
// is mended.
func TestEachBreakageHappensAndIsMended(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	t.Parallel()
	b := &breakage{busy: map[any]bool{}, counts: map[string]int{}}
	sc := Scenario{
		Name: "breakage", Needs: Server,
		Setup: func(ctx context.Context, s *Stage) error { return b.setUp(ctx, s) },
		Steps: []Step{{
			Do: func(ctx context.Context, s *Stage) error {
				for _, one := range allBreaks {
					happened, err := one.happens(b, ctx, s)
					if err != nil {
						return fmt.Errorf("%s: %w", one.name, err)
					}
					if !happened {
						t.Errorf("%s: nothing happened", one.name)
					}
					if err := b.mend(ctx); err != nil {
						return fmt.Errorf("mend %s: %w", one.name, err)
					}
				}
				return nil
			},
			Expect: []Expect{{
				Text: "the burst is done", Within: 30 * time.Second,
				Holds: func(ctx context.Context, s *Stage) (bool, string, error) {
					s.mu.Lock()
					ids := s.acked
					s.mu.Unlock()
					return s.AllCompleted(ctx, ids...)
				},
			}},
		}},
	}
	play := Start(t.Context(), sc, ground(t), Options{Seed: 1, Patience: 10})
	if r := play.Result(); !r.OK {
		t.Errorf("%+v", r)
	}
	if len(b.busy) > 0 {
		t.Errorf("%d are still broken", len(b.busy))
	}
}
