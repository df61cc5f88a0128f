package ui

import (
	"fmt"
	"strings"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/safe"
)

// queuesPane shows every queue's depth by status, its age and its rates.
type queuesPane struct {
	pic  *picture
	list selection[string]
	lit  bool
}

// Show takes a new picture.
func (q *queuesPane) Show(p *picture) {
	q.pic = p
	keys := make([]string, len(p.state.Depths.Queues))
	for i, d := range p.state.Depths.Queues {
		keys[i] = d.Queue
	}
	q.list.SetKeys(keys)
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

// Heading says how many queues there are and how the counts were learned.
func (q *queuesPane) Heading() heading {
	h := heading{name: "QUEUES"}
	d := q.pic.state.Depths
	if d.Source == watch.Unknown {
		return h
	}
	h.rest = thousands(int64(len(d.Queues)))
	if old, stale := q.pic.stale(d.Read); stale {
		h.note = "figures " + age(old) + " old"
	}
	return h
}

var queueColumns = []column{
	{title: "QUEUE", min: 8, max: 8},
	{title: "READY", min: 5, max: 7, right: true},
	{title: "SCHED", min: 5, max: 6, right: true, rank: 3},
	{title: "PROC", min: 4, max: 5, right: true},
	{title: "DONE", min: 6, max: 9, right: true, rank: 6},
	{title: "FAILED", min: 6, right: true, rank: 2},
	{title: "DEAD", min: 5, max: 7, right: true},
	{title: "OLDEST", min: 6, right: true, rank: 1},
	{title: "IN/s", min: 4, max: 5, right: true, rank: 4},
	{title: "OUT/s", min: 5, right: true, rank: 4},
	{title: "60s", min: 5, max: 60, rank: 5, grows: true},
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
	columns := append([]column(nil), queueColumns...)
	columns[0].max = widest(8, min(24, w/4), func(yield func(string) bool) {
		for _, one := range d.Queues {
			if !yield(q.name(one)) {
				return
			}
		}
	})
	g := arrange(columns, w-2)
	notes := q.notes(w)
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
		row := g.row(q.cells(d.Queues[i], ink))
		add(t.lineOf(row, w, q.lit && i == q.list.at, false))
	}
	if total && len(lines) < h {
		row := g.row(q.cells(sumOf(d.Queues), t.dim))
		add(t.lineOf(row, w, false, false))
	}
	lines = append(lines, notes...)
	for _, line := range q.chart(w, h-len(lines)) {
		add(line)
	}
	return lines
}

// cells are one queue's columns. Noughts are dim, so that what is there stands out.
func (q *queuesPane) cells(d watch.QueueDepth, name ink) []cell {
	t := q.pic.theme
	number := func(n int64, write func(int64, bool, int) string, marked bool, some ink) cell {
		k := some
		if n == 0 {
			k = t.faint
		}
		return cell{paint: func(w int) string { return k.draw(safe.FitRight(write(n, marked, w), w)) }}
	}
	perSecond := func(f float64) cell {
		k := t.text
		if f < 0.05 {
			k = t.faint
		}
		return cell{text: rate(f), ink: k}
	}
	oldest := cell{text: "–", ink: t.faint}
	if d.Ready > 0 {
		oldest = cell{text: age(d.OldestReady), ink: t.text}
	}
	return []cell{
		{text: q.name(d), ink: name},
		number(d.Ready, bounded, d.AtLeast.Ready, t.strong),
		number(d.Scheduled, bounded, d.AtLeast.Scheduled, t.text),
		number(d.Processing, count, false, t.accent),
		number(d.Completed, count, !d.CompletedExact, t.dim),
		number(d.Failed, bounded, d.AtLeast.Failed, t.bad),
		number(d.Dead, bounded, d.AtLeast.Dead, t.bad),
		oldest,
		perSecond(d.Rate.In),
		perSecond(d.Rate.Out),
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

// notes stand below the table: what is paused, and what is wrong.
func (q *queuesPane) notes(w int) []string { return append(q.pauses(w), q.warnings(w)...) }

// warnings say what is wrong with a queue, as far as it is known.
func (q *queuesPane) warnings(w int) []string {
	var lines []string
	for _, one := range q.pic.unserved() {
		text := fmt.Sprintf("%s: %s ready, no live worker takes this queue", one.Queue, bounded(one.Ready, one.AtLeast.Ready, 7))
		lines = append(lines, " "+q.pic.theme.warn.draw(safe.Fit("! "+text, w-2)))
	}
	if len(lines) > 2 {
		rest := fmt.Sprintf("! and %s more without a worker", plural(len(lines)-1, "queue"))
		lines = append(lines[:1], " "+q.pic.theme.warn.draw(safe.Fit(rest, w-2)))
	}
	return lines
}

// minute is how many samples the chart is wide.
const minute = 60

// chart draws the last minute of all queues together in the room left over.
func (q *queuesPane) chart(w, h int) []string {
	t := q.pic.theme
	samples := sumOf(q.pic.state.Depths.Queues).Spark
	if h < 5 || len(samples) < 2 || w < 30 {
		return nil
	}
	high, peak := ceiling(samples), 0.0
	for _, v := range samples {
		peak = max(peak, v)
	}
	rows := min(h-2, 8)
	scale := max(len(rate(high)), len(rate(0)))
	left := t.dim.draw("finished per second, last 60 s")
	right := t.dim.draw("peak ") + t.text.draw(rate(peak)) + t.dim.draw("  now ") + t.strong.draw(rate(samples[len(samples)-1]))
	gap := w - 2 - safe.Width(left) - safe.Width(right)
	if gap < 1 {
		right, gap = "", 1
	}
	wide := w - 5 - scale
	seen := wide * min(len(samples), minute) / minute
	lines := []string{"", " " + left + strings.Repeat(" ", gap) + right}
	for i, line := range t.skyline(resample(samples, seen), wide, rows, high) {
		label := ""
		if i == 0 {
			label = rate(high)
		} else if i == rows-1 {
			label = "0"
		}
		lines = append(lines, " "+t.dim.draw(safe.FitRight(label, scale))+t.faint.draw(" ┤")+line)
	}
	return lines
}

// sumOf adds up the queues; its name is the row's.
func sumOf(queues []watch.QueueDepth) watch.QueueDepth {
	sum := watch.QueueDepth{QueueDepth: queue.QueueDepth{Queue: "total", CompletedExact: true}}
	for _, d := range queues {
		sum.Ready += d.Ready
		sum.Scheduled += d.Scheduled
		sum.Processing += d.Processing
		sum.Completed += d.Completed
		sum.Failed += d.Failed
		sum.Dead += d.Dead
		sum.Rate.In += d.Rate.In
		sum.Rate.Out += d.Rate.Out
		sum.AtLeast = queue.AtLeast{
			Ready: sum.AtLeast.Ready || d.AtLeast.Ready, Scheduled: sum.AtLeast.Scheduled || d.AtLeast.Scheduled,
			Failed: sum.AtLeast.Failed || d.AtLeast.Failed, Dead: sum.AtLeast.Dead || d.AtLeast.Dead,
		}
		sum.CompletedExact = sum.CompletedExact && d.CompletedExact
		sum.OldestReady = max(sum.OldestReady, d.OldestReady)
		if missing := len(d.Spark) - len(sum.Spark); missing > 0 {
			sum.Spark = append(make([]float64, missing, len(d.Spark)), sum.Spark...)
		}
		shift := len(sum.Spark) - len(d.Spark)
		for i, v := range d.Spark {
			sum.Spark[shift+i] += v
		}
	}
	return sum
}
