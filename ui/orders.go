package ui

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers"
)

// orderedMsg is what came of an order to the workers or the demonstration.
type orderedMsg struct {
	done string // what to say when it worked
	err  error
}

// order has the workers do something, outside Update.
func (a *app) order(done string, f func() error) tea.Cmd {
	return a.io(func(context.Context) tea.Msg { return orderedMsg{done, f()} })
}

// spawn adds a worker, in this process or in one of its own.
func (a *app) spawn(queues []string, slots int, apart bool) tea.Cmd {
	return a.io(func(ctx context.Context) tea.Msg {
		var name, where string
		var err error
		if apart {
			var pid int
			name, pid, err = a.cfg.Workers.SpawnProcess(ctx, queues, slots)
			where = fmt.Sprintf(", process %d", pid)
		} else {
			name, err = a.cfg.Workers.Spawn(queues, slots)
		}
		return orderedMsg{fmt.Sprintf("spawned %s on %s (%s%s)", name, strings.Join(queues, ", "), plural(slots, "slot"), where), err}
	})
}

func (a *app) drain(w workers.Snapshot) tea.Cmd {
	done := "draining " + w.Name
	if w.Pid != 0 {
		done += fmt.Sprintf(": SIGTERM to process %d", w.Pid)
	}
	return a.order(done, func() error { return a.cfg.Workers.Drain(w.Name) })
}

func (a *app) ordered(m orderedMsg) {
	if m.err != nil {
		a.say(danger, m.err.Error())
		return
	}
	a.say(okay, m.done)
}

func newKill(a *app, w workers.Snapshot) *confirm {
	c := &confirm{
		title: "KILL WORKER " + w.Name, grave: true,
		subject: a.jobsOf(w),
		says: "It is abandoned at once and nothing is cleaned up, as when a process dies: no statement from it any more. " +
			"Its leases run out, then the reaper gives its jobs back.",
		yes: "kill " + w.Name, no: "leave it",
		do: func() tea.Cmd {
			return a.order("killed "+w.Name+": its leases run out now", func() error { return a.cfg.Workers.Kill(w.Name) })
		},
	}
	if w.Pid != 0 {
		c.title = "KILL -9 WORKER " + w.Name
		c.says = fmt.Sprintf("Process %d is its own, and gone at once: kill -9, and nothing of it is left to clean up. "+
			"Its leases run out, then the reaper of another process gives its jobs back.", w.Pid)
		c.yes = fmt.Sprintf("SIGKILL to process %d", w.Pid)
	}
	return c
}

func newFreeze(a *app, w workers.Snapshot) *confirm {
	c := &confirm{
		title: "FREEZE WORKER " + w.Name, grave: true,
		subject: a.jobsOf(w),
		says: "It becomes a zombie: its handlers go on, its heartbeats stop. A second after its leases ran out " +
			"it thaws by itself, tries to finish what it ran, and is fenced: its token is no longer the job's.",
		yes: "freeze " + w.Name, no: "leave it",
		do: func() tea.Cmd {
			return a.order("froze "+w.Name+": its heartbeats have stopped", func() error { return a.cfg.Workers.Freeze(w.Name) })
		},
	}
	if w.Pid != 0 {
		c.says = fmt.Sprintf("Process %d is its own, and stands still with its jobs in hand, handlers too. A second after its leases "+
			"ran out it gets SIGCONT and finds that it is late: its handlers are stopped, what it still writes is refused.", w.Pid)
		c.yes = fmt.Sprintf("SIGSTOP to process %d", w.Pid)
	}
	return c
}

// jobsOf names what a worker runs, for a question about it. The worker is fixed,
// but it goes on working while the question stands.
func (a *app) jobsOf(was workers.Snapshot) func() []string {
	return func() []string {
		for _, w := range a.pic.workers {
			if w.Name == was.Name {
				return jobLines(a.pic.theme, w)
			}
		}
		return []string{a.pic.theme.warn.draw(safe.Text(was.Name) + " is gone")}
	}
}

func jobLines(t *theme, w workers.Snapshot) []string {
	if len(w.Running) == 0 {
		return []string{t.strong.draw(safe.Text(w.Name)) + t.dim.draw(" runs nothing just now")}
	}
	lines := []string{t.strong.draw(safe.Text(w.Name)) + t.dim.draw(" runs "+plural(len(w.Running), "job"))}
	for _, r := range w.Running {
		lines = append(lines, "  "+t.strong.draw(strconv.FormatInt(r.JobID, 10))+"  "+t.accent.draw(safe.Text(kindOf(r.Queue, r.Kind)))+
			t.dim.draw("  attempt "+strconv.Itoa(r.Attempt)))
	}
	return lines
}

// demoKeys are the demonstration's own, on every tab.
func (a *app) demoKeys() []action {
	why := ""
	if a.cfg.Demo == nil {
		why = "only in the demonstration (make run)"
	}
	burst := key("b", "burst", "enqueue a burst of jobs", func() tea.Cmd {
		return a.io(func(ctx context.Context) tea.Msg {
			n, err := a.cfg.Demo.Burst(ctx)
			a.cfg.Feed.Refresh()
			return orderedMsg{"enqueued a burst of " + plural(n, "job"), err}
		})
	})
	poison := key("x", "poison", "enqueue a job that can only become a dead letter", func() tea.Cmd {
		return a.io(func(ctx context.Context) tea.Msg {
			id, err := a.cfg.Demo.Poison(ctx)
			a.cfg.Feed.Refresh()
			return orderedMsg{fmt.Sprintf("enqueued poison: job %d", id), err}
		})
	})
	return []action{burst.alone().never(why), poison.alone().never(why)}
}
