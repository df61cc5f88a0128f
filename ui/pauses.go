package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/safe"
)

// pausedMark stands before the name of a paused queue; a line below the table says
// since when, by whom, and what goes on all the same.
const pausedMark = "‖"

// heedAfter is how long after a pause a claim may be dated that did not know of it:
// its transaction had begun before.
const heedAfter = 2 * time.Second

// pauseLines is how many paused queues are told of one by one.
const pauseLines = 2

// pauses says which queues are paused, the one under the cursor first.
func (q *queuesPane) pauses(w int) []string {
	t, all := q.pic.theme, q.pic.state.Pauses
	if all.Reason != "" {
		return []string{" " + t.warn.draw(safe.Fit("! which queues are paused is not known: "+all.Reason, w-2))}
	}
	list := slices.Clone(all.List)
	if here, ok := q.list.Key(); ok {
		slices.SortStableFunc(list, func(a, b queue.Pause) int {
			return pick(a.Queue == here, 0, 1) - pick(b.Queue == here, 0, 1)
		})
	}
	rest := ""
	if len(list) > pauseLines {
		var names []string
		for _, p := range list[pauseLines-1:] {
			names = append(names, p.Queue)
		}
		rest = pausedMark + " and " + thousands(int64(len(names))) + " more paused: " + strings.Join(names[:min(len(names), 8)], ", ")
		list = list[:pauseLines-1]
	}
	var lines []string
	for _, p := range list {
		lines = append(lines, " "+fitLine(q.pause(p), w-2))
	}
	if rest != "" {
		lines = append(lines, " "+t.warn.draw(safe.Fit(rest, w-2)))
	}
	return lines
}

// pause tells of one paused queue: what is wrong first, what was said about it last.
func (q *queuesPane) pause(p queue.Pause) string {
	t := q.pic.theme
	line := t.warn.draw(pausedMark+" "+brief(p.Queue, 24)) + t.text.draw(" paused "+age(q.pic.now.Sub(p.Since))+" by "+brief(p.By, 24))
	if old, stale := q.pic.stale(q.pic.state.Pauses.Read); stale {
		line += t.dim.draw(" · as of " + age(old) + " ago")
	}
	running, heedless := q.pic.busyWith(p)
	switch n := q.pic.processing(p.Queue); {
	case len(heedless) > 0:
		line += t.dim.draw(" · ") + t.alarm.draw("! still claiming: "+names(heedless))
	case n > 0 && len(running) > 0:
		line += t.dim.draw(" · ") + t.text.draw(thousands(n)+" still running: "+names(running))
	}
	if p.Why != "" {
		line += t.dim.draw(" · " + brief(p.Why, 200))
	}
	return line
}

// names lists who they are, each made harmless.
func names(who []string) string {
	var out []string
	for _, one := range who[:min(len(who), 8)] {
		out = append(out, brief(one, 24))
	}
	return strings.Join(out, ", ")
}

// brief is a text made harmless and cut to w cells, without padding.
func brief(text string, w int) string { return strings.TrimRight(safe.Fit(text, w), " ") }

// busyWith names who runs jobs of a paused queue, each once, and those of them that
// claimed after it was paused: workers that are not leasetop's, or of a release that
// knows no pauses.
func (p *picture) busyWith(pause queue.Pause) (running, heedless []string) {
	add := func(to []string, name string) []string {
		if slices.Contains(to, name) {
			return to
		}
		return append(to, name)
	}
	for _, l := range p.state.Leases.List {
		if l.Queue != pause.Queue {
			continue
		}
		name := p.holder(l.Owner).name
		running = add(running, name)
		if l.LockedAt.After(pause.Since.Add(heedAfter)) {
			heedless = add(heedless, name)
		}
	}
	return running, heedless
}

// processing is how many jobs of a queue run.
func (p *picture) processing(name string) int64 {
	for _, d := range p.state.Depths.Queues {
		if d.Queue == name {
			return d.Processing
		}
	}
	return 0
}

