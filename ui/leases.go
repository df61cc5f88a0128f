package ui

import (
	"strconv"

	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers"
)

// leasesPane shows the jobs in processing, the lease that ends first on top,
// each counting down.
type leasesPane struct {
	pic   *picture
	list  selection[int64]
	spans spans
	lit   bool
}

// Show takes a new picture.
func (l *leasesPane) Show(p *picture) {
	l.pic = p
	leases := p.state.Leases.List
	keys := make([]int64, len(leases))
	l.spans.Begin()
	for i, one := range leases {
		keys[i] = one.JobID
		l.spans.See(spanKey{one.JobID, one.Owner}, kindOf(one.Queue, one.Kind), one.LockedAt, one.ExpiresAt, p.now)
	}
	l.spans.End()
	l.list.SetKeys(keys)
	if !l.lit {
		l.list.Rest()
	}
}

// Move moves the cursor.
func (l *leasesPane) Move(m motion) { l.list.Move(m) }

// Focus gives or takes the focus.
func (l *leasesPane) Focus(on bool) { l.lit = on }

// Heading says how many leases there are.
func (l *leasesPane) Heading() heading {
	h, in := heading{name: "LEASES"}, l.pic.state.Leases
	if in.Source == watch.Unknown {
		return h
	}
	h.rest, h.note = bounded(int64(in.Total), in.Capped, 9), "expiring first"
	return l.pic.provenance(h, in.Source, in.Read)
}

var leaseColumns = []column{
	{title: "JOB", min: 5, max: 5, right: true},
	{title: "KIND", min: 6, max: 6, rank: 1},
	{title: "WORKER", min: 6, max: 6},
	{title: "ATT", min: 3, max: 3, right: true, rank: 2},
	{title: "LEFT", min: 5, right: true},
	{title: "", min: 11, max: 24, grows: true},
}

// View draws the pane's inside.
func (l *leasesPane) View(w, h int) []string {
	t, in := l.pic.theme, l.pic.state.Leases
	switch {
	case in.Source == watch.Unknown:
		return []string{"", t.dim.draw(" looking…")}
	case len(in.List) == 0:
		return []string{"", t.dim.draw(" nothing is being processed")}
	}
	columns := append([]column(nil), leaseColumns...)
	columns[0].max = widest(5, 10, l.each(func(one watch.Lease) string { return strconv.FormatInt(one.JobID, 10) }))
	columns[0].min = columns[0].max
	columns[1].max = widest(6, 22, l.each(func(one watch.Lease) string { return kindOf(one.Queue, one.Kind) }))

	columns[2].max = widest(6, 14, l.each(func(one watch.Lease) string { return l.who(one) }))
	columns[2].min = min(columns[2].max, 10)
	g := arrange(columns, w-2)
	lines := []string{" " + g.header(t.dim)}
	_, stale := l.pic.stale(in.Read)
	from, to := l.list.Window(max(h-1, 1))
	if !l.lit {
		from, to = 0, min(max(h-1, 0), len(in.List))
	}
	for i := from; i < to; i++ {
		one := in.List[i]
		line := t.lineOf(g.row(l.cells(one, columns[1].max)), w, l.lit && i == l.list.at, false)
		if stale {
			line = t.dim.fade(line)
		}
		lines = append(lines, line)
	}
	return lines
}

func (l *leasesPane) each(text func(watch.Lease) string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, one := range l.pic.state.Leases.List {
			if !yield(text(one)) {
				return
			}
		}
	}
}

// who is the holder with what happened to it.
func (l *leasesPane) who(one watch.Lease) string {
	h := l.pic.holder(one.Owner)
	if gone := h.gone(); gone != "" {
		return h.name + " " + gone
	}
	return h.name
}

func (l *leasesPane) cells(one watch.Lease, full int) []cell {
	t := l.pic.theme
	who := t.text
	switch l.pic.holder(one.Owner).state {
	case workers.Crashed:
		who = t.bad
	case workers.Frozen:
		who = t.other
	}
	attempt := t.dim
	if one.Attempts > 1 {
		attempt = t.warn
	}
	long := l.spans.See(spanKey{one.JobID, one.Owner}, kindOf(one.Queue, one.Kind), one.LockedAt, one.ExpiresAt, l.pic.now)
	rest := min(one.ExpiresAt.Sub(l.pic.now), long)
	time := cell{text: left(rest), ink: t.text}
	bar := cell{paint: func(w int) string { return t.bar(portion(rest, long), w) }}
	if rest <= 0 {
		time.ink = t.alarm
		over := -rest
		if in := l.pic.state.Leases; l.pic.oldNote(in.Read) != "" { // it may be renewed or reclaimed since
			over = in.At.Sub(one.ExpiresAt)
		}
		bar = cell{paint: func(w int) string { return t.alarm.draw(safe.Fit(lapsed(over, w), w)) }}
	} else if portion(rest, long) <= 0.2 {
		time.ink = t.bad
	}
	if one.CancelledBy != "" && rest > 0 {
		bar = cell{paint: func(w int) string { return t.cancelling(one.CancelledBy, w) }}
	}
	return []cell{
		{text: strconv.FormatInt(one.JobID, 10), ink: t.strong},
		t.kindCell(one.Queue, one.Kind, full),
		{text: l.who(one), ink: who},
		{text: tries(one.Attempts, one.MaxAttempts), ink: attempt},
		time,
		bar,
	}
}

// tries writes which attempt of how many: 2/5.
func tries(n, of int) string {
	if of <= 0 {
		return strconv.Itoa(n)
	}
	return strconv.Itoa(n) + "/" + strconv.Itoa(of)
}

// Lease returns the lease under the cursor.
func (l *leasesPane) Lease() (watch.Lease, bool) {
	if l.list.at < len(l.pic.state.Leases.List) {
		return l.pic.state.Leases.List[l.list.at], true
	}
	return watch.Lease{}, false
}
