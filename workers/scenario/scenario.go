package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Needs is where a scenario can be played.
type Needs string

// What a scenario needs.
const (
	Queue  Needs = "queue"  // queues of its own in the schema at hand
	Schema Needs = "schema" // a schema of its own in the database at hand
	Server Needs = "server" // PostgreSQL servers of its own
)

// Scenario is one failure story.
type Scenario struct {
	Name  string // how it is called: "crash"
	Title string // "A worker crashes in mid-job"
	Shows string // what is to be learned from it, in a sentence or two
	Needs Needs
	Lasts time.Duration // about how long it takes when nobody reads along
	Quick bool          // few seconds, few resources: played whenever the tests run
	Flows bool          // jobs flow between the steps too: the world is steady, but does not stand still

	// SetsUpIn is how long Setup may take at most; 0 is 30 s.
	SetsUpIn time.Duration
	Setup    func(ctx context.Context, s *Stage) error // may be nil
	Steps    []Step
	Measures []Measure
}

// Step is one step of a story. Before it the world waits for the audience.
type Step struct {
	Name   string                                    // two to four words, for lists: "The worker dies"; the narration stands in where there is none
	Say    string                                    // narration: two or three short sentences
	Do     func(ctx context.Context, s *Stage) error // the act; may be nil
	Expect []Expect                                  // what is to be seen then
}

// Expect is an assertion, looked at again and again until it holds or its time is over.
type Expect struct {
	Text string // "job 2 is back to pending"
	Harm bool   // it is what a mistake costs: to be seen, but no promise that is kept
	// Within is counted from the end of the act; 0 is 5 s. No look begins later, but for one
	// where those before it took so long that it has had none.
	Within time.Duration
	// Holds tells whether it is so, and what was seen, for when it is not. An error is
	// seen too, and the look repeated: a server may be away for a while. With [ErrFinal]
	// there is no other look.
	Holds func(ctx context.Context, s *Stage) (ok bool, seen string, err error)
}

// ErrFinal says that an assertion does not hold and never will: what it is about is over.
var ErrFinal = errors.New("it will not change any more")

// Measure is a figure of a play with a bound.
type Measure struct {
	Name  string // "recovery"
	Text  string // "from the crash to the take-over"
	Unit  string // "s", "ms", "jobs/s"; "" is a plain number
	Bound Bound
	Harm  bool // it is what a mistake costs: its bound says how much is to be seen, and is no promise
	// After is the number of the step after which it is known and taken, the first being 1;
	// 0 is the last.
	After int
	// Timed measures depend on how busy the machine is. Tests leave them unjudged.
	Timed bool
	// Value takes it. What is no finite number is an error. With [ErrNothingMeasured] the play
	// goes on, and has no such figure.
	Value func(ctx context.Context, s *Stage) (float64, error)
}

// ErrNothingMeasured is of a measure that had nothing to measure.
var ErrNothingMeasured = errors.New("there was nothing to measure")

// Bound is what a measure must keep. The zero value is no bound: the figure is only shown.
type Bound struct {
	most, least *float64
}

// AtMost is an upper bound.
func AtMost(v float64) Bound { return Bound{most: &v} }

// AtLeast is a lower bound.
func AtLeast(v float64) Bound { return Bound{least: &v} }

// Exactly is both.
func Exactly(v float64) Bound { return Bound{most: &v, least: &v} }

// kept tells whether a value keeps the bound.
func (b Bound) kept(v float64) bool {
	return (b.most == nil || v <= *b.most) && (b.least == nil || v >= *b.least)
}

// Limits are the bound's numbers, nil where there is none.
func (b Bound) Limits() (least, most *float64) { return b.least, b.most }

// String is the bound in words: "at most 2.25", "exactly 0"; "" is none.
func (b Bound) String() string {
	switch {
	case b.most != nil && b.least != nil && *b.most == *b.least:
		return fmt.Sprintf("exactly %g", *b.most)
	case b.most != nil && b.least != nil:
		return fmt.Sprintf("%g to %g", *b.least, *b.most)
	case b.most != nil:
		return fmt.Sprintf("at most %g", *b.most)
	case b.least != nil:
		return fmt.Sprintf("at least %g", *b.least)
	}
	return ""
}
