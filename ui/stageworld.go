package ui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers/scenario"
)

// world is what the play shows of its world, what matters most first. What a scenario
// does not use takes no room. It has the measures once they are taken, unless they stand
// elsewhere. The blocks are w cells wide within their frames.
func (s *stagePage) world(w int, measures bool) (blocks []section) {
	pic := &s.of.pic
	if len(pic.Bars) > 0 {
		blocks = append(blocks, s.bars())
	}
	for i := range pic.Plots {
		if len(pic.Plots[i].Points) > 0 {
			blocks = append(blocks, s.plot(&pic.Plots[i]))
		}
	}
	if len(pic.Workers) > 0 || len(pic.Leases) > 0 && len(pic.Bars) == 0 {
		blocks = append(blocks, s.lanesBlock(w))
	}
	taken := slices.ContainsFunc(pic.Measures, func(m scenario.MeasurePicture) bool { return m.State != scenario.ToCome })
	if measures && taken {
		blocks = append(blocks, s.measures(false))
	}
	if len(pic.Depths) > 0 || len(pic.Workers) > 0 {
		blocks = append(blocks, s.depths())
	}
	if len(s.notable()) > 0 || len(blocks) == 0 {
		blocks = append(blocks, s.happenings())
	}
	return blocks
}

// playSpans are the times that the lanes of a play show: the shortest that holds all of it.
var playSpans = []time.Duration{10 * time.Second, 20 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute}

// lanesBlock is who holds which job.
func (s *stagePage) lanesBlock(w int) section {
	p, t := s.of, s.pic.theme
	span := playSpans[len(playSpans)-1]
	for _, one := range playSpans {
		if p.shown.Sub(p.pic.Began) < one {
			span = one
			break
		}
	}
	rows := len(p.pic.Workers)
	if slots := slotsOf(p.pic.Workers); slots <= 6 {
		rows = slots
	}
	if p.lanes.Interrupted(p.shown, span) {
		rows++ // what was away has a line
	}
	h := heading{name: "WHO HOLDS WHICH JOB", note: "a letter is a job", must: "a letter is a job"}
	if p.still {
		h.note = pick(p.pic.Flows, "the lanes stand still; jobs flow on", "stands still while the play waits")
	}
	if old := s.oldNote(); old != "" {
		h.note, h.must = old, "stale"
	}
	look := swim{now: p.shown, span: span, marks: marksHere, letters: lettersHere}
	all := len(t.swim(&p.lanes, look, w, min(rows, 16)+1+marksHere+lettersHere))
	return section{head: h, need: min(rows, 8) + 2, good: min(rows+3, 11, max(all, rows+2)), want: max(all, min(rows, 16)+2), draw: func(w, h int) []string {
		lines := t.swim(&p.lanes, look, w, h)
		if s.oldNote() != "" {
			for i := range lines {
				lines[i] = t.dim.fade(lines[i])
			}
		}
		return lines
	}}
}

// A play's page has room for more of what its lanes mean than the list of workers.
const (
	marksHere   = 2
	lettersHere = 8
)

func slotsOf(all []scenario.Worker) (slots int) {
	for _, w := range all {
		slots += max(w.Slots, 1)
	}
	return slots
}

// bars are figures beside each other, as in a race: thick ones where there is room.
func (s *stagePage) bars() section {
	t, all := s.pic.theme, s.of.pic.Bars
	notes := 0
	for _, b := range all {
		if b.Note != "" {
			notes++
		}
	}
	return section{head: heading{name: "SIDE BY SIDE"}, need: len(all) + notes, good: len(all) + notes, want: 2*len(all) + notes, draw: func(w, h int) (lines []string) {
		nameW, valueW := 4, 4
		for _, b := range all {
			nameW = max(nameW, min(safe.Width(safe.Text(b.Name)), w/3))
			valueW = max(valueW, min(safe.Width(barValue(b)), w/4))
		}
		wide := max(w-nameW-valueW-6, 4)
		for _, b := range all {
			bar := t.raceBar(b, wide)
			over := pick(b.Over, t.good.draw("■"), " ")
			lines = append(lines, " "+t.strong.draw(safe.Fit(b.Name, nameW))+" "+bar+" "+t.strong.draw(safe.FitRight(barValue(b), valueW))+" "+over)
			if h >= 2*len(all)+notes {
				lines = append(lines, strings.Repeat(" ", nameW+2)+bar)
			}
			if b.Note != "" && h >= len(all)+notes {
				lines = append(lines, strings.Repeat(" ", nameW+2)+pick(b.Bad, t.alarm, t.dim).draw(brief(pick(b.Bad, "✗ ", "")+b.Note, max(w-nameW-3, 1))))
			}
		}
		return lines
	}}
}

// raceBar draws a bar of w cells.
func (t *theme) raceBar(b scenario.Bar, w int) string {
	share := 0.0
	if b.Most > 0 {
		share = max(min(b.Value/b.Most, 1), 0)
	}
	eighths := int(share*float64(w)*8 + 0.5)
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return pick(b.Bad, t.bad, t.accent).draw(bar) + t.faint.draw(strings.Repeat("·", max(w-safe.Width(bar), 0)))
}

func barValue(b scenario.Bar) string { return join(figure(b.Value), safe.Text(b.Unit)) }

