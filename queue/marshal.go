package queue

import (
	"encoding/json"
	"math"
	"time"
)

// encoding/json refuses a year beyond 9999 and a number that is none. A row may hold either, and
// must not keep a whole list from being printed.

// MarshalJSON prints times as [Time] does.
func (a Act) MarshalJSON() ([]byte, error) {
	type plain Act
	return json.Marshal(struct {
		plain
		At    Time  `json:"at"`
		Ended *Time `json:"ended"`
	}{plain(a), At(a.At), pointed(a.Ended)})
}

// MarshalJSON prints times as [Time] does, and a pace that is no number as null.
func (p Plan) MarshalJSON() ([]byte, error) {
	type plain Plan
	pace := &p.Pace
	if math.IsNaN(p.Pace) || math.IsInf(p.Pace, 0) {
		pace = nil
	}
	return json.Marshal(struct {
		plain
		Pace      *float64 `json:"pace"`
		CreatedAt Time     `json:"created_at"`
		ChangedAt Time     `json:"changed_at"`
		EndedAt   *Time    `json:"ended_at"`
	}{plain(p), pace, At(p.CreatedAt), At(p.ChangedAt), pointed(p.EndedAt)})
}

// MarshalJSON prints times as [Time] does.
func (j PlanJob) MarshalJSON() ([]byte, error) {
	type plain PlanJob
	return json.Marshal(struct {
		plain
		At *Time `json:"at"`
	}{plain(j), pointed(j.At)})
}

// pointed is a time that may be missing.
func pointed(t *time.Time) *Time {
	if t == nil {
		return nil
	}
	at := At(*t)
	return &at
}
