package ui

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/scenario"
)

// world is what the play shows of its world, what matters most first. What a scenario
// does not use takes no room. It has the measures, unless they stand elsewhere.
func (s *stagePage) world(measures bool) (blocks []section) {
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
		blocks = append(blocks, s.lanesBlock())
	}
	if len(pic.Measures) > 0 && measures {
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
func (s *stagePage) lanesBlock() section {
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
	h := heading{name: "WHO HOLDS WHICH JOB", note: "a letter is a job", must: "a letter is a job"}
	if p.pic.State == scenario.Waiting {
		h.note = "stands still while the play waits"
	}
	if old := s.oldNote(); old != "" {
		h.note, h.must = old, "stale"
	}
	return section{head: h, need: min(rows, 8) + 2, want: min(rows, 16) + 3, draw: func(w, h int) []string {
		lines := t.swim(&p.lanes, swim{now: p.shown, span: span}, w, h)
		if s.oldNote() != "" {
			for i := range lines {
				lines[i] = t.dim.fade(lines[i])
			}
		}
		return lines
	}}
}

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
	return section{head: heading{name: "SIDE BY SIDE"}, need: len(all), want: 2*len(all) + notes, draw: func(w, h int) (lines []string) {
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
	return section{head: head, need: 3, want: 9, grows: 2, draw: func(w, h int) []string {
		high := ceiling(p.Points)
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
	return section{head: h, need: min(1+max(len(all), 1), 4), want: 1 + max(len(all), 1), draw: func(w, h int) []string {
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

// happenings are the events of the play, the newest at the end.
func (s *stagePage) happenings() section {
	t := s.pic.theme
	return section{head: heading{name: "EVENTS", note: "seconds since the play began"}, need: 1, want: 4, grows: 1, draw: func(w, h int) (lines []string) {
		for _, e := range slices.Backward(s.notable()) {
			glyph, kind, text := playEvent(e)
			k := map[tone]ink{quiet: t.dim, okay: t.good, caution: t.warn, danger: t.bad}[kind]
			front := " " + t.dim.draw(safe.FitRight(s.sinceBegin(e.At), 6)) + " " + k.draw(glyph) + " "
			var one []string
			for i, line := range wrap(s.ownNames(text), max(w-11, 10)) {
				one = append(one, pick(i == 0, front, strings.Repeat(" ", 10))+t.text.draw(line))
			}
			if len(lines)+len(one) > h { // an event is told from its beginning, or not at all
				if len(lines) == 0 {
					lines = one[:min(len(one), h)]
				}
				break
			}
			lines = append(one, lines...)
		}
		return lines
	}}
}

// notable are the events but for how the stage was set, once that is done.
func (s *stagePage) notable() []scenario.Event {
	events := s.of.pic.Events
	if len(s.of.pic.Steps) == 0 {
		return events
	}
	began := s.of.pic.Steps[0].Began
	for len(events) > 0 && events[0].What == workers.Spawned && events[0].At.Before(began) {
		events = events[1:]
	}
	return events
}

// playEvent puts an event of a play in words.
func playEvent(e scenario.Event) (glyph string, kind tone, text string) {
	glyph, text = "·", plainOwners(e.Text)
	switch e.What {
	case "":
		return "▸", okay, join(e.Worker, text)
	case workers.Spawned, workers.Thawed:
		glyph, kind = "+", okay
	case workers.DrainBegun, workers.WorkerEnded:
		glyph = "-"
	case workers.Killed, workers.Panicked:
		glyph, kind = "✗", danger
	case workers.Froze:
		glyph, kind = "✱", danger
	case workers.StaleFenced:
		return "⊘", caution, text
	case workers.ReapedBack:
		return "↩", caution, text
	case workers.ReapedDead:
		return "✗", danger, text
	case workers.LeaseLost, workers.TrustEnded, workers.StuckFound, workers.DBTrouble, workers.Mishap, workers.Cancelled:
		glyph, kind = "!", caution
	}
	lead := join(e.Worker, string(e.What))
	if strings.HasPrefix(text, string(e.What)) {
		lead = e.Worker
	}
	return glyph, kind, join(lead+pick(text != "" && lead != "", " ·", ""), text)
}

// plainOwners names workers in a text by their names, where it has their tokens.
func plainOwners(text string) string {
	if !strings.Contains(text, "#") {
		return text
	}
	words := strings.Split(text, " ")
	for i, word := range words {
		bare := strings.TrimRight(word, ",.;:")
		if token, ok := queue.ParseToken(bare); ok {
			words[i] = token.Worker + strings.TrimPrefix(word, bare)
		}
	}
	return strings.Join(words, " ")
}

// invariants is the line of what must hold in every story.
func (s *stagePage) invariants(w int) []string {
	t, i := s.pic.theme, s.of.pic.Invariants
	if !i.Known {
		return []string{fitLine(" "+t.strong.draw("INVARIANTS")+"  "+t.dim.draw("not counted yet"), w)}
	}
	ledger := &Ledger{Effects: i.Effects, Doubled: i.Doubled, Lost: i.Lost, Overlaps: int64(i.Overlaps), Overlap: i.Overlap, Lease: i.Lease}
	return t.invariantLine(ledger, i.Fenced, i.Worst, s.oldNote(), w)
}
