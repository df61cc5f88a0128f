package ui

import (
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/safe"
)

// queuesPane shows every queue's depth by status, its age and its rates.
type queuesPane struct {
	pic     *picture
	list    selection[string]
	lit     bool
	trouble time.Time // local clock: when something failed last
}

// Show takes a new picture.
func (q *queuesPane) Show(p *picture) {
	q.pic = p
	q.list.SetKeys(p.totals.names)
	if r := p.whole.Rate; r.Failed > 0 || r.Reclaimed > 0 {
		q.trouble = p.local
	}
}

// Move moves the cursor.
func (q *queuesPane) Move(m motion) { q.list.Move(m) }

// Focus gives or takes the focus.
func (q *queuesPane) Focus(on bool) { q.lit = on }

// Queue returns the queue under the cursor.
func (q *queuesPane) Queue() (watch.QueueDepth, bool) {
	if q.list.at < len(q.pic.state.Depths.Queues) {
		return q.pic.state.Depths.Queues[q.list.at], true
	}
	return watch.QueueDepth{}, false
}

// Heading says how many queues there are and, when the stream does not keep them, how
// the counts were learned.
func (q *queuesPane) Heading() heading {
	h := heading{name: "QUEUES"}
	d := q.pic.state.Depths
	if d.Source == watch.Unknown {
		return h
	}
	h.rest = thousands(int64(len(d.Queues)))
	h = q.pic.provenance(h, d.Source, d.Read)
	if every := q.pic.state.Every; h.note == "polled" && every > 0 {
		h.note += ", up to " + apart(every) + " apart"
	}
	return h
}

// troubleFor is how long the columns of what fails stay after the last failure: a table
// whose columns come and go is hard to read.
const troubleFor = time.Minute

// columns are those of the table, as wide as the largest figures want to be.
func (q *queuesPane) columns(w int) []column {
	c := &q.pic.totals
	// counts is a column as wide as the largest of them, which is the sum. Only exact ones
	// lose by being rounded.
	counts := func(one column, sum int64, marked bool) column {
		wide := len(thousands(sum)) + pick(marked, 1, 0)
		one.max, one.need, one.right = max(one.max, wide), pick(marked, 0, wide), true
		return one
	}
	wide := c.wide
	if len(q.pic.state.Pauses.List) > 0 {
		wide += safe.Width(pausedMark)
	}
	calm := q.trouble.IsZero() || q.pic.local.Sub(q.trouble) > troubleFor
	return []column{
		// A sparkline is worth less than to know the queues apart.
		{title: "QUEUE", min: max(min(wide, 13), 8), max: max(min(wide, w/4, widestName), 8)},
		counts(column{title: "READY", min: 5}, c.sum.Ready, c.sum.AtLeast.Ready),
		counts(column{title: "SCHED", min: 5, rank: 3}, c.sum.Scheduled, c.sum.AtLeast.Scheduled),
		counts(column{title: "PROC", min: pick(c.sum.AtLeast.Processing, 5, 4)}, c.sum.Processing, c.sum.AtLeast.Processing),
		counts(column{title: "DONE", min: 6, rank: 7}, c.sum.Completed, !c.sum.CompletedExact),
		counts(column{title: "FAILED", min: 6, rank: 2}, c.sum.Failed, c.sum.AtLeast.Failed),
		counts(column{title: "DEAD", min: pick(c.sum.AtLeast.Dead, 5, 4), max: 5}, c.sum.Dead, c.sum.AtLeast.Dead),
		{title: "OLDEST", min: 6, right: true, rank: 1},
		{title: "IN/s", min: pick(c.unrated > 0, 5, 4), max: 5, right: true, rank: 4},
		{title: "OUT/s", min: 5, right: true, rank: 4},
		{title: "FAIL/s", min: 6, right: true, rank: 8, out: calm},
		{title: "RECL/s", min: 6, right: true, rank: 9, out: calm},
		{title: "60s", min: 5, max: 60, rank: 5, grows: true},
	}
}

// View draws the pane's inside.
func (q *queuesPane) View(w, h int) []string {
	t, d := q.pic.theme, q.pic.state.Depths
	if d.Source == watch.Unknown {
		return []string{"", t.dim.draw(" counting…")}
	}
	if len(d.Queues) == 0 {
		return []string{"", t.dim.draw(" no jobs yet · leasetop enqueue --queue emails")}
	}
	g := arrange(q.columns(w), w-2)
	notes := q.notes(w, h)
	notes = notes[:min(len(notes), max(h/2, 1))]
	total := len(d.Queues) > 1
	room := h - 1 - len(notes)
	if total {
		room--
	}
	room = max(room, 1)
	lines := []string{" " + g.header(t.dim)}
	_, stale := q.pic.stale(d.Read)
	add := func(line string) {
		if stale {
			line = t.dim.fade(line)
		}
		lines = append(lines, line)
	}
	from, to := q.list.Window(min(room, len(d.Queues)))
	for i := from; i < to; i++ {
		ink := t.text
		if _, paused := q.pic.state.Pauses.Of(d.Queues[i].Queue); paused {
			ink = t.warn
		}
		row := g.row(q.cells(d.Queues[i], false, ink))
		add(t.lineOf(row, w, q.lit && i == q.list.at, false))
	}
	if total && len(lines) < h {
		row := g.row(q.cells(q.pic.whole, q.pic.partial, t.dim))
		add(t.lineOf(row, w, false, false))
	}
	lines = append(lines, notes...)
	for _, line := range q.chart(w, h-len(lines)) {
		add(line)
	}
	return lines
}

