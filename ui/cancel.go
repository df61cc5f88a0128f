package ui

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/safe"
)

// target is the job that a cancel is about, as it was when the question appeared.
type target struct {
	id      int64
	where   string // queue and kind
	attempt string
	owner   string // who runs it; "" while it waits
	asked   string // who asked for it before; "" nobody
}

func leaseTarget(l watch.Lease) target {
	return target{l.JobID, kindOf(l.Queue, l.Kind), tries(l.Attempts, l.MaxAttempts), l.Owner, l.CancelledBy}
}

func jobTarget(j *queue.Job) target {
	return target{j.ID, kindOf(j.Queue, j.Kind), tries(j.Attempts, j.MaxAttempts), j.LockedBy, j.CancelledBy}
}

// cancelKey asks whether to cancel a job; why says what stands against it.
func cancelKey(a *app, one target, why string) action {
	asked := ""
	if one.asked != "" && one.owner != "" {
		asked = "its worker has been asked to stop already, by " + one.asked
	}
	return key("C", "cancel", "cancel the job: its worker is asked to stop, and it ends as a dead letter", func() tea.Cmd {
		a.ask(newCancel(a, one))
		return nil
	}).unless(why).unless(a.readOnly()).unless(asked)
}

func newCancel(a *app, one target) *confirm {
	t, id := a.pic.theme, strconv.FormatInt(one.id, 10)
	line := t.strong.draw(id) + "  " + t.accent.draw(brief(one.where, 40)) + t.dim.draw("  attempt "+one.attempt)
	c := &confirm{
		title: "CANCEL JOB " + id,
		says:  "It ends as a dead letter at once, without being run. It can be redriven.",
		yes:   "cancel " + id, no: "leave it",
		do: func() tea.Cmd { return a.cancel(one.id) },
	}
	if one.owner != "" {
		c.grave = true
		line += t.dim.draw("  run by ") + t.text.draw(brief(a.pic.holder(one.owner).name, 30))
		c.says = "Its worker is asked to stop. Unless the job completes first, it ends as a dead letter with your name; " +
			"what it has done so far stays done."
		if _, ours := queue.ParseToken(one.owner); !ours {
			c.says = "Its worker is not leasetop's and does not hear of this: the job ends as a dead letter when its lease runs out, " +
				"unless that worker gives it an outcome first."
		}
	}
	c.subject = func() []string { return []string{line} }
	return c
}

// cancelledMsg is what came of a cancel.
type cancelledMsg struct {
	id   int64
	done queue.Cancelled
	err  error
}

func (a *app) cancel(id int64) tea.Cmd {
	return a.io(func(ctx context.Context) tea.Msg {
		var done queue.Cancelled
		err := a.cfg.Jobs.Logged(ctx, queue.Act{By: a.cfg.By, What: "cancel", IDs: []int64{id}}, func(ctx context.Context) (n, skipped int, err error) {
			done, err = a.cfg.Jobs.Cancel(ctx, a.cfg.By, id)
			return len(done.IDs) + len(done.Asked), len(done.Skipped), err
		})
		a.cfg.Feed.Refresh()
		return cancelledMsg{id, done, err}
	})
}

func (a *app) cancelled(m cancelledMsg) {
	a.deadTab.Stale()
	a.jobsTab.Again()
	if d, ok := a.page().(*detail); ok && d.id == m.id {
		d.Stale()
	}
	switch {
	case m.err != nil:
		a.say(danger, m.err.Error())
	case len(m.done.Asked) > 0:
		a.say(okay, fmt.Sprintf("asked job %d's worker to stop", m.id))
	case len(m.done.IDs) > 0:
		a.say(okay, fmt.Sprintf("job %d is dead: cancelled", m.id))
	case len(m.done.Skipped) > 0:
		a.say(caution, fmt.Sprintf("job %d %s", m.id, tooLate(whyLeft(m.done.Skipped[0]))))
	}
}

// tooLate says why there was nothing to cancel.
func tooLate(reason string) string {
	switch was, ok := strings.CutPrefix(reason, "already "); {
	case ok && was == string(queue.Completed):
		return "had completed already"
	case ok:
		return "was " + was + " already"
	}
	return "was not cancelled: " + reason
}

// cancelledBy is who wants a running job cancelled; "" nobody.
func (p *picture) cancelledBy(id int64) string {
	for _, l := range p.state.Leases.List {
		if l.JobID == id {
			return l.CancelledBy
		}
	}
	return ""
}

// cancelling draws in w cells that a lease is to end, and who wants it.
func (t *theme) cancelling(by string, w int) string {
	text := "cancelling"
	if long := text + " by " + safe.Text(by); safe.Width(long) <= w {
		text = long
	}
	return t.alarm.draw(safe.Fit(text, w))
}
