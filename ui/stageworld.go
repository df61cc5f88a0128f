package ui

import (
	"fmt"
	"slices"
	"time"

	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/scenario"
)

// world is what the play shows of its world, what matters most first. What a scenario
// does not use takes no room. It has the measures that are known, unless they stand
// elsewhere. What happened is not among it. The blocks are w cells wide within their frames.
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
	if len(pic.Workers) > 0 { // what others hold, a probe say, is not of the story
		blocks = append(blocks, s.lanesBlock(w))
	}
	if measures && s.known() > 0 {
		blocks = append(blocks, s.measures(w, false))
	}
	if len(pic.Depths) > 0 || len(pic.Workers) > 0 {
		blocks = append(blocks, s.depths())
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
		h.note = "stands still while the play waits"
		if p.pic.Flows {
			h.note = "the lanes stand still" + pick(away(&p.pic) == nil, "; jobs flow on", "")
		}
	}
	if old := s.oldNote(); old != "" {
		h.note, h.must = old, "stale"
	}
	look := swim{now: p.shown, span: span, marks: marksHere, letters: lettersHere}
	all := len(t.swim(&p.lanes, look, w, min(rows, 16)+1+marksHere+lettersHere))
	return section{head: h, need: min(rows, 3) + 2, good: min(rows+3, 11, max(all, rows+2)), want: max(all, min(rows, 16)+2), draw: func(w, h int) []string {
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
	marksHere   = 3
	lettersHere = 8
)

func slotsOf(all []scenario.Worker) (slots int) {
	for _, w := range all {
		slots += max(w.Slots, 1)
	}
	return slots
}

// invariants is the line of what must hold in every story.
func (s *stagePage) invariants(w int) []string {
	t, i := s.pic.theme, s.of.pic.Invariants
	if !i.Known {
		return []string{fitLine(" "+t.strong.draw("INVARIANTS")+"  "+t.dim.draw("not counted yet"), w)}
	}
	if i.Stale(s.pic.local) {
		words := wordsFor(w - cells(pick(i.Exempt, "with protection:", "")))[0]
		told := fmt.Sprintf(" · before: lost %d · %s %d · %s %d", i.Lost, words.doubled, i.Doubled, words.overlap, i.Overlaps)
		note := "not counted for " + age(s.pic.local.Sub(i.Counted))
		switch away := away(&s.of.pic); {
		case !s.of.pic.Ended.IsZero():
			note = "not counted at the end"
		case away != nil:
			note = "not counted, " + safe.Text(away.Text)
		}
		return []string{fitLine(" "+t.strong.draw("INVARIANTS")+"  "+t.bad.draw(note)+t.dim.draw(told), w)}
	}
	ledger := &Ledger{Unkept: !i.Entered, Effects: i.Effects, Doubled: i.Doubled, Lost: i.Lost, Overlaps: int64(i.Overlaps), Overlap: i.Overlap}
	if i.Recovery != (workers.Recovery{}) { // else the play's own reapers reclaimed nothing yet
		ledger.Lease = i.Lease
	}
	ledger.Others = slices.ContainsFunc(s.of.pic.Events, func(e scenario.Event) bool { return e.What == workers.ReapedBack || e.What == workers.ReapedDead })
	note := s.oldNote()
	if away(&s.of.pic) != nil {
		note = "as of before"
	}
	return t.invariantLine(pick(i.Exempt, "with protection:", ""), ledger, i.Fenced, i.Recovery, note, w)
}
