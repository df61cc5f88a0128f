package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/leasetop/leasetop/ui/lanes"
	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers"
)

// swim is how lanes are to be drawn.
type swim struct {
	now  time.Time
	span time.Duration
	lit  string // the worker under the cursor

	marks, letters int // how many lines there are of each at most; 0 is marksMost, lettersMost
}

// spansShown are the times that lanes can show, as their key goes through them.
var spansShown = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Second}

// swim draws lanes in w cells and h lines at most: the time above, a line for each lane,
// and below them what the marks mean and which jobs the letters are.
func (t *theme) swim(r *lanes.Recorder, s swim, w, h int) []string {
	high := h - 1 - min(max(h/4, 1), 3) // lanes, at most
	away := r.Interrupted(s.now, s.span)
	if away {
		high--
	}
	if away || s.marks > 0 { // in a play who was there matters more than what all marks mean
		if workers, _ := r.Lanes(s.now, s.span); workers > high {
			high = min(workers, h-2)
		}
	}
	label := laneLabel(r, w)
	width := w - label - 2
	if width < 10 || high < 1 {
		return nil
	}
	d := r.Draw(s.now, s.span, width, high)
	if len(d.Rows) == 0 {
		return []string{"", " " + t.dim.draw("nobody has held a job in this time")}
	}
	more := ""
	if d.Hidden > 0 {
		more = "+" + strconv.Itoa(d.Hidden) + " more"
	}
	lines := []string{t.warn.draw(safe.Fit(" "+more, label)) + " " + t.dim.draw(timeAxis(s.span, width))}
	if away {
		lines = append(lines, strings.Repeat(" ", label+1)+t.awayLine(d.Outages, width))
	}
	before, band := "", bandOf(d.Outages, width)
	for _, row := range d.Rows {
		lines = append(lines, t.laneHead(row, row.Worker == before && row.Slot > 1, row.Worker == s.lit, label)+" "+t.lane(row.Cells, band))
		before = row.Worker
	}
	// The letters are read at sight, and go before the marks do.
	rest := h - len(lines)
	letters := t.laneLetters(d, w-1, cmp.Or(s.letters, lettersMost))
	kept := min(len(letters), pick(s.marks > 0, lettersPast, lettersMost))
	for _, marks := range t.laneMarks(d, w-1, min(cmp.Or(s.marks, marksMost), max(rest-kept, 1))) {
		if rest > 0 {
			lines = append(lines, " "+marks)
			rest--
		}
	}
	return append(lines, t.laneLetters(d, w-1, min(rest, cmp.Or(s.letters, lettersMost)))...)
}

// marksMost is how many lines there are that explain marks, and lettersMost of letters:
// more change too often to be read.
const (
	marksMost   = 1
	lettersMost = 4
	// marksLong is how many lines whole sentences may take.
	marksLong = 2
	// lettersPast is how many lines there are of jobs that are over, and that nobody lost.
	lettersPast = 2
)

// laneLines is how many lines the lanes of s can use, and with how few of them one for each
// worker can be shown.
func laneLines(r *lanes.Recorder, s swim) (most, least int) {
	workers, slots := r.Lanes(s.now, s.span)
	return 1 + slots + 3, 1 + workers + 3
}

// laneLabel is how wide what stands before the lanes is.
func laneLabel(r *lanes.Recorder, w int) int {
	name := 4
	for _, one := range r.Names() { // also of lanes that are out of sight: what is drawn must not move as they come and go
		name = max(name, safe.Width(safe.Text(one)))
	}
	return 1 + min(name, max(w/8, 8)) + 1 + 1 + 2
}

// laneHead is what stands before a lane: the worker, the glyph of its state, and how many
// jobs it holds where one lane is for all its slots.
func (t *theme) laneHead(row lanes.Row, more, lit bool, w int) string {
	if more {
		return " " + t.faint.draw(safe.FitRight(strconv.Itoa(row.Slot), w-4)) + "   "
	}
	front, k := " ", t.text
	if lit {
		front, k = t.lead.draw("▸"), t.lead
	}
	glyph, kind := " ", t.dim
	if row.State != "" {
		glyph, kind = stateMark(t, workers.State(row.State))
	}
	held := ""
	if row.Slot == 0 && row.Held > 1 {
		held = strconv.Itoa(min(row.Held, 99))
	}
	return front + k.draw(middled(row.Worker, w-5)) + " " + kind.draw(glyph) + t.dim.draw(safe.FitRight(held, 2))
}

