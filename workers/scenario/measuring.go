package scenario

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// measure takes the measures that are known after a step, whose number it is; 0 is the last.
func (p *Play) measure(ctx context.Context, s *Stage, step int) error {
	for n := range p.scenario.Measures {
		m := &p.scenario.Measures[n]
		if m.After != step {
			continue
		}
		value, err := m.Value(ctx, s)
		if errors.Is(err, ErrNothingMeasured) {
			continue
		}
		if err == nil && (math.IsNaN(value) || math.IsInf(value, 0)) {
			err = fmt.Errorf("%v is no figure", value)
		}
		if err != nil {
			return fmt.Errorf("measure %s: %w", m.Name, err)
		}
		state := Passed
		switch {
		case m.Bound.kept(value):
		case m.Timed && p.o.Patience > 1:
			state = Unjudged
		default:
			state = Failed
		}
		p.board.change(func(b *Picture) { b.Measures[n].Value, b.Measures[n].State = value, state })
	}
	return nil
}

// judge looks at the measures, and counts for the last time what must hold in every story:
// what is judged is what the picture and the result say.
func (p *Play) judge(ctx context.Context, s *Stage) error {
	inv, _, err := s.count(ctx)
	if err != nil {
		return err
	}
	kept := inv.Kept()
	for _, m := range p.board.picture().Measures {
		kept = kept && m.State != Failed
	}
	if !kept {
		return errFailed
	}
	return nil
}
