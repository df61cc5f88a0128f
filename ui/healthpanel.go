package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/mask"
	"github.com/leasetop/leasetop/ui/safe"
)

// healthPanel is the dialog with all findings: what there is to look at with its cure,
// where the picture comes from, then what is well. It goes on while it is open.
type healthPanel struct {
	pic       *picture
	comparing bool // the counts with the table; also while the panel is closed
	compare   func() action

	top, height, length int
}

// panelWidth is how wide the panel is where there is room: statements are long.
const panelWidth = 104

// Width is what the dialog wants.
func (d *healthPanel) Width() int { return panelWidth }

// Heading says in the upper edge how it is on the whole: what there is to look at, as many
// as the header says, and the sources, which have their own marks there.
func (d *healthPanel) Heading() heading {
	h := heading{name: "HEALTH", rest: "all well"}
	all := d.pic.findings()
	look, sources := len(concerns(all)), 0
	for _, f := range all {
		sources += pick(f.Grade >= watch.Caution && f.Source != watch.Unknown, 1, 0)
	}
	var words []string
	if look > 0 {
		words = append(words, thousands(int64(look))+" to look at")
	}
	if sources > 0 {
		words = append(words, plural(sources, "source")+" down or late")
	}
	if words != nil {
		h.rest = strings.Join(words, ", ")
	}
	if d.height > 0 && d.length > d.height {
		h.note = "j k scroll"
	}
	return h
}

// Grave is not set.
func (d *healthPanel) Grave() bool { return false }

// Keys compare the counts, or close the panel.
func (d *healthPanel) Keys(a *app) []action {
	return []action{
		a.compareKey(),
		key("h q esc", "", "close", func() tea.Cmd {
			a.dialogs.Pop()
			return nil
		}),
		key("?", "", "this list", a.help),
	}
}

// Move scrolls.
func (d *healthPanel) Move(m motion) {
	half := max(d.height/2, 1)
	d.top += map[motion]int{up: -1, down: 1, halfUp: -half, halfDown: half, toTop: -d.length, toBottom: d.length}[m]
	d.clamp()
}

func (d *healthPanel) clamp() { d.top = max(min(d.top, d.length-d.height), 0) }

// Lines draws the findings, and under them what the keys do, which stays in sight.
func (d *healthPanel) Lines(t *theme, w, h int, _ bool) []string {
	lines := d.findings(t, w)
	d.height, d.length = max(h-2, 1), len(lines)
	d.clamp()
	lines = slices.Clone(lines[d.top:min(d.top+d.height, len(lines))])
	return append(lines, "", safe.FitStyled(d.buttons(t, w), w))[:min(len(lines)+2, max(h, 0))]
}

func (d *healthPanel) buttons(t *theme, w int) string {
	one, closes := d.compare(), "   "+t.chip(quiet, "esc  close")
	if d.comparing {
		return t.chip(quiet, "comparing…") + closes
	}
	if one.why == "" {
		return t.chip(okay, one.shown()+"  "+one.label) + closes
	}
	why := one.shown() + "  compare: " + one.why
	if safe.Width(why)+safe.Width(closes) > w {
		why = one.shown() + "  " + one.label // and why not when it is pressed
	}
	return t.dim.draw(why) + closes
}

func (d *healthPanel) findings(t *theme, w int) []string {
	var bad, links, rest []watch.Finding
	for _, f := range d.pic.findings() {
		switch {
		case f.Source != watch.Unknown:
			links = append(links, f)
		case f.Grade >= watch.Caution:
			bad = append(bad, f)
		default:
			rest = append(rest, f)
		}
	}
	if links == nil {
		return []string{t.dim.draw("Nothing is known yet: the server has not answered.")}
	}
	var lines []string
	for _, f := range bad {
		lines = append(lines, d.finding(t, f, w)...)
		lines = append(lines, "")
	}
	lines = append(lines, t.strong.draw("Where the picture comes from"))
	for _, f := range links {
		if f.Grade == watch.Fine {
			f.Figure += " · " + d.feeds(f.Source)
		}
		lines = append(lines, d.finding(t, f, w)...)
	}
	title := t.strong.draw(pick(len(bad) > 0, "All else", "The rest"))
	if read := d.pic.state.Health.Read; !read.IsZero() {
		title += t.dim.draw(" · read " + age(d.pic.local.Sub(read)) + " ago")
	}
	lines = append(lines, "", title)
	for _, f := range rest {
		lines = append(lines, d.finding(t, f, w)...)
	}
	return lines
}

// feeds is what comes from a source now.
func (d *healthPanel) feeds(of watch.Source) string {
	name := map[watch.Source]string{watch.FromWAL: "WAL", watch.Notice: "NOTIFY", watch.Polled: "poll"}[of]
	for _, l := range links(d.pic) {
		if l.name == name {
			return l.feeds
		}
	}
	return ""
}

// finding draws one: how it is in a line or more and, unless it is well, why that
// matters and what to do.
func (d *healthPanel) finding(t *theme, f watch.Finding, w int) []string {
	const about = 26
	k := map[watch.Grade]ink{watch.Fine: t.good, watch.Hidden: t.dim, watch.Caution: t.warn, watch.Danger: t.bad}[f.Grade]
	name, text := t.text, t.dim
	if f.Grade >= watch.Caution {
		name, text = t.strong, k
	}
	column := min(about, w/2)
	lead := k.draw(markOf(f.Grade)) + " "
	var lines []string
	if n := safe.Width(safe.Text(f.About)); n >= column { // a name of somebody's choice
		if n+2+safe.Width(safe.Text(f.Figure)) <= w-2 {
			column = n + 2
		} else {
			for _, line := range wrap(f.About, w-2) {
				lines = append(lines, lead+name.draw(line))
				lead = "  "
			}
			f.About = ""
		}
	}
	for i, line := range wrap(f.Figure, w-2-column) {
		head := name.draw(safe.Fit(f.About, column))
		if i > 0 {
			head = strings.Repeat(" ", column)
		}
		lines = append(lines, lead+head+text.draw(line))
		lead = "  "
	}
	if f.Why != "" {
		why, _ := mask.Text(f.Why) // the server's words may hold values of a row
		for _, line := range wrap(why, w-4) {
			lines = append(lines, "    "+t.dim.draw(line))
		}
	}
	if f.Cure != "" {
		for i, line := range wrap(f.Cure, w-6) {
			lines = append(lines, "    "+t.accent.draw(pick(i == 0, "→ ", "  "))+t.text.draw(line))
		}
	}
	return lines
}