// lane draws the cells of a lane, over a background where an outage was.
func (t *theme) lane(cells []lanes.Cell, band []bool) string {
	var b strings.Builder
	for i := 0; i < len(cells); {
		k := i
		var run strings.Builder
		for ; k < len(cells) && cells[k].Style == cells[i].Style && band[k] == band[i]; k++ {
			run.WriteRune(cells[k].Glyph)
		}
		text := t.laneInk(cells[i].Style).draw(run.String())
		if band[i] {
			text = t.row.wash(text)
		}
		b.WriteString(text)
		i = k
	}
	return b.String()
}

// laneInk is the ink of what a cell means.
func (t *theme) laneInk(s lanes.Style) ink {
	switch s {
	case lanes.Idle:
		return t.faint
	case lanes.Brief, lanes.Unwritten:
		return t.dim
	case lanes.Work:
		return t.accent
	case lanes.Told:
		return t.lead
	case lanes.Again, lanes.Retried, lanes.Halted:
		return t.warn
	case lanes.Stale:
		return t.other
	case lanes.Taken, lanes.Waiting:
		return t.strong
	case lanes.Crash, lanes.Overdue, lanes.Refused, lanes.Buried:
		return t.alarm
	case lanes.Dead, lanes.Silent, lanes.Away:
		return t.bad
	case lanes.Frozen, lanes.Parted:
		return t.other
	}
	return t.text
}

// laneSigns are the marks with what they mean, in the order of the story they tell. Those
// of the highest rank go first where there is no room for all.
var laneSigns = []struct {
	style       lanes.Style
	rank        int
	glyph       string
	text, brief string
}{
	{lanes.Crash, 0, "✗", "the worker died", "died"},
	{lanes.Frozen, 3, "✱~", "frozen: works on without heartbeats", "frozen"},
	{lanes.Parted, 3, "≠╌", "cut off from the database", "cut off"},
	{lanes.Halted, 1, "■", "stopped its handler before the lease ends", "handler stopped"},
	{lanes.Refused, 1, "⊘", "wrote too late: fenced, nothing changed", "late write fenced"},
	{lanes.Stale, 7, "A", "goes on with a job that is another's now", "goes on, lost it"},
	{lanes.Buried, 2, "†", "a dead letter", "dead letter"},
	{lanes.Silent, 3, "?░", "no heartbeat, the lease runs on", "no heartbeat"},
	{lanes.Dead, 2, "░", "its lease still runs: nobody else may have the job", "lease still runs"},
	{lanes.Unwritten, 4, "▁", "handler over, its outcome not known to be written", "outcome not written"},
	{lanes.Overdue, 4, "!", "the lease is over, nobody took the job yet", "lease over"},
	{lanes.Waiting, 6, "┄╮╯", "free again", "free again"},
	{lanes.Taken, 1, "↳↱", "taken over", "taken over"},
	{lanes.Again, 5, "A²", "attempt 2", "attempt 2"},
	{lanes.Retried, 5, "↻", "a short retry", "retry"},
	{lanes.Brief, 7, "▂", "without a letter: short", "short"},
}

// marksDrawn are the glyphs of each style in a drawing.
func marksDrawn(d lanes.Drawing) map[lanes.Style]string {
	drawn := map[lanes.Style]string{}
	for _, row := range d.Rows {
		for i, c := range row.Cells {
			if c.Style == lanes.Again && strings.ContainsRune(attemptFigures, c.Glyph) && i > 0 { // it stands behind its letter
				if was := drawn[c.Style]; was == "" {
					drawn[c.Style] = string([]rune{row.Cells[i-1].Glyph, c.Glyph})
				}
				continue
			}
			if c.Glyph == '▂' { // whatever the colour
				c.Style = lanes.Brief
			}
			if c.Style != lanes.Again && !strings.ContainsRune(drawn[c.Style], c.Glyph) {
				drawn[c.Style] += string(c.Glyph)
			}
		}
	}
	return drawn
}

// attemptFigures are behind the letter of a job that is tried again.
const attemptFigures = "²³⁴⁵⁶⁷⁸⁹⁺"

// signDrawn are the glyphs of a sign that are drawn; "" where it is not to be seen.
func signDrawn(style lanes.Style, glyphs, drawn string) string {
	switch style {
	case lanes.Again:
		return drawn
	case lanes.Stale: // any letter
		_, size := utf8.DecodeRuneInString(drawn)
		return drawn[:size]
	}
	return strings.Map(func(r rune) rune { return pick(strings.ContainsRune(drawn, r), r, -1) }, glyphs)
}

