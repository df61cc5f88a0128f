package scenario

import (
	"errors"
	"strconv"
	"time"
)

// Result is how a play went.
type Result struct {
	Scenario   string            `json:"scenario"`
	OK         bool              `json:"ok"`
	Error      string            `json:"error,omitempty"` // what kept it from being played to its end
	Assertions []Assertion       `json:"assertions"`
	Measures   map[string]Figure `json:"measures"`
	Seed       uint64            `json:"seed"` // plays it again

	Err error `json:"-"` // nil when OK; wraps ErrCancelled when it was stopped
}

// Assertion is one that was looked at, or would have been.
type Assertion struct {
	Text string `json:"text"`
	Harm bool   `json:"harm,omitempty"` // it is what a mistake costs
	OK   bool   `json:"ok"`
	Took int64  `json:"took_ms"`        // since the act, milliseconds
	Seen string `json:"seen,omitempty"` // what was there instead; "" when it holds
}

// Figure is a measure that was taken.
type Figure struct {
	Value   float64  `json:"value"`
	Unit    string   `json:"unit,omitempty"`
	AtLeast *float64 `json:"at_least,omitempty"`
	AtMost  *float64 `json:"at_most,omitempty"`
	Harm    bool     `json:"harm,omitempty"` // it is what a mistake costs
	OK      bool     `json:"ok"`
}

// end closes the board.
func (b *board) end(err error) {
	b.change(func(p *Picture) {
		p.Ended = time.Now()
		p.State = Passed
		switch {
		case err == nil:
			return
		case errors.Is(err, ErrCancelled):
			p.State = Cancelled
		default:
			p.State = Failed
		}
		if err != errFailed { //nolint:errorlint // alone it is said by the assertion
			p.Err = err.Error()
		}
	})
	b.mu.Lock()
	b.err = err
	b.mu.Unlock()
}

// result is the board as values.
func (b *board) result() Result {
	p := b.picture()
	b.mu.Lock()
	defer b.mu.Unlock()
	r := Result{
		Scenario: p.Name, OK: b.err == nil, Error: p.Err, Seed: p.Seed, Err: b.err,
		Assertions: []Assertion{}, Measures: map[string]Figure{},
	}
	for _, step := range p.Steps {
		for _, a := range step.Assertions {
			one := Assertion{Text: a.Text, Harm: a.Harm, OK: a.State == Passed, Took: a.Took.Milliseconds()}
			if !one.OK {
				one.Seen = a.Seen
			}
			r.Assertions = append(r.Assertions, one)
		}
	}
	for _, m := range p.Measures {
		if m.State == ToCome {
			continue
		}
		f := Figure{Value: m.Value, Unit: m.Unit, Harm: m.Harm, OK: m.State != Failed}
		f.AtLeast, f.AtMost = m.Bound.Limits()
		r.Measures[m.Name] = f
	}
	if i := p.Invariants; i.Known {
		for _, one := range []struct {
			text string
			harm int64
		}{
			{"no job was lost", i.Lost},
			{"no effect happened twice", i.Doubled},
			{"no two runners trusted one lease", int64(i.Overlaps)},
		} {
			a := Assertion{Text: one.text, OK: one.harm == 0 && !i.Missed}
			switch {
			case i.Missed:
				a.Seen = "not counted at the end"
			case one.harm > 0:
				a.Seen = strconv.FormatInt(one.harm, 10)
			}
			r.Assertions = append(r.Assertions, a)
		}
	}
	return r
}