// pauseKey asks whether to pause the queue, or to resume it. Which of the two it is,
// and the queue, are fixed when the question appears.
func pauseKey(a *app, d watch.QueueDepth, ok bool) action {
	pause, paused := a.pic.state.Pauses.Of(d.Queue)
	one := key("P", "pause", "pause the queue under the cursor: workers claim nothing from it, what runs goes on", func() tea.Cmd {
		a.ask(newPause(a, d))
		return nil
	})
	if paused {
		one = key("P", "resume", "resume the queue under the cursor: workers claim from it again", func() tea.Cmd {
			a.ask(newResume(a, d, pause))
			return nil
		})
	}
	unknown := ""
	if a.pic.state.Pauses.Reason != "" {
		unknown = "which queues are paused is not known: " + a.pic.state.Pauses.Reason
	}
	return one.unless(pick(ok, "", "no queue under the cursor")).unless(a.readOnly()).unless(unknown)
}

// pauseElsewhere says where a queue is paused: a key that pauses on one page does nothing
// else on another.
func (a *app) pauseElsewhere() action {
	return key("P", "", "pause the queue under the cursor of the overview, or resume it", nil).
		unless("a queue is paused in QUEUES, on the overview (1)")
}

func newPause(a *app, d watch.QueueDepth) *confirm {
	name := brief(d.Queue, 24)
	return &confirm{
		title:   "PAUSE QUEUE " + d.Queue,
		subject: a.queueNow(d.Queue),
		says: "No leasetop worker claims from it, in any process and through restarts, until somebody resumes it. " +
			"What runs goes on; jobs can still be enqueued.",
		yes: "pause " + name, no: "leave it",
		do: func() tea.Cmd {
			return a.setPause(d.Queue, true, func(ctx context.Context) ([]string, error) {
				return a.cfg.Jobs.Pause(ctx, a.cfg.By, "", d.Queue)
			})
		},
	}
}

func newResume(a *app, d watch.QueueDepth, pause queue.Pause) *confirm {
	name := brief(d.Queue, 24)
	says := "Workers claim from it again at once."
	if pause.Why != "" {
		says = "It was paused with the words: " + pause.Why + "\n" + says
	}
	return &confirm{
		title:   "RESUME QUEUE " + d.Queue,
		subject: a.queueNow(d.Queue),
		says:    says,
		yes:     "resume " + name, no: "leave it paused",
		do: func() tea.Cmd {
			return a.setPause(d.Queue, false, func(ctx context.Context) ([]string, error) {
				return a.cfg.Jobs.Resume(ctx, d.Queue)
			})
		},
	}
}

// queueNow describes a queue for a question about it, as it goes on meanwhile.
func (a *app) queueNow(name string) func() []string {
	return func() []string {
		t := a.pic.theme
		line := t.strong.draw(brief(name, 40))
		for _, d := range a.pic.state.Depths.Queues {
			if d.Queue != name {
				continue
			}
			line += t.dim.draw("  " + bounded(d.Ready, d.AtLeast.Ready, 12) + " ready · " +
				bounded(d.Scheduled, d.AtLeast.Scheduled, 12) + " scheduled · " + bounded(d.Processing, d.AtLeast.Processing, 12) + " running")
		}
		lines := []string{line}
		if p, ok := a.pic.state.Pauses.Of(name); ok {
			lines = append(lines, t.warn.draw(pausedMark+" paused "+age(a.pic.now.Sub(p.Since))+" by "+brief(p.By, 40)))
		}
		return lines
	}
}

// pausedMsg is what came of a pause or a resume.
type pausedMsg struct {
	queue string
	pause bool
	done  bool // false: it was so already
	err   error
}

func (a *app) setPause(name string, pause bool, set func(context.Context) ([]string, error)) tea.Cmd {
	return a.io(func(ctx context.Context) tea.Msg {
		var changed []string
		act := queue.Act{By: a.cfg.By, What: pick(pause, "pause", "resume"), Filter: name, Asked: 1}
		err := a.cfg.Jobs.Logged(ctx, act, func(ctx context.Context) (done, skipped int, err error) {
			changed, err = set(ctx)
			return len(changed), pick(err == nil, 1-len(changed), 0), err
		})
		a.cfg.Feed.Refresh()
		return pausedMsg{name, pause, len(changed) > 0, err}
	})
}

func (a *app) pauseDone(m pausedMsg) {
	name := brief(m.queue, 24)
	switch {
	case m.err != nil:
		a.say(danger, m.err.Error())
	case m.pause && m.done:
		a.say(okay, fmt.Sprintf("paused %s: what runs goes on", name))
	case m.pause:
		a.say(caution, name+" had been paused already: that pause stands")
	case m.done:
		a.say(okay, fmt.Sprintf("resumed %s: workers claim from it again", name))
	default:
		a.say(caution, name+" had been resumed already")
	}
}
