package ui

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers"
)

// spawnForm asks which queues a new worker takes, in which order, and how many
// jobs at a time.
type spawnForm struct {
	known []string // every queue there is, by name
	takes []string // chosen, in order of preference
	slots int
	apart bool // in a process of its own
	at    int  // the row of known under the cursor
	top   int
	ready bool // the cursor is on the button
}

const mostSlots = 64

// newSpawn starts from the worker under the cursor.
func newSpawn(a *app, like workers.Snapshot) *spawnForm {
	f := &spawnForm{takes: slices.Clone(like.Queues), slots: max(like.Slots, 1), apart: like.Pid != 0}
	f.known = append(f.known, a.cfg.Serves...)
	if len(a.cfg.Serves) == 0 {
		for _, q := range a.pic.state.Depths.Queues {
			f.known = append(f.known, q.Queue)
		}
	}
	for _, w := range a.pic.workers {
		f.known = append(f.known, w.Queues...)
	}
	slices.Sort(f.known)
	f.known = slices.Compact(f.known)
	if len(f.takes) == 0 {
		f.takes = slices.Clone(f.known)
	}
	return f
}

// Heading is the dialog's title.
func (f *spawnForm) Heading() heading { return heading{name: "SPAWN A WORKER"} }

// Grave is not set: a worker can be drained again.
func (f *spawnForm) Grave() bool { return false }

// Move moves between the queues.
func (f *spawnForm) Move(m motion) {
	f.ready = false
	by := map[motion]int{up: -1, down: 1, halfUp: -5, halfDown: 5, toTop: -len(f.known), toBottom: len(f.known)}[m]
	f.at = max(min(f.at+by, len(f.known)-1), 0)
}

func (f *spawnForm) toggle() {
	if f.at >= len(f.known) {
		return
	}
	name := f.known[f.at]
	if i := slices.Index(f.takes, name); i >= 0 {
		f.takes = slices.Delete(f.takes, i, i+1)
	} else {
		f.takes = append(f.takes, name)
	}
}

// Keys choose and spawn.
func (f *spawnForm) Keys(a *app) []action {
	return []action{
		f.enterKey(a),
		key("tab shift+tab", "", "", func() tea.Cmd { f.ready = !f.ready; return nil }),
		key("space", "choose", "", func() tea.Cmd { f.toggle(); return nil }),
		key("+ = right l", "", "", func() tea.Cmd { f.slots = min(f.slots+1, mostSlots); return nil }),
		key("p", "process", "", func() tea.Cmd { f.apart = !f.apart; return nil }),
		key("- left h", "", "", func() tea.Cmd { f.slots = max(f.slots-1, 1); return nil }),
	}
}

// enterKey goes to the button, and spawns there.
func (f *spawnForm) enterKey(a *app) action {
	if !f.ready {
		return key("enter", "next", "", func() tea.Cmd { f.ready = true; return nil })
	}
	return key("y enter", "spawn", "", func() tea.Cmd {
		a.dialogs.Pop()
		return a.spawn(f.takes, f.slots, f.apart)
	}).unless(pick(len(f.takes) > 0, "", "a worker needs a queue: choose one with space")).alone()
}

// Lines draws the form.
func (f *spawnForm) Lines(t *theme, w, h int, armed bool) []string {
	room := max(h-7, 1)
	f.top = max(min(f.top, f.at), f.at-room+1)
	lines := []string{t.dim.draw(safe.Fit("queues, in the order they are taken", w))}
	if len(f.known) == 0 {
		lines = append(lines, t.warn.draw("no queue is known yet"))
	}
	for i := f.top; i < min(f.top+room, len(f.known)); i++ {
		mark, k := t.faint.draw("[ ]"), t.dim
		if n := slices.Index(f.takes, f.known[i]); n >= 0 {
			mark, k = t.accent.draw("["+strconv.Itoa((n+1)%10)+"]"), t.text
		}
		lines = append(lines, t.lineOf(mark+" "+k.draw(safe.Text(f.known[i])), w, i == f.at && !f.ready, false))
	}
	lines = append(lines, "",
		safe.FitStyled(" "+t.dim.draw("slots")+" "+t.accent.draw("-")+" "+t.strong.draw(strconv.Itoa(f.slots))+" "+t.accent.draw("+")+
			"  "+t.faint.draw(strings.Repeat("▯", min(f.slots, 24))), w),
		safe.FitStyled(" "+t.dim.draw("runs ")+" "+t.accent.draw("p")+" "+f.where(t), w),
		"",
		safe.FitStyled(buttonRow(t, okay, armed, len(f.takes) > 0, f.ready, "spawn", "not now", t.chip(quiet, "space  choose")), w))
	return lines[max(len(lines)-max(h, 0), 0):]
}

// where draws in which process it will run.
func (f *spawnForm) where(t *theme) string {
	here, own := "(•) in this process", "( ) in one of its own"
	if f.apart {
		here, own = "( ) in this process", "(•) in one of its own"
		return t.dim.draw(here) + "  " + t.text.draw(own)
	}
	return t.text.draw(here) + "  " + t.dim.draw(own)
}
