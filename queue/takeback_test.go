package queue

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// The owner that was taken for gone comes back: whatever it writes is refused.
func TestTakeBackFencesTheOldOwner(t *testing.T) {
	t.Parallel()
	q := open(t)
	lease := claimed(t, q, NewJob{MaxAttempts: 1}, time.Hour)
	ears := listen(t, q, q.Schema().ControlChannel())
	ok(t, q.TakeBack(t.Context(), "ann", lease))
	ears.hears(t, fmt.Sprint("cancel ", lease.ID)) // its worker is to look at once
	j := get(t, q, lease.ID)
	if last := j.Errors[0]; j.Status != Pending || j.Attempts != 0 || last.Outcome != "taken back" || last.Worker != "ann" || last.Attempt != 1 || last.Error != "taken back from "+lease.Token {
		t.Errorf("%+v", j)
	}
	next := claim(t, q, time.Minute)
	for name, err := range map[string]error{
		"complete":  q.Complete(t.Context(), lease),
		"bury":      q.Bury(t.Context(), lease, "late"),
		"take back": q.TakeBack(t.Context(), "ann", lease), // it is another's lease by now
	} {
		if !errors.Is(err, ErrLeaseLost) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if beat := must[Beat](t)(q.Heartbeat(t.Context(), []Renewal{{Lease: lease, For: time.Minute}})); len(beat.Lost) != 1 || beat.Lost[0].Owner != next.LockedBy {
		t.Errorf("%+v", beat)
	}
	ok(t, q.Complete(t.Context(), next.Lease()))
}

func TestTakeBackOfACancelledJobEndsIt(t *testing.T) {
	t.Parallel()
	q := open(t)
	lease := claimed(t, q, NewJob{}, time.Hour)
	cancelled(t, q, "bob", lease.ID)
	ok(t, q.TakeBack(t.Context(), "ann", lease))
	if j := get(t, q, lease.ID); j.Status != Dead || j.LastError != "cancelled by bob" || j.Errors[0].Outcome != "cancelled" || j.Errors[0].Worker != "ann" {
		t.Errorf("%+v", j)
	}
}