// laneMarks explains what is drawn, in so many lines at most; where the words have no room,
// in shorter ones, and then without those of the highest rank.
func (t *theme) laneMarks(d lanes.Drawing, w, h int) []string {
	drawn := marksDrawn(d)
	var states []string // what stands before the lanes
	slots := false
	for _, row := range d.Rows {
		slots = slots || row.Slot > 1
		if row.State != "" && !slices.Contains(states, row.State) {
			states = append(states, row.State)
		}
	}
	flow := func(brief bool, most int) (lines []string, all bool) {
		var parts []string
		if drawn[lanes.Away] != "" {
			parts = append(parts, t.laneInk(lanes.Away).draw("▒")+" "+t.dim.draw(pick(brief, "nobody claims", "nobody can claim or renew")))
		}
		for _, s := range laneSigns {
			if glyphs := signDrawn(s.style, s.glyph, drawn[s.style]); glyphs != "" && s.rank <= most {
				text := pick(brief, s.brief, s.text)
				if figure, _ := utf8.DecodeLastRuneInString(glyphs); s.style == lanes.Again {
					text = "attempt " + pick(figure == '⁺', "10 or more", strconv.Itoa(2+utf8.RuneCountInString(attemptFigures[:max(strings.IndexRune(attemptFigures, figure), 0)])))
				}
				parts = append(parts, t.laneInk(s.style).draw(glyphs)+" "+t.dim.draw(text))
			}
		}
		if stateRank <= most {
			explained := ""
			for _, state := range states {
				glyph, kind := stateMark(t, workers.State(state))
				if word := stateWords[glyph]; word != "" && !strings.Contains(explained, glyph) {
					explained += glyph
					parts = append(parts, kind.draw(glyph)+" "+t.dim.draw(word))
				}
			}
			if slots {
				parts = append(parts, t.faint.draw("2")+" "+t.dim.draw("its second slot"))
			}
		}
		for _, part := range parts {
			if n := len(lines); n > 0 && cells(lines[n-1])+3+cells(part) <= w {
				lines[n-1] += "   " + part
				continue
			}
			lines = append(lines, part)
		}
		return lines, len(lines) <= h
	}
	if lines, _ := flow(false, stateRank); len(lines) <= min(h, marksLong) {
		return lines
	}
	for most := stateRank; most >= 0; most-- {
		if lines, all := flow(true, most); all {
			return lines
		}
	}
	return nil
}

// stateRank is the rank of what stands before the lanes.
const stateRank = 8

// stateWords say what the glyphs of states mean, but for those that are marks in the lanes too.
var stateWords = map[string]string{"●": "busy", "○": "idle", "◐": "draining", "–": "ended"}

// laneLetters says which jobs the letters are, in so many lines.
func (t *theme) laneLetters(d lanes.Drawing, w, h int) []string {
	var lines []string
	line, used := "", 0
	past := -1 // the first line with one that is
	for i, e := range d.Legend {
		letter, text, _ := strings.Cut(e.Text(), " ")
		n := 2 + safe.Width(text)
		gap := pick(used > 0, 3, 0)
		if used+gap+n > w {
			if used > 0 {
				lines = append(lines, " "+line)
			}
			line, used, gap = "", 0, 0
		}
		if more := len(d.Legend) - i; len(lines) == h || past >= 0 && len(lines)-past >= lettersPast {
			if len(lines) > 0 {
				rest := t.dim.draw(" +" + strconv.Itoa(more) + " more")
				lines[len(lines)-1] = fitLine(lines[len(lines)-1], max(w-cells(rest), 0)) + rest
			}
			return lines
		}
		if e.Past && past < 0 {
			past = len(lines)
		}
		k := t.laneInk(e.How)
		if e.How == lanes.Blank {
			k = t.dim
		}
		line += strings.Repeat(" ", gap) + k.draw(letter) + " " + t.dim.draw(text)
		used += gap + n
	}
	if used > 0 && len(lines) < h {
		lines = append(lines, " "+line)
	}
	return lines
}

// axisGap is how many cells there are between two words of the axis at least.
const axisGap = 2

// timeAxis writes how long ago a column was, in w cells that end now: in as many steps that
// can be said briefly as there is room for.
func timeAxis(span time.Duration, w int) string {
	for _, n := range []int{4, 3, 5, 2, 1} {
		step := span / time.Duration(n)
		if n > 1 && (step*time.Duration(n) != span || step%pick(span > 2*time.Minute, time.Minute, time.Second) != 0) {
			continue
		}
		line, end := "", -axisGap
		for i := range n + 1 {
			text, at := "now", w-3
			if i < n {
				text, at = spanText(span-step*time.Duration(i))+pick(i == 0, " ago", ""), i*w/n
			}
			if at < end+axisGap {
				break // they would touch
			}
			line += strings.Repeat(" ", at-len(line)) + text
			if end = len(line); i == n {
				return line
			}
		}
	}
	return safe.FitRight("now", w)
}

// spanText writes a round span: 15s, 60s, 5m.
func spanText(d time.Duration) string {
	if d%time.Minute == 0 && d > time.Minute {
		return strconv.Itoa(int(d/time.Minute)) + "m"
	}
	return strconv.Itoa(int(d/time.Second)) + "s"
}
