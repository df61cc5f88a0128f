package watch

import (
	"fmt"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// workerLost ends the note of a job that was buried by a reclaim.
const workerLost = "worker lost"

// tooLate ends the note of a job that was completed although somebody had cancelled it.
const tooLate = "too late to cancel"

// tellNew names what a new row is.
func tellNew(now *row, at time.Time) Event {
	e := event(Enqueued, now, now.owner)
	switch wait := now.runAt.Sub(at); {
	case now.status != queue.Pending:
		e.Note = "as " + string(now.status)
	case now.runAt.Never():
		e.Note = "never due"
	case !now.runAt.Always() && wait >= time.Second:
		e.Note = "due in " + inWords(wait)
	}
	return e
}

// tell names what turned old into now, in a transaction that committed at the
// time at. The rules rest on what every writer of the table must do, ours and the
// article's alike, not on who wrote:
//
//	processing → pending   attempts fell: released; run_at moved: retried;
//	                       lease was over: reclaimed
//	processing → the same  same claim: renewed; other owner or lock time: claimed
//	processing → the same  same lease, and somebody asked for it: cancel asked
//	dead letter → pending  redriven
//	pending → dead letter  with both run_at and updated_at from before it was due: taken back
//	→ dead                 cancelled, when somebody had asked for it
//
// old is nil when it is not known; then the row's own times have to do: a claim
// sets locked_at and updated_at to the same now(), a redrive run_at and updated_at.
func tell(old, now *row, at time.Time) Event {
	was := queue.Status("")
	owner := now.owner
	if old != nil {
		was = old.status
		if owner == "" {
			owner = old.owner
		}
	}
	if was == now.status && now.status != queue.Processing {
		return edited(old, now, owner, at)
	}
	attempt := fmt.Sprintf("attempt %d of %d", now.attempts, now.maxAttempts)
	if was == queue.Pending && now.status.IsDeadLetter() && takenBack(old, now) {
		return event(TakenBack, now, "")
	}
	switch now.status {
	case queue.Processing:
		switch {
		case was == queue.Processing && old.owner == now.owner && old.lockedAt.Equal(now.lockedAt):
			switch same := old.expiresAt.Equal(now.expiresAt); {
			case now.cancelledBy != "" && old.cancelledBy == "":
				return event(CancelAsked, now, owner, "by "+now.cancelledBy)
			case same && now.cancelledBy != "":
				return event(CancelAsked, now, owner, "again")
			case same:
				return edited(old, now, owner, at)
			}
			return event(Renewed, now, owner)
		case old == nil && !now.lockedAt.Equal(now.updatedAt):
			return event(Renewed, now, owner)
		case was == queue.Processing && old.owner != now.owner:
			return event(Claimed, now, owner, attempt, "taken from "+string(beginning([]byte(old.owner), ownerMost)))
		}
		return event(Claimed, now, owner, attempt)
	case queue.Pending:
		return backToPending(old, now, owner, attempt, at)
	case queue.Completed:
		if now.cancelledBy != "" {
			return event(Completed, now, owner, attempt, tooLate)
		}
		return event(Completed, now, owner, attempt)
	case queue.Failed:
		return event(Failed, now, owner, attempt)
	case queue.Dead:
		lost := was == queue.Processing && ranOut(old, now, at)
		switch {
		case now.cancelledBy != "" && lost:
			return event(Cancelled, now, owner, "by "+now.cancelledBy, workerLost)
		case now.cancelledBy != "":
			return event(Cancelled, now, owner, "by "+now.cancelledBy)
		case lost:
			return event(Buried, now, owner, attempt, workerLost)
		}
		return event(Buried, now, owner, attempt)
	}
	return event(Edited, now, owner, "status "+string(now.status))
}

func backToPending(old, now *row, owner, attempt string, at time.Time) Event {
	wait := "again at once"
	if d := now.runAt.Sub(at); now.runAt.Never() {
		wait = "never due"
	} else if !now.runAt.Always() && d > 0 {
		wait = "again in " + inWords(d)
	}
	if old == nil {
		switch {
		case now.runAt.Infinity == 0 && now.runAt.Time.Equal(now.updatedAt) && now.attempts == 0:
			return event(Redriven, now, owner)
		case now.runAt.Infinity == 0 && !now.runAt.Time.Before(now.updatedAt):
			return event(Retried, now, owner, attempt, wait)
		case now.attempts > 0:
			return event(Reclaimed, now, owner, attempt)
		}
		return event(Released, now, owner)
	}
	if old.status.IsDeadLetter() {
		return event(Redriven, now, "")
	}
	if old.status == queue.Completed {
		return event(Edited, now, owner, "pending again")
	}
	moved := !sameTime(old.runAt, now.runAt)
	switch {
	case now.attempts < old.attempts && moved:
		return event(Released, now, owner, wait)
	case now.attempts < old.attempts:
		return event(Released, now, owner)
	case moved:
		return event(Retried, now, owner, attempt, wait)
	case ranOut(old, now, at):
		return event(Reclaimed, now, owner, attempt)
	}
	return event(Released, now, owner)
}

// takenBack tells whether a dead letter is what it was before its redrive, which made
// it due then. Nobody else who ends a pending job touches its run_at.
func takenBack(old, now *row) bool {
	return old.runAt.Infinity == 0 && now.updatedAt.Before(old.runAt.Time) && !sameTime(old.runAt, now.runAt)
}

func edited(old, now *row, owner string, at time.Time) Event {
	switch {
	case old.queue != now.queue:
		return event(Edited, now, owner, "moved from "+old.queue)
	case !sameTime(old.runAt, now.runAt) && now.runAt.Infinity == 0 && now.runAt.Sub(at) > 0:
		return event(Edited, now, owner, "due in "+inWords(now.runAt.Sub(at)))
	case !sameTime(old.runAt, now.runAt):
		return event(Edited, now, owner, "due now")
	}
	return event(Edited, now, owner)
}

// ranOut tells whether old's lease was over when now was written. Reclaimers
// compare it with the now() they write to updated_at; a writer that leaves
// updated_at alone is judged by its commit.
func ranOut(old, now *row, at time.Time) bool {
	if !now.updatedAt.Equal(old.updatedAt) {
		at = now.updatedAt
	}
	return old.expiresAt.Before(at)
}

func sameTime(a, b queue.Time) bool {
	return a.Infinity == b.Infinity && (a.Infinity != 0 || a.Time.Equal(b.Time))
}

// ownerMost is how many bytes of an owner an event keeps, of which there are thousands.
const ownerMost = 300

func event(what What, r *row, owner string, notes ...string) Event {
	if len(owner) > ownerMost {
		owner = strings.ToValidUTF8(owner[:ownerMost], "") + "…"
	}
	return Event{
		What: what, JobID: r.id, Count: 1, Queue: r.queue, Kind: r.kind,
		Owner: owner, Attempt: r.attempts, Note: strings.Join(notes, ", "),
	}
}

// inWords prints a duration as a person would say it: 400ms, 12s, 2m, 1h5m, 3d4h.
func inWords(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	d = d.Round(time.Second)
	day := 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return pair(d, time.Minute, "m", time.Second, "s")
	case d < day:
		return pair(d, time.Hour, "h", time.Minute, "m")
	}
	return pair(d, day, "d", time.Hour, "h")
}

func pair(d, big time.Duration, bigName string, small time.Duration, smallName string) string {
	if rest := d % big / small; rest > 0 {
		return fmt.Sprintf("%d%s%d%s", d/big, bigName, rest, smallName)
	}
	return fmt.Sprintf("%d%s", d/big, bigName)
}
