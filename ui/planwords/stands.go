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
		if int64(p.Canary) > p.Redriven+p.Skipped && int64(p.Canary) < p.Total {
			return "redrives the first " + Thousands(int64(p.Canary))
		}
		if p.Canary > 0 && int64(p.Canary) < p.Total {
			return "redrives the rest"
		}
		return "redrives"
	case queue.PlanCanary:
		return fmt.Sprintf("the first %s are back: it waits until all of them have ended", Thousands(p.Redriven))
	case queue.PlanHeld:
		return "the first have ended well: it waits for somebody to say go on"
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
	words := []string{fmt.Sprintf("redriven %s of %s", Thousands(p.Redriven+p.Undone), Thousands(p.Total))}
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

// Works tells whether a plan needs somebody who executes it, to get on.
func Works(s queue.PlanState) bool {
	return s == queue.PlanRunning || s == queue.PlanCanary || s == queue.PlanUndoing
}

// Speed measures how fast a plan gets on, over the last few readings of it.
type Speed struct {
	seen []reading
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
	if n := len(s.seen); n > 0 && moved < s.seen[n-1].moved {
		s.seen = nil
	}
	s.seen = append(s.seen, reading{at, moved})
	for len(s.seen) > 2 && at.Sub(s.seen[1].at) >= speedOver {
		s.seen = s.seen[1:]
	}
}

// PerSecond is how many jobs a second the plan moves; false when that is not known yet.
func (s *Speed) PerSecond() (float64, bool) {
	if len(s.seen) < 2 {
		return 0, false
	}
	first, last := s.seen[0], s.seen[len(s.seen)-1]
	took := last.at.Sub(first.at)
	if took < 500*time.Millisecond {
		return 0, false
	}
	return float64(last.moved-first.moved) / took.Seconds(), true
}

// Left is how long a plan that redrives has to go on so; false when nobody knows: it is
// not redriving, or stands still.
func (s *Speed) Left(p queue.Plan) (time.Duration, bool) {
	speed, known := s.PerSecond()
	if p.Pace > 0 && (!known || speed < p.Pace) && (!known || speed > p.Pace/2) { // it is held back by nothing else
		speed, known = p.Pace, true
	}
	if p.State != queue.PlanRunning || !known || speed <= 0 {
		return 0, false
	}
	return time.Duration(float64(p.Waiting) / speed * float64(time.Second)), true
}
