// Package alert judges a queue by limits that a person set: for the dashboard's header
// and for monitoring.
//
// [Read] takes the figures of the live feed, or somebody else makes them by a query.
// [Limits.Judge] says which limits they pass, and which cannot be told: a figure that is
// not known, or is of the past, is never taken for one within its limit. [Alarm] does so
// over time, and sees to it that a figure close to its limit raises one alert and not ten.
package alert

import "time"

// Measure is what a limit can be set for.
type Measure string

// What limits can be set for, and in what unit.
const (
	Dead        Measure = "dead"         // dead letters
	DeadRate    Measure = "dead_rate"    // jobs that became dead letters, a minute, over Window
	Age         Measure = "age"          // how long the longest due job has been due, in seconds
	Expired     Measure = "expired"      // leases that ran out Grace ago or earlier and that nobody has taken back
	ExpiredRate Measure = "expired_rate" // leases that ran out and were taken back, a minute, over Window
)

// Measures is every Measure there is, in the order in which they are told.
var Measures = []Measure{Dead, DeadRate, Age, Expired, ExpiredRate}

const (
	// Window is how far back the rates go, if they are known for as long.
	Window = 10 * time.Minute
	// Grace is how long a lease has to have been over before it counts as one that nobody
	// takes back: the reaper takes it back within moments, and one that does not know it
	// needs a little longer.
	Grace = 5 * time.Second
)

// Limits are how much of each may be. What is not among them has no limit.
type Limits map[Measure]float64

// Figures are how much of each there is. What is not among them is not known.
type Figures map[Measure]Figure

// Figure is how much there is of one thing.
type Figure struct {
	Value   float64
	AtLeast bool   // it is that or more: the count went no further
	Unknown string // why it is not known, in words; "" when it is
	Of      string // of Age: the job's queue
}

// Breach is a limit that was passed.
type Breach struct {
	Measure Measure
	Figure  Figure
	Limit   float64
}

// Doubt is a limit of which it cannot be told whether it was passed, and why.
type Doubt struct {
	Measure Measure
	Why     string
}

// Judge returns which limits are passed, and of which it cannot be told. A limit is passed
// by more than it, not by as much.
func (l Limits) Judge(f Figures) (breaches []Breach, doubts []Doubt) {
	for _, m := range Measures {
		limit, set := l[m]
		if !set {
			continue
		}
		switch figure, known := f[m]; {
		case !known:
			doubts = append(doubts, Doubt{m, "it is not known"})
		case figure.Unknown != "":
			doubts = append(doubts, Doubt{m, figure.Unknown})
		case figure.Value > limit:
			breaches = append(breaches, Breach{m, figure, limit})
		case figure.AtLeast:
			doubts = append(doubts, Doubt{m, "it was counted no further than " + Amount(m, figure.Value)})
		}
	}
	return breaches, doubts
}
