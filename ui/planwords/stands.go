package planwords

import (
	"fmt"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// Stands says what a plan does now, or why it does nothing, and who brought that about.
func Stands(p queue.Plan) string {
	by := p.StateBy
	switch p.State {
	case queue.PlanRunning:
		if p.CanaryLeft > 0 {
			return "redrives " + canary(p, p.CanaryLeft+p.Redriven+p.Undone-p.CanaryAfter)
		}
		if p.CanaryAfter > 0 || p.Canary > 0 && int64(p.Canary) < p.Total {
			return "redrives the rest"
		}
		return "redrives"
	case queue.PlanCanary:
		return canary(p, p.Redriven+p.Undone-p.CanaryAfter) + " are back: it waits until all of them have ended"
	case queue.PlanHeld:
		if p.Why != "" {
			return "it waits for somebody to say go on: " + p.Why
		}
		return canary(p, p.Redriven+p.Undone-p.CanaryAfter) + " have ended well: it waits for somebody to say go on"
	case queue.PlanPaused:
		return "paused" + because(by, p.Why)
	case queue.PlanStopped:
		return "stopped by itself" + because("", p.Why)
	case queue.PlanDone:
		return "done"
	case queue.PlanCancelled:
		return "cancelled" + because(by, p.Why)
	case queue.PlanUndoing:
		return "takes back what nobody has claimed yet" + because(by, p.Why)
	case queue.PlanUndone:
		return "undone" + because(by, p.Why)
	}
	return string(p.State)
}

// canary names the n jobs that go before the others.
func canary(p queue.Plan, n int64) string {
	return pick(p.CanaryAfter > 0, "the next ", "the first ") + Thousands(n)
}

func pick(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

func because(by, why string) string {
	text := ""
	if by != "" {
		text = " by " + by
	}
	if why != "" {
		text += ": " + why
	}
	return text
}

// Came says what came of a plan so far, in numbers.
func Came(p queue.Plan) string {
	words := []string{fmt.Sprintf("redriven %s of %s", Thousands(p.Redriven), Thousands(p.Total))}
	for _, n := range []struct {
		n    int64
		what string
	}{{p.Undone, "taken back"}, {p.Skipped, "skipped"}, {p.Waiting, "still waiting"}, {p.Left, "left dead"}, {p.DiedAgain, "died again"}} {
		if n.n > 0 {
			words = append(words, Thousands(n.n)+" "+n.what)
		}
	}
	return strings.Join(words, ", ")
}

// UnderWay says of an entry of the operator log that has not ended why it has not.
func UnderWay(a queue.Act) string {
	switch {
	case a.PlanState == "":
		return "under way, or its process is gone"
	case a.PlanState == queue.PlanStopped:
		return "its plan has stopped by itself"
	case a.PlanState == queue.PlanHeld:
		return "its plan waits for somebody to say go on"
	case !Works(a.PlanState):
		return "its plan is " + string(a.PlanState)
	case a.Executor == "":
		return "nobody executes its plan"
	}
	return "under way: " + a.Executor + " executes its plan"
}

// Works tells whether a plan needs somebody who executes it, to get on.
func Works(s queue.PlanState) bool {
	return s == queue.PlanRunning || s == queue.PlanCanary || s == queue.PlanUndoing
}

// NothingToUndo says why a plan has redriven nothing that could be taken back; "" when
// it has, or is being undone.
func NothingToUndo(p queue.Plan) string {
	switch {
	case p.State == queue.PlanUndoing, p.State == queue.PlanUndone:
		return ""
	case p.Redriven == 0:
		return "it has redriven nothing"
	case p.Pending == 0 && p.State.Ended():
		return "every job that it redrove has been claimed since"
	}
	return ""
}

// Elsewhere says, of a plan that another process executes, what happens to it there.
func Elsewhere(p queue.Plan) string {
	if p.State == queue.PlanUndoing {
		return p.Executor + " takes back what nobody has claimed yet"
	}
	return p.Executor + " executes it"
}

// Speed measures how fast a plan gets on, over the last few readings of it in one state.
type Speed struct {
	state queue.PlanState
	seen  []reading
}

type reading struct {
	at    time.Time
	moved int64
}

// speedOver is the time over which the speed is measured.
const speedOver = 5 * time.Second

// Note takes a reading of the plan. The clock is the reader's own.
func (s *Speed) Note(p queue.Plan, at time.Time) {
	moved := p.Redriven + p.Skipped + p.Undone
	if n := len(s.seen); n > 0 && moved < s.seen[n-1].moved || p.State != s.state {
		s.seen = nil // how fast it was before it stood still says nothing
	}
	s.state = p.State
	s.seen = append(s.seen, reading{at, moved})
	for len(s.seen) > 2 && at.Sub(s.seen[1].at) >= speedOver {
		s.seen = s.seen[1:]
	}
}

// paceShows is how long a plan has to have been seen for its own speed to say more than its pace.
const paceShows = 2 * time.Second

// over is the time between the first reading and the last.
func (s *Speed) over() time.Duration {
	if len(s.seen) == 0 {
		return 0
	}
	return s.seen[len(s.seen)-1].at.Sub(s.seen[0].at)
}

// PerSecond is how many jobs a second the plan moves; false when that is not known yet.
func (s *Speed) PerSecond() (float64, bool) {
	if len(s.seen) < 2 {
		return 0, false
	}
	first, last, took := s.seen[0], s.seen[len(s.seen)-1], s.over()
	if took < 500*time.Millisecond {
		return 0, false
	}
	return float64(last.moved-first.moved) / took.Seconds(), true
}

// Left is how long a plan that redrives has to go on so; false when nobody knows: it is
// not redriving, or stands still.
func (s *Speed) Left(p queue.Plan) (time.Duration, bool) {
	speed, known := s.PerSecond()
	if p.Pace > 0 && (!known || s.over() < paceShows || speed > p.Pace/2) { // it is held back by nothing else, as far as is known
		speed, known = p.Pace, true
	}
	if p.State != queue.PlanRunning || !known || speed <= 0 {
		return 0, false
	}
	return time.Duration(float64(p.Waiting) / speed * float64(time.Second)), true
}
