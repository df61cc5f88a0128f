package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/mask"
)

// subject is one job that an action is about, as it was when the action began.
type subject struct {
	id    int64
	queue string
	where string // queue and kind; "" when it is no longer listed
	says  string // its error
}

func subjects(jobs ...queue.Job) []subject {
	out := make([]subject, len(jobs))
	for i, j := range jobs {
		out[i] = subject{j.ID, j.Queue, kindOf(j.Queue, j.Kind), j.LastError}
	}
	return out
}

// redriveKey asks whether to bring dead letters back. The jobs are fixed when
// the question appears; the list below may change as it likes.
func redriveKey(a *app, chosen func() []subject, ok bool) action {
	return key("r", "redrive", "bring the job under the cursor, or all marked, back to pending", func() tea.Cmd {
		a.ask(newRedrive(a, a.jobSet(chosen())))
		return nil
	}).unless(pick(ok, "", "no dead letter under the cursor")).unless(a.readOnly())
}

func newRedrive(a *app, set deadSet) *confirm {
	n := len(set.ids)
	c := &confirm{
		title:   "REDRIVE " + strings.ToUpper(plural(n, "job")),
		subject: func() []string { return set.says },
		says:    "Back to pending with a fresh budget of attempts; the history is kept. If the cause is not gone, they will fail again.",
		yes:     "redrive " + plural(n, "job"),
		no:      "leave them",
		do: func() tea.Cmd {
			return a.beginPlan(queue.NewPlan{IDs: set.ids, Filter: set.filter, Reason: set.reason("")}, set, false)
		},
	}
	if n == 1 {
		c.says = "Back to pending with a fresh budget of attempts; the history is kept. If the cause is not gone, it will fail again."
		c.title, c.yes, c.no = fmt.Sprintf("REDRIVE JOB %d", set.ids[0]), fmt.Sprintf("redrive %d", set.ids[0]), "leave it"
	}
	return c
}

// acted has read again what an act on dead letters changed. Their marks have done their work.
func (a *app) acted(set deadSet) {
	a.deadTab.marks.Unmark(set.ids)
	if set.filter != "" || set.groups > 0 {
		a.deadTab.marks.Clear()
	}
	a.deadTab.Stale()
	a.jobsTab.Again()
	for _, p := range a.over {
		if d, ok := p.(*detail); ok {
			d.Stale()
		}
	}
}

// report says what came of an act on many: how many were skipped, and of a few of them why.
func (a *app) report(text string, skipped int, some []queue.Skip, err error) {
	kind := okay
	if skipped > 0 {
		kind = caution
		text += ", skipped " + thousands(int64(skipped)) + ": "
		var reasons []string
		for _, s := range some[:min(len(some), 3)] {
			reasons = append(reasons, fmt.Sprintf("%d %s", s.ID, whyLeft(s)))
		}
		text += strings.Join(reasons, "; ") + pick(skipped > len(reasons), "; …", "")
	}
	if err != nil {
		kind, text = danger, text+" · "+err.Error()
	}
	a.say(kind, text)
}

// whyLeft is why an act left a job, with what the server adds, and without secrets: its
// words may hold values of the row.
func whyLeft(s queue.Skip) string {
	text := s.Reason
	if s.Detail != "" {
		text += " (" + s.Detail + ")"
	}
	text, _ = mask.Text(text)
	return text
}
