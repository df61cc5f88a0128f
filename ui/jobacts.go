package ui

import (
	"context"
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/safe"
)

// actsOn are what can be done to one job, whatever its status; over is why nothing can.
// What makes no sense for a job of its status is left out of the footer, and says why.
func actsOn(a *app, job *queue.Job, over string) []action {
	var one target
	var alive, ended, scheduled, running, fixed string
	switch {
	case over != "":
	case job == nil:
		over = "no job under the cursor"
	default:
		one = jobTarget(job)
		status := string(job.Status)
		waits, runs := job.Status == queue.Pending, job.Status == queue.Processing
		if !job.Status.IsDeadLetter() {
			alive = "not a dead letter: " + status
		}
		if !waits && !runs {
			ended = "nothing to stop: " + status
		}
		if !runs {
			running = "nobody runs it: " + status
		}
		switch {
		case !waits:
			scheduled = "not waiting for its time: " + status
		case !job.RunAt.Never() && !job.RunAt.Time.After(a.pic.now):
			scheduled = "it is due already"
		}
		if !waits && !job.Status.IsDeadLetter() {
			fixed = pick(runs, "a worker has its payload: cancel it, or wait until it has ended", "it is done: "+status)
		}
	}
	redrive := redriveKey(a, func() []subject { return subjects(*job) }, true)
	redrive.help = "bring this job back to pending"
	cancel := cancelKey(a, one, pick(over != "", over, ended))
	cancel.out = ended != ""
	keys := []action{
		redrive.unless(over).never(alive),
		editKey(a, job).unless(over).never(fixed),
		discardJobKey(a, job).unless(over).never(alive),
		cancel,
		runNowKey(a, job).unless(over).never(scheduled),
		takeBackKey(a, job).unless(over).never(running),
	}
	for i := range keys {
		keys[i].out = keys[i].out || over != "" && i > 0
	}
	return keys
}

// discardJobKey asks whether to move one dead letter to the archive.
func discardJobKey(a *app, job *queue.Job) action {
	return key("D", "discard", "move this dead letter to the archive, out of the way; nothing is deleted", func() tea.Cmd {
		a.ask(newDiscard(a, a.jobSet(subjects(*job))))
		return nil
	}).unless(a.readOnly())
}

// runNowKey asks whether to make a scheduled job due.
func runNowKey(a *app, job *queue.Job) action {
	return key("n", "run now", "make this scheduled job due now", func() tea.Cmd {
		id := job.ID
		c := aboutJob(a, job, "RUN")
		c.title = fmt.Sprintf("RUN JOB %d NOW", id)
		c.says = "It is due at once instead of " + due(job.RunAt, a.pic.now) + ", and runs as soon as a worker is free."
		c.yes = fmt.Sprintf("run %d now", id)
		c.do = func() tea.Cmd {
			return a.actOnJob(id, "run now", fmt.Sprintf("job %d is due now", id), func(ctx context.Context) (queue.Done, error) {
				return a.cfg.Jobs.RunNow(ctx, a.cfg.By, id)
			})
		}
		a.ask(c)
		return nil
	}).unless(a.readOnly())
}

// takeBackKey asks whether to end the claim of a running job before its lease runs out.
func takeBackKey(a *app, job *queue.Job) action {
	return key("T", "take back", "end the claim of whoever runs this job, and make it pending again: for workers that are known to be gone", func() tea.Cmd {
		id, lease := job.ID, job.Lease()
		c := aboutJob(a, job, "TAKE BACK")
		c.grave = true
		c.says = a.leaseSays(job) + " Taken back, it is pending at once and may run a second time while the first run goes on: what it does outside of the database may happen twice. " +
			"Whoever has it now is fenced: its outcome will not count."
		c.yes = fmt.Sprintf("take %d back", id)
		c.do = func() tea.Cmd {
			return a.actOnJob(id, "release", fmt.Sprintf("took %d back: pending again", id), func(ctx context.Context) (queue.Done, error) {
				if err := a.cfg.Jobs.TakeBack(ctx, a.cfg.By, lease); err != nil {
					if errors.Is(err, queue.ErrLeaseLost) {
						return queue.Done{Skipped: []queue.Skip{{ID: id, Reason: "is under another lease by now, or has ended"}}}, nil
					}
					skip, err := queue.Skipped(err)
					if err != nil {
						return queue.Done{}, err
					}
					return queue.Done{Skipped: []queue.Skip{skip}}, nil
				}
				return queue.Done{IDs: []int64{id}}, nil
			})
		}
		a.ask(c)
		return nil
	}).unless(a.readOnly())
}

// leaseSays is what the lease of a running job, and its owner, say of whether it is needed.
func (a *app) leaseSays(job *queue.Job) string {
	who := a.pic.holder(job.LockedBy)
	name := brief(who.name, 30)
	var says string
	switch gone := who.gone(); {
	case gone != "":
		says = fmt.Sprintf("%s is %s.", name, gone)
	case who.state != "":
		says = fmt.Sprintf("%s is alive here, and works on it.", name)
	default:
		says = fmt.Sprintf("%s is no worker of this process: nobody here knows whether it is alive.", name)
	}
	if job.LeaseExpiresAt != nil {
		if rest := job.LeaseExpiresAt.Sub(a.pic.now); rest > 0 {
			return says + " Its lease ends in " + left(rest) + " unless it is renewed, and then the job comes back by itself."
		}
		return says + " Its lease has run out: the job comes back by itself as soon as a reaper looks."
	}
	return says
}

// aboutJob is a question about one job.
func aboutJob(a *app, job *queue.Job, what string) *confirm {
	t := a.pic.theme
	lines := []string{t.strong.draw(itoa(job.ID)) + "  " + t.accent.draw(brief(kindOf(job.Queue, job.Kind), 40)) +
		t.dim.draw("  "+string(job.Status)+", attempt "+tries(job.Attempts, job.MaxAttempts))}
	if said := briefly(job.LastError); said != "" {
		lines = append(lines, t.dim.draw(safe.Text(said[:min(len(said), 400)])))
	}
	return &confirm{title: fmt.Sprintf("%s JOB %d", what, job.ID), subject: func() []string { return lines }, no: "leave it"}
}

// actedMsg is what came of an act on one job.
type actedMsg struct {
	id   int64
	said string // when it was done
	done queue.Done
	err  error
}

// actOnJob does something to one job, entered in the operator log.
func (a *app) actOnJob(id int64, what, said string, do func(context.Context) (queue.Done, error)) tea.Cmd {
	return a.io(func(ctx context.Context) tea.Msg {
		var done queue.Done
		err := a.cfg.Jobs.Logged(ctx, queue.Act{By: a.cfg.By, What: what, IDs: []int64{id}, Asked: 1}, func(ctx context.Context) (n, skipped int, err error) {
			done, err = do(ctx)
			return len(done.IDs), len(done.Skipped), err
		})
		a.cfg.Feed.Refresh()
		return actedMsg{id, said, done, err}
	})
}

func (a *app) actedOn(m actedMsg) {
	a.changed(m.id)
	switch {
	case m.err != nil:
		a.say(danger, m.err.Error())
	case len(m.done.Skipped) > 0:
		a.say(caution, fmt.Sprintf("job %d: %s", m.id, whyLeft(m.done.Skipped[0])))
	default:
		a.say(okay, m.said)
	}
}

// changed has whatever shows a job read it again.
func (a *app) changed(id int64) {
	a.deadTab.Stale()
	a.jobsTab.Again()
	for _, p := range a.over {
		if d, ok := p.(*detail); ok && d.id == id {
			d.Stale()
		}
	}
}
