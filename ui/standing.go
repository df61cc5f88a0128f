package ui

import (
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
)

// standing is where a job stands, as the screens tell it: a status, with the pending
// told apart by whether they are due.
type standing struct {
	name   string
	glyph  string
	status queue.Status // "" is any
	due    queue.Due
	count  func(d *watch.QueueDepth) tally
}

// The standings in the order of a job's life, after the choice of them all.
var (
	standsAny        = standing{name: "any status", count: everyJob}
	standsReady      = standing{"ready", "○", queue.Pending, queue.DueNow, func(d *watch.QueueDepth) tally { return tally{d.Ready, d.AtLeast.Ready, false} }}
	standsScheduled  = standing{"scheduled", "…", queue.Pending, queue.DueLater, func(d *watch.QueueDepth) tally { return tally{d.Scheduled, d.AtLeast.Scheduled, false} }}
	standsProcessing = standing{"processing", "●", queue.Processing, queue.DueOrNot, func(d *watch.QueueDepth) tally { return tally{d.Processing, d.AtLeast.Processing, false} }}
	standsCompleted  = standing{"completed", "✓", queue.Completed, queue.DueOrNot, func(d *watch.QueueDepth) tally { return tally{d.Completed, false, !d.CompletedExact} }}
	standsFailed     = standing{"failed", "✗", queue.Failed, queue.DueOrNot, func(d *watch.QueueDepth) tally { return tally{d.Failed, d.AtLeast.Failed, false} }}
	standsDead       = standing{"dead", "✗", queue.Dead, queue.DueOrNot, func(d *watch.QueueDepth) tally { return tally{d.Dead, d.AtLeast.Dead, false} }}

	standings = []*standing{&standsAny, &standsReady, &standsScheduled, &standsProcessing, &standsCompleted, &standsFailed, &standsDead}
)

// standingOf is where a job stood when it was read.
func standingOf(j *queue.Job, now time.Time) *standing {
	switch j.Status {
	case queue.Pending:
		if j.RunAt.Never() || !j.RunAt.Always() && j.RunAt.After(now) {
			return &standsScheduled
		}
		return &standsReady
	case queue.Processing:
		return &standsProcessing
	case queue.Completed:
		return &standsCompleted
	case queue.Failed:
		return &standsFailed
	}
	return &standsDead
}

// filter is what the database is asked for.
func (s *standing) filter(name string) queue.Filter {
	f := queue.Filter{Queue: name, Due: s.due}
	if s.status != "" {
		f.Statuses = []queue.Status{s.status}
	}
	return f
}

// ink is how the standing is drawn.
func (s *standing) ink(t *theme) ink {
	switch s {
	case &standsReady:
		return t.text
	case &standsProcessing:
		return t.accent
	case &standsCompleted:
		return t.good
	case &standsFailed:
		return t.warn
	case &standsDead:
		return t.bad
	}
	return t.dim
}

// tally is a count and how far it is to be trusted.
type tally struct {
	n        int64
	atLeast  bool // a lower bound
	estimate bool
}

func (c tally) plus(d tally) tally {
	return tally{c.n + d.n, c.atLeast || d.atLeast, c.estimate || d.estimate}
}

// String writes the count with its marks.
func (c tally) String() string {
	s := thousands(c.n)
	if c.estimate {
		s = "~" + s
	}
	if c.atLeast {
		s += "+"
	}
	return s
}

func everyJob(d *watch.QueueDepth) (sum tally) {
	for _, s := range []*standing{&standsReady, &standsScheduled, &standsProcessing, &standsCompleted, &standsFailed, &standsDead} {
		sum = sum.plus(s.count(d))
	}
	return sum
}
