package ui

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/leasetop/leasetop/workers/scenario"
)

// runName is what all queues of a play begin with.
var runName = regexp.MustCompile(`([a-z0-9-]+)-[0-9a-f]{6}(-?)`)

// ownNames calls queues in a text as the story does.
func (s *stagePage) ownNames(text string) string {
	if !strings.Contains(text, s.of.pic.Name+"-") {
		return text
	}
	return runName.ReplaceAllStringFunc(text, func(run string) string {
		switch parts := runName.FindStringSubmatch(run); {
		case parts[1] != s.of.pic.Name:
			return run
		case parts[2] != "":
			return "" // the story's name for it follows
		}
		return "its queue"
	})
}

var depthColumns = []column{
	{title: "QUEUE", min: 8, max: 24},
	{title: "PENDING", min: 7, max: 10, right: true},
	{title: "RUNNING", min: 7, max: 10, right: true},
	{title: "COMPLETED", min: 9, max: 10, right: true},
	{title: "FAILED", min: 6, max: 8, right: true},
	{title: "DEAD", min: 5, max: 8, right: true},
}

// depths are the play's jobs by status: a line for each queue, or where there is no room
// for that, all in the heading.
func (s *stagePage) depths() section {
	t, all := s.pic.theme, s.of.pic.Depths
	old := s.jobsNote()
	titled := func(_, h int) heading {
		head := heading{name: "JOBS", note: old, must: old}
		if away := away(&s.of.pic); away != nil {
			head.must = away.Text
		} else if old != "" {
			head.must = "stale"
		}
		if h < 1+len(all) {
			head.rest = pick(len(all) > 1, "all: ", "") + summed(all)
		}
		return head
	}
	rows := 1 + max(len(all), 1)
	return section{titled: titled, good: min(rows, 4), want: rows, whole: true, last: 2, draw: func(w, h int) []string {
		if h < 2 {
			return nil
		}
		g := arrange(depthColumns, w-2)
		lines := []string{" " + g.header(t.dim)}
		for _, d := range all[:min(len(all), max(h-1, 0))] {
			name := s.ownNames(d.Queue)
			number := func(n int64, k ink) cell { return cell{text: thousands(n), ink: pick(n == 0, t.faint, k)} }
			line := " " + g.row([]cell{
				{text: name, ink: t.strong},
				number(d.Pending, t.text), number(d.Processing, t.accent), number(d.Completed, t.good),
				number(d.Failed, t.bad), number(d.Dead, t.bad),
			})
			if old != "" {
				line = t.dim.fade(line)
			}
			lines = append(lines, line)
		}
		return lines
	}}
}

// summed says how many jobs of all queues stand where.
func summed(all []scenario.Depth) string {
	var sum scenario.Depth
	for _, d := range all {
		sum.Pending += d.Pending
		sum.Processing += d.Processing
		sum.Completed += d.Completed
		sum.Failed += d.Failed
		sum.Dead += d.Dead
	}
	var told []string
	for _, one := range []struct {
		n    int64
		name string
	}{{sum.Pending, "pending"}, {sum.Processing, "running"}, {sum.Completed, "completed"}, {sum.Failed, "failed"}, {sum.Dead, "dead"}} {
		if one.n > 0 {
			told = append(told, thousands(one.n)+" "+one.name)
		}
	}
	return cmp.Or(strings.Join(told, " · "), "none")
}

// jobsNote says that the jobs are not those of the present, where they are not: they
// cannot be read while the server is away.
func (s *stagePage) jobsNote() string {
	away, looked := away(&s.of.pic), s.of.pic.Looked
	if away == nil || looked.IsZero() {
		return s.oldNote()
	}
	return join(away.Text, lasting(s.of.seen.Sub(away.Began))) + " · as of before"
}
