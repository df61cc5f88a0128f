package watch

import (
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

// like copies a row with changes.
func like(r *row, change func(*row)) *row {
	c := *r
	change(&c)
	return &c
}

func TestTellNamesEveryStep(t *testing.T) {
	t.Parallel()
	at := noon.Add(time.Minute)
	pending := &row{id: 1, queue: "emails", status: queue.Pending, maxAttempts: 5, runAt: queue.At(noon), updatedAt: noon}
	running := like(pending, func(r *row) {
		r.status, r.attempts, r.owner, r.lockedAt, r.updatedAt = queue.Processing, 2, "w1#1", noon, noon
		r.expiresAt = noon.Add(30 * time.Second)
	})
	over := func(status queue.Status) *row {
		return like(running, func(r *row) {
			r.status, r.owner, r.lockedAt, r.expiresAt, r.updatedAt = status, "", time.Time{}, time.Time{}, at
		})
	}
	dead := over(queue.Dead)
	back := over(queue.Pending)
	runsAt := func(d time.Duration) func(*row) { return func(r *row) { r.runAt = queue.At(at.Add(d)) } }
	wanted := func(r *row) *row { return like(r, func(r *row) { r.cancelledBy = "ann" }) }
	fresh := like(running, func(r *row) { r.expiresAt = at.Add(time.Hour) }) // its lease has not run out

	for name, c := range map[string]struct {
		old, now *row
		want     What
		note     string
	}{
		"claim":                      {pending, running, Claimed, "attempt 2 of 5"},
		"claim, old not known":       {nil, running, Claimed, "attempt 2 of 5"},
		"lease taken over":           {running, like(running, func(r *row) { r.owner = "w2#1" }), Claimed, "attempt 2 of 5, taken from w1#1"},
		"heartbeat":                  {running, like(running, func(r *row) { r.expiresAt, r.updatedAt = at, at }), Renewed, ""},
		"heartbeat, not known":       {nil, like(running, func(r *row) { r.expiresAt, r.updatedAt = at, at }), Renewed, ""},
		"completion":                 {running, over(queue.Completed), Completed, "attempt 2 of 5"},
		"retry":                      {fresh, like(back, runsAt(2*time.Minute)), Retried, "attempt 2 of 5, again in 2m"},
		"retry after expiry":         {running, like(back, runsAt(2*time.Minute)), Retried, "attempt 2 of 5, again in 2m"},
		"retry at once":              {fresh, like(back, runsAt(0)), Retried, "attempt 2 of 5, again at once"},
		"retry never":                {fresh, like(back, func(r *row) { r.runAt = queue.Time{Infinity: 1} }), Retried, "attempt 2 of 5, never due"},
		"retry, not known":           {nil, like(back, runsAt(time.Minute)), Retried, "attempt 2 of 5, again in 1m"},
		"reclaim":                    {running, back, Reclaimed, "attempt 2 of 5"},
		"reclaim, not known":         {nil, back, Reclaimed, "attempt 2 of 5"},
		"release":                    {running, like(back, func(r *row) { r.attempts = 1 }), Released, ""},
		"snooze":                     {fresh, like(like(back, func(r *row) { r.attempts = 1 }), runsAt(time.Hour)), Released, "again in 1h"},
		"given back by hand":         {fresh, back, Released, ""},
		"failure":                    {fresh, over(queue.Failed), Failed, "attempt 2 of 5"},
		"poison":                     {fresh, dead, Buried, "attempt 2 of 5"},
		"worker lost too often":      {running, dead, Buried, "attempt 2 of 5, worker lost"},
		"redrive":                    {dead, like(back, func(r *row) { r.attempts = 0; r.runAt = queue.At(at) }), Redriven, ""},
		"redrive, not known":         {nil, like(back, func(r *row) { r.attempts = 0; r.runAt = queue.At(at) }), Redriven, ""},
		"redrive taken back":         {like(pending, runsAt(0)), like(dead, func(r *row) { r.updatedAt = noon }), TakenBack, ""},
		"taken back to cancelled":    {like(pending, runsAt(0)), wanted(like(dead, func(r *row) { r.updatedAt = noon })), TakenBack, ""},
		"buried while waiting":       {like(pending, runsAt(0)), like(dead, func(r *row) { r.updatedAt, r.runAt = noon, queue.At(at) }), Buried, "attempt 2 of 5"},
		"asked to be cancelled":      {fresh, wanted(fresh), CancelAsked, "by ann"},
		"asked and renewed":          {running, wanted(fresh), CancelAsked, "by ann"},
		"asked again":                {wanted(fresh), wanted(fresh), CancelAsked, "again"},
		"heartbeat of a cancelled":   {wanted(running), wanted(fresh), Renewed, ""},
		"cancelled while waiting":    {pending, wanted(like(pending, func(r *row) { r.status = queue.Dead })), Cancelled, "by ann"},
		"cancelled while running":    {wanted(fresh), wanted(dead), Cancelled, "by ann"},
		"cancelled and lost":         {wanted(running), wanted(dead), Cancelled, "by ann, worker lost"},
		"cancelled, not known":       {nil, wanted(dead), Cancelled, "by ann"},
		"completed all the same":     {wanted(fresh), wanted(over(queue.Completed)), Completed, "attempt 2 of 5, too late to cancel"},
		"redrive of a cancelled":     {wanted(dead), like(back, func(r *row) { r.attempts = 0; r.runAt = queue.At(at) }), Redriven, ""},
		"rescheduled":                {pending, like(pending, runsAt(time.Hour)), Edited, "due in 1h"},
		"made due":                   {pending, like(pending, runsAt(-time.Hour)), Edited, "due now"},
		"moved":                      {pending, like(pending, func(r *row) { r.queue = "slow" }), Edited, "moved from emails"},
		"dead letter edited":         {dead, like(dead, func(r *row) { r.maxAttempts = 9 }), Edited, ""},
		"running job edited":         {running, like(running, func(r *row) { r.maxAttempts = 9 }), Edited, ""},
		"brought back from the done": {over(queue.Completed), back, Edited, "pending again"},
	} {
		e := tell(c.old, c.now, at)
		if e.What != c.want || e.Note != c.note {
			t.Errorf("%s: told as %s %q, want %s %q", name, e.What, e.Note, c.want, c.note)
		}
	}
}

func TestTellNamesWhoLostTheLease(t *testing.T) {
	t.Parallel()
	running := &row{id: 1, status: queue.Processing, owner: "w1#1", lockedAt: noon, expiresAt: noon, updatedAt: noon}
	later := noon.Add(time.Minute)
	back := &row{id: 1, status: queue.Pending, updatedAt: later}
	if e := tell(running, back, later); e.What != Reclaimed || e.Owner != "w1#1" {
		t.Errorf("%+v", e)
	}
}

func TestTellJudgesByTheCommitWhereUpdatedAtStoodStill(t *testing.T) {
	t.Parallel()
	running := &row{id: 1, status: queue.Processing, owner: "w1#1", lockedAt: noon, expiresAt: noon.Add(time.Minute), updatedAt: noon}
	back := &row{id: 1, status: queue.Pending, updatedAt: noon}
	if e := tell(running, back, noon.Add(2*time.Minute)); e.What != Reclaimed {
		t.Errorf("after expiry: %+v", e)
	}
	if e := tell(running, back, noon.Add(time.Second)); e.What != Released {
		t.Errorf("before expiry: %+v", e)
	}
}

func TestInWords(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		3 * time.Millisecond: "3ms", 12 * time.Second: "12s", 2 * time.Minute: "2m", 130 * time.Second: "2m10s",
		time.Hour + 5*time.Minute + time.Second: "1h5m", 76 * time.Hour: "3d4h",
	} {
		if got := inWords(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
