package ui

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/safe"
)

// subject is one job that an action is about, as it was when the action began.
type subject struct {
	id    int64
	where string // queue and kind; "" when it is no longer listed
	says  string // its error
}

func subjects(jobs ...queue.Job) []subject {
	out := make([]subject, len(jobs))
	for i, j := range jobs {
		out[i] = subject{j.ID, kindOf(j.Queue, j.Kind), j.LastError}
	}
	return out
}

// redriveKey asks whether to bring dead letters back. The jobs are fixed when
// the question appears; the list below may change as it likes.
func redriveKey(a *app, chosen func() []subject, ok bool) action {
	return key("r", "redrive", "bring the job under the cursor, or all marked, back to pending", func() tea.Cmd {
		a.ask(newRedrive(a, chosen()))
		return nil
	}).unless(pick(ok, "", "no dead letter under the cursor")).unless(a.readOnly())
}

func newRedrive(a *app, jobs []subject) *confirm {
	const listed = 12
	n := len(jobs)
	c := &confirm{
		title: "REDRIVE " + strings.ToUpper(plural(n, "job")),
		says:  "Back to pending with a fresh budget of attempts; the history is kept. If the cause is not gone, they will fail again.",
		yes:   "redrive " + plural(n, "job"),
		no:    "leave them",
		do: func() tea.Cmd {
			ids := make([]int64, n)
			for i, j := range jobs {
				ids[i] = j.id
			}
			return a.startPlan(queue.NewPlan{IDs: ids})
		},
	}
	if n == 1 {
		c.says = "Back to pending with a fresh budget of attempts; the history is kept. If the cause is not gone, it will fail again."
		c.title, c.yes, c.no = fmt.Sprintf("REDRIVE JOB %d", jobs[0].id), fmt.Sprintf("redrive %d", jobs[0].id), "leave it"
	}
	idW, whereW := 0, 0
	for _, j := range jobs[:min(n, listed)] {
		idW = max(idW, len(strconv.FormatInt(j.id, 10)))
		whereW = max(whereW, min(safe.Width(safe.Text(j.where)), 24))
	}
	t := a.pic.theme
	var lines []string
	for _, j := range jobs[:min(n, listed)] {
		line, _, _ := strings.Cut(strings.TrimSpace(j.says), "\n")
		lines = append(lines, t.strong.draw(safe.FitRight(strconv.FormatInt(j.id, 10), idW))+"  "+
			t.accent.draw(safe.Fit(j.where, whereW))+"  "+t.dim.draw(safe.Text(line[:min(len(line), 400)])))
	}
	c.subject = func() []string { return lines }
	if n > listed {
		c.more = fmt.Sprintf("and %s more", thousands(int64(n-listed)))
	}
	return c
}