// cells are one queue's columns. Noughts are dim, so that what is there stands out. Rates
// that are not known are no noughts; those of a sum of which some are not known are partial.
func (q *queuesPane) cells(d watch.QueueDepth, partial bool, name ink) []cell {
	t := q.pic.theme
	number := func(n int64, write func(int64, bool, int) string, marked bool, some ink) cell {
		k := some
		if n == 0 {
			k = t.faint
		}
		return cell{paint: func(w int) string { return k.draw(safe.FitRight(write(n, marked, w), w)) }}
	}
	perSecond := func(f float64, some ink) cell {
		switch {
		case d.Rates == watch.Unknown:
			return cell{text: "–", ink: t.faint}
		case f < 0.05:
			some = t.faint
		}
		return cell{text: rate(f) + pick(partial, "+", ""), ink: some}
	}
	oldest := cell{text: "–", ink: t.faint}
	if d.Ready > 0 {
		oldest = cell{text: age(d.OldestReady), ink: t.text}
	}
	return []cell{
		{text: q.name(d), ink: name},
		number(d.Ready, bounded, d.AtLeast.Ready, t.strong),
		number(d.Scheduled, bounded, d.AtLeast.Scheduled, t.text),
		number(d.Processing, bounded, d.AtLeast.Processing, t.accent),
		number(d.Completed, count, !d.CompletedExact, t.dim),
		number(d.Failed, bounded, d.AtLeast.Failed, t.bad),
		number(d.Dead, bounded, d.AtLeast.Dead, t.bad),
		oldest,
		perSecond(d.Rate.In, t.text),
		perSecond(d.Rate.Out, t.text),
		perSecond(d.Rate.Failed, t.warn),
		perSecond(d.Rate.Reclaimed, t.bad),
		{paint: func(w int) string { return spark(d.Spark, w, t.accent, t.faint) }},
	}
}

// name is a queue's name, marked when the queue is paused.
func (q *queuesPane) name(d watch.QueueDepth) string {
	if _, paused := q.pic.state.Pauses.Of(d.Queue); paused {
		return pausedMark + d.Queue
	}
	return d.Queue
}

// notes stand below the table: what is paused, what is wrong, and what goes on in all.
func (q *queuesPane) notes(w, h int) []string {
	t, in := q.pic.theme, q.pic.state
	var notes []string
	add := func(known time.Time, lines ...string) {
		_, stale := q.pic.stale(known)
		for _, line := range lines {
			if stale {
				line = t.dim.fade(line)
			}
			notes = append(notes, line)
		}
	}
	add(in.Pauses.Read, q.pauses(w)...)
	add(in.Depths.Read, q.warnings(w)...)
	add(in.Depths.Read, q.pic.traffic(w, pick(h >= roomyHeight, 2, 1))...)
	return notes
}

// roomyHeight is from where on the traffic may take two lines.
const roomyHeight = 12

// warnings say what is wrong with a queue, as far as it is known.
func (q *queuesPane) warnings(w int) []string {
	t := q.pic.theme
	var lines []string
	add := func(k ink, text string) { lines = append(lines, " "+k.draw(safe.Fit("! "+text, w-2))) }

	if d := q.pic.state.Depths; d.Note != "" {
		add(t.dim, "counts stop at "+thousands(int64(d.Cap))+": "+d.Note)
	}
	missing := q.pic.unserved
	for i, one := range missing.first {
		if i > 0 && missing.count > len(missing.first) {
			add(t.warn, "and "+plural(missing.count-i, "more queue")+" without a worker")
			break
		}
		add(t.warn, fmt.Sprintf("%s: %s ready, no live worker takes it", one.Queue, bounded(one.Ready, one.AtLeast.Ready, 7)))
	}
	failing := q.pic.totals.failing
	for i, one := range failing {
		if i == failingNamed {
			add(t.warn, "and "+plural(len(failing)-i, "more queue")+" that fail")
			break
		}
		add(t.warn, one.words())
	}
	return lines
}

// failingNamed is how many failing queues are named.
const failingNamed = 1
