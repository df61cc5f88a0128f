package scenario

import (
	"context"
	"slices"
	"time"
)

// Pause is the longest time without an effect between two moments of the database's clock.
// While the load rested there was nothing to do: that counts for nothing.
func (s *Stage) Pause(ctx context.Context, from, to time.Time) (longest time.Duration, err error) {
	s.mu.Lock()
	rested := slices.Clone(s.rested)
	s.mu.Unlock()
	for _, r := range rested {
		if r.from.Before(from) || r.from.After(to) {
			continue
		}
		if longest, err = s.longer(ctx, longest, from, r.from); err != nil || r.to.IsZero() {
			return longest, err
		}
		from = r.to
	}
	return s.longer(ctx, longest, from, to)
}

// longer is the pause between two moments, or the given one if that is longer.
func (s *Stage) longer(ctx context.Context, than time.Duration, from, to time.Time) (time.Duration, error) {
	var seconds float64
	err := s.Q.Pool().QueryRow(ctx, s.Q.Schema().Query("scenario_pause"), s.run, from, to).Scan(&seconds)
	return max(than, time.Duration(seconds*float64(time.Second))), err
}
