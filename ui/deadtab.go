package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
)

// How the list of dead letters is read: a page at a time, by keyset, never
// with payloads; again when the dead channel spoke, but not oftener than every
// quarter of a second; and never more rows than a person can scroll through.
const (
	deadPage    = 200
	deadMost    = 2000
	deadBetween = 250 * time.Millisecond
	afterError  = 2 * time.Second // when the database did not answer
)

// deadTab is the list of dead letters, newest death first.
type deadTab struct {
	pic  *picture
	jobs []queue.Job
	next *queue.Cursor // nil: all are loaded
	list selection[int64]

	read    bool // a page has arrived
	loading bool
	signal  uint64    // of the dead channel, when the list was last asked for
	stale   bool      // something is known to have changed
	asked   time.Time // local clock of the last question
	wakes   time.Time // when the next may be put, if it has to wait
	err     error

	end bool // the cursor is to go to the end of all there is, which is not loaded yet
}

// Show takes a new picture.
func (d *deadTab) Show(p *picture) { d.pic = p }

// Stale has the list read again.
func (d *deadTab) Stale() { d.stale = true }

// Move moves the cursor. The end is the end of all dead letters: what is not
// loaded yet is fetched, as far as the list goes.
func (d *deadTab) Move(m motion) {
	d.list.Move(m)
	d.end = m == toBottom && d.next != nil && len(d.jobs) < deadMost
}

// Cycle does nothing: the list is alone.
func (d *deadTab) Cycle(int) {}

// deadMsg is an answer: the list from its head, or the page after a cursor.
type deadMsg struct {
	after  *queue.Cursor
	signal uint64
	jobs   []queue.Job
	next   *queue.Cursor
	err    error
}

// Load returns the command that reads what the list lacks; nil when it lacks
// nothing or a question is on its way.
func (d *deadTab) Load(a *app) tea.Cmd {
	if d.loading {
		return nil
	}
	var after *queue.Cursor
	limit := deadPage
	switch {
	case !d.read || d.stale || d.signal != d.pic.state.Dead.Signal: // the dead channel spoke
		limit = min(max(deadPage, len(d.jobs)), deadMost)
	case d.next != nil && len(d.jobs) < deadMost && d.list.at+d.list.height+deadPage/4 > len(d.jobs):
		after = d.next
		if d.end {
			limit = deadMost - len(d.jobs)
		}
	default:
		return nil
	}
	now, signal := a.now(), d.pic.state.Dead.Signal
	between := pick(d.err == nil, deadBetween, afterError)
	if early := between - now.Sub(d.asked); after == nil && early > 0 {
		if now.Before(d.wakes) {
			return nil
		}
		d.wakes = now.Add(early)
		return a.after(early, wakeMsg{})
	}
	d.loading, d.stale, d.signal, d.asked = true, false, signal, now
	return a.io(func(ctx context.Context) tea.Msg {
		jobs, next, err := a.cfg.Jobs.List(ctx, queue.Filter{Statuses: queue.DeadLetters}, queue.Page{Limit: limit, After: after})
		return deadMsg{after, signal, jobs, next, err}
	})
}

// Took takes an answer.
func (d *deadTab) Took(m deadMsg) {
	d.loading, d.err = false, m.err
	if m.err != nil {
		// What was read before stays on the screen; the next tick asks again.
		d.stale = true
		return
	}
	d.read, d.next = true, m.next
	if m.after == nil {
		d.jobs = m.jobs
	} else {
		d.jobs = append(slices.Clip(d.jobs), m.jobs...)
	}
	d.list.SetKeys(ids(d.jobs))
	if d.end && m.after != nil {
		d.Move(toBottom)
	}
	if d.next == nil {
		// Everything there is was read: marks on jobs that are gone name nothing.
		for id := range d.list.marks {
			if !slices.Contains(d.list.keys, id) {
				delete(d.list.marks, id)
			}
		}
	}
}

// Job returns the dead letter under the cursor.
func (d *deadTab) Job() (queue.Job, bool) {
	if d.list.at < len(d.jobs) {
		return d.jobs[d.list.at], true
	}
	return queue.Job{}, false
}