// plot is a figure over time, with what happened meanwhile.
func (s *stagePage) plot(p *scenario.Plot) section {
	t := s.pic.theme
	now := p.Points[len(p.Points)-1]
	head := heading{name: strings.ToUpper(p.Name), rest: join(figure(now), p.Unit)}
	return section{head: head, need: 3, good: 6, want: 9, grows: 2, draw: func(w, h int) []string {
		var alike []float64 // plots of the same unit have the same scale, and can be compared
		for _, one := range s.of.pic.Plots {
			if one.Unit == p.Unit {
				alike = append(alike, one.Points...)
			}
		}
		high := ceiling(alike)
		top := join(figure(high), safe.Text(p.Unit))
		label := max(safe.Width(top), 1)
		wide := w - label - 4
		if wide < 8 {
			return nil
		}
		// A column is so many points, from the first on: what was drawn stays as it was.
		each := max((len(p.Points)+wide-1)/wide, 1)
		var peaks []float64
		for some := range slices.Chunk(p.Points, each) {
			peaks = append(peaks, slices.Max(some))
		}
		marks := t.marks(p, each, wide, max(min(h/3, 2), 0))
		rows := h - len(marks)
		lines := make([]string, 0, h)
		for y, bars := range t.skyline(peaks, nil, len(peaks), rows, high) {
			text := ""
			if y == 0 {
				text = top
			} else if y == rows-1 {
				text = "0"
			}
			lines = append(lines, " "+t.dim.draw(safe.FitRight(text, label))+t.faint.draw(" ┤")+bars)
		}
		for _, m := range marks {
			lines = append(lines, strings.Repeat(" ", label+3)+m)
		}
		return lines
	}}
}

// marks draws the moments of a plot below it, in so many lines at most. A column is so
// many points each.
func (t *theme) marks(p *scenario.Plot, each, wide, h int) []string {
	ends, lines := make([]int, h), make([]string, h)
	used := 0
	for _, m := range p.Marks {
		if m.At < 0 {
			continue
		}
		x := min(m.At/each, wide-1)
		text := "▲ " + safe.Text(m.Text)
		n := safe.Width(text)
		if x+n > wide { // to the left of its moment
			text = safe.Text(m.Text) + " ▲"
			x = max(x-n+1, 0)
			text, n = safe.FitStyled(text, min(n, wide)), min(n, wide)
		}
		for y := range h {
			if x >= ends[y] {
				lines[y] += strings.Repeat(" ", x-ends[y]) + t.warn.draw(text)
				ends[y] = x + n + 2
				lines[y] += "  "
				used = max(used, y+1)
				break
			}
		}
	}
	return lines[:used]
}

// runName is what all queues of a play begin with.
var runName = regexp.MustCompile(`([a-z0-9-]+)-[0-9a-f]{6}(-?)`)

// ownNames calls queues in a text as the story does.
func (s *stagePage) ownNames(text string) string {
	if !strings.Contains(text, s.of.pic.Name+"-") {
		return text
	}
	return runName.ReplaceAllStringFunc(text, func(run string) string {
		switch parts := runName.FindStringSubmatch(run); {
		case parts[1] != s.of.pic.Name:
			return run
		case parts[2] != "":
			return "" // the story's name for it follows
		}
		return "its queue"
	})
}

var depthColumns = []column{
	{title: "QUEUE", min: 8, max: 24},
	{title: "PENDING", min: 7, max: 10, right: true},
	{title: "RUNNING", min: 7, max: 10, right: true},
	{title: "COMPLETED", min: 9, max: 10, right: true},
	{title: "FAILED", min: 6, max: 8, right: true},
	{title: "DEAD", min: 5, max: 8, right: true},
}

// depths are the play's jobs by status.
func (s *stagePage) depths() section {
	t, all := s.pic.theme, s.of.pic.Depths
	h := heading{name: "JOBS", note: s.oldNote(), must: pick(s.oldNote() != "", "stale", "")}
	return section{head: h, need: min(1+max(len(all), 1), 4), good: min(1+max(len(all), 1), 4), want: 1 + max(len(all), 1), draw: func(w, h int) []string {
		g := arrange(depthColumns, w-2)
		lines := []string{" " + g.header(t.dim)}
		for _, d := range all[:min(len(all), max(h-1, 0))] {
			name := s.ownNames(d.Queue)
			number := func(n int64, k ink) cell { return cell{text: thousands(n), ink: pick(n == 0, t.faint, k)} }
			line := " " + g.row([]cell{
				{text: name, ink: t.strong},
				number(d.Pending, t.text), number(d.Processing, t.accent), number(d.Completed, t.good),
				number(d.Failed, t.bad), number(d.Dead, t.bad),
			})
			if s.oldNote() != "" {
				line = t.dim.fade(line)
			}
			lines = append(lines, line)
		}
		return lines
	}}
}

// invariants is the line of what must hold in every story.
func (s *stagePage) invariants(w int) []string {
	t, i := s.pic.theme, s.of.pic.Invariants
	if !i.Known {
		return []string{fitLine(" "+t.strong.draw("INVARIANTS")+"  "+t.dim.draw("not counted yet"), w)}
	}
	if i.Stale(s.pic.local) {
		told := fmt.Sprintf(" · before: lost %d · doubled %d · overlap %d", i.Lost, i.Doubled, i.Overlaps)
		note := "not counted for " + age(s.pic.local.Sub(i.Counted))
		if !s.of.pic.Ended.IsZero() {
			note = "not counted at the end"
		}
		return []string{fitLine(" "+t.strong.draw("INVARIANTS")+"  "+t.bad.draw(note)+t.dim.draw(told), w)}
	}
	ledger := &Ledger{Effects: i.Effects, Doubled: i.Doubled, Lost: i.Lost, Overlaps: int64(i.Overlaps), Overlap: i.Overlap}
	if i.Worst >= 0 { // else nothing was reclaimed yet
		ledger.Lease = i.Lease
	}
	return t.invariantLine(pick(i.Exempt, "with protection:", ""), ledger, i.Fenced, i.Worst, s.oldNote(), w)
}
