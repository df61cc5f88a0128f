// Package alert judges a queue by limits that a person set: for the dashboard's header
// and for monitoring.
package alert

import "time"

// Limits are what a queue may be like. A nil limit is none.
type Limits struct {
	Dead     *int64         // dead letters
	DeadRate *float64       // deaths a minute
	Age      *time.Duration // of the oldest job that is ready
	Expired  *float64       // leases that ran out, a minute
}

// Figures are what a queue is like. A nil figure is not known.
type Figures struct {
	Dead     *int64
	AtLeast  bool // Dead is that or more
	DeadRate *float64
	Age      *time.Duration
	AgeOf    string // the queue of the oldest ready job
	Expired  *float64
}

// Breach is one limit that was passed, in words.
type Breach struct {
	What string // dead, dead rate, age, expired
	Says string // "41 dead letters, more than 10"
}

// Judge returns which limits are passed, and which cannot be told for want of a figure.
func (l Limits) Judge(f Figures) (breaches []Breach, unknown []string) { return nil, nil }