// chosen are the marked jobs, or the one under the cursor.
func (d *deadTab) chosen() []subject {
	chosen := d.list.Chosen()
	out := make([]subject, len(chosen))
	at := map[int64]int{}
	for i, id := range chosen {
		out[i].id = id
		at[id] = i
	}
	for i := range d.jobs {
		if k, ok := at[d.jobs[i].ID]; ok {
			out[k] = subjects(d.jobs[i])[0]
		}
	}
	return out
}

// Keys are what the list's keys do.
func (d *deadTab) Keys(a *app) []action {
	job, ok := d.Job()
	n := len(d.list.marks)
	none := pick(ok, "", "there are no dead letters")
	redrive := redriveKey(a, d.chosen, ok || n > 0)
	if n > 0 {
		redrive.label = fmt.Sprintf("redrive %d marked", n)
	}
	keys := []action{
		openKey(a, job.ID, ok),
		redrive,
		key("space", "mark", "mark the job under the cursor, or take its mark away, and move down a row", func() tea.Cmd {
			d.list.ToggleMark()
			return nil
		}).unless(none),
	}
	if n > 0 {
		keys = append(keys, key("esc", "clear marks", "take all marks away", func() tea.Cmd {
			d.list.ClearMarks()
			return nil
		}))
	}
	return keys
}

// Heading says how many there are and how far the list goes.
func (d *deadTab) Heading() heading {
	in := d.pic.state.Dead
	h := heading{name: "DEAD LETTERS", rest: bounded(in.Total, in.Capped, 12), note: "newest first"}
	if n := len(d.list.marks); n > 0 {
		h.rest += " · " + thousands(int64(n)) + " marked"
	}
	switch {
	case d.err != nil:
		h.note = "not read: " + d.err.Error()
	case !d.read:
		h.note = "reading…"
	case d.end:
		h.note = "reading up to the end…"
	default:
		h.note = d.beyond()
	}
	return h
}

// beyond says how many there are above and below the window; where the list ends
// before the dead letters do, that the rest is not loaded.
func (d *deadTab) beyond() string {
	in, loaded := d.pic.state.Dead, int64(len(d.jobs))
	to := min(int64(d.list.top+d.list.height), loaded)
	below, capped := loaded-to, false
	if d.next != nil {
		below, capped = max(in.Total-to, below+1), in.Capped
	}
	words := []string{"newest first"}
	if d.list.top > 0 {
		words[0] = thousands(int64(d.list.top)) + " above"
	}
	if below > 0 {
		words = append(words, bounded(below, capped, 12)+pick(to < loaded, " below", " older not loaded"))
	}
	return strings.Join(words, ", ")
}

// View draws the tab.
func (d *deadTab) View(w, h int) []string {
	t := d.pic.theme
	if w < wideWidth {
		lines := d.rows(w, h-1)
		return t.ruled(d.Heading(), lines, w, h, true)
	}
	lines := d.rows(w-2, h-2)
	return t.boxed(d.Heading(), lines, w, h, true)
}

func (d *deadTab) rows(w, h int) []string {
	t := d.pic.theme
	switch {
	case !d.read && d.err != nil:
		lines := []string{"", " " + t.bad.draw("✗") + t.text.draw(" not read:")}
		for _, line := range wrap(d.err.Error(), w-3) {
			lines = append(lines, "   "+line)
		}
		return append(lines, "", t.dim.draw("   asked again every "+age(afterError)))
	case !d.read:
		return []string{"", t.dim.draw(" reading…")}
	case len(d.jobs) == 0:
		return []string{"", " " + t.good.draw("✓") + t.dim.draw(" no dead letters: every job either completed or still has attempts left")}
	}
	from, to := d.list.Window(max(h-1, 1))
	g := deadGrid(d.jobs[from:to], w-3) // beside the cursor and the marks
	lines := []string{"  " + g.header(t.dim)}
	for i := from; i < to; i++ {
		row := g.row(deadCells(t, &d.jobs[i], g.columns[2].max, d.pic.now))
		lines = append(lines, t.lineOf(" "+row, w, i == d.list.at, d.list.Marked(d.jobs[i].ID)))
	}
	return lines
}
