package queue

import (
	"context"
	"errors"
	"time"

	"github.com/leasetop/leasetop/queue/filter"
)

// DeadGroup are the dead letters of one queue and kind that died of the same problem, as
// their errors' fingerprint tells it.
type DeadGroup struct {
	Queue       string    `json:"queue"`
	Kind        string    `json:"kind"`
	Fingerprint string    `json:"fingerprint"`
	Count       int64     `json:"count"`
	First       time.Time `json:"first"`  // when the first of them died
	Last        time.Time `json:"last"`   // when the last of them died
	Sample      int64     `json:"sample"` // the id of the one that died last
	Error       string    `json:"error"`  // its error, the first 1,000 characters
	Bars        []int64   `json:"bars"`   // how many died in each of the equal stretches of DeadGroups, oldest first
}

// DeadGroups are the dead letters by what they died of, the largest group first.
type DeadGroups struct {
	Groups []DeadGroup   `json:"groups"`
	Total  int64         `json:"total"`  // dead letters in all groups
	Looked int64         `json:"looked"` // at so many dead letters
	Whole  bool          `json:"whole"`  // at all there are; else the newest of them, and the figures are of those
	From   time.Time     `json:"from"`   // where the first bar begins
	Each   time.Duration `json:"each"`   // how long a bar is
	At     time.Time     `json:"at"`     // the database's clock
}

// DeadGroups groups the dead letters that pass a filter, looking at no more than look
// of them; 0 is 2,000,000.
func (q *Queue) DeadGroups(ctx context.Context, where filter.Filter, look int) (DeadGroups, error) {
	return DeadGroups{}, errors.ErrUnsupported
}
