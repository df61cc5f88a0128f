package ui

import (
	"strconv"
	"strings"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/mask"
	"github.com/leasetop/leasetop/ui/safe"
)

// How much of one error is shown before the rest is folded.
const (
	traceMost = 8 // lines
	traceHead = 4 // lines that stay in sight
)

// ending is how one attempt ended, or what an operator did, with what its error has
// that the one before it had not.
type ending struct {
	queue.Attempt
	text  string // the error: masked, and safe
	same  bool   // as the one above it, which is newer
	since difference
	first bool // there was no error before
}

// endings prepares a job's history, newest first, and says how many secrets are masked
// in it; with reveal none is.
func endings(history []queue.Attempt, reveal bool) (out []ending, secrets int) {
	before, any := "", false // the error before, of those that have one
	for _, one := range history {
		e := ending{Attempt: one}
		if one.Error != "" {
			text := one.Error
			if masked, n := mask.Text(text); !reveal {
				text, secrets = masked, secrets+n
			} else {
				secrets += n
			}
			e.text, e.first = block(text), !any || deeds[one.Outcome]
			if any && !deeds[one.Outcome] {
				e.since = compare(before, e.text)
			}
			if !deeds[one.Outcome] {
				before, any = e.text, true
			}
		}
		out = append(out, e)
	}
	above := ""
	for i := len(out) - 1; i >= 0; i-- {
		if out[i].text != "" && !deeds[out[i].Outcome] {
			out[i].same = out[i].text == above
			above = out[i].text
		}
	}
	for i, k := 0, len(out)-1; i < k; i, k = i+1, k-1 {
		out[i], out[k] = out[k], out[i]
	}
	return out, secrets
}

// deeds are the outcomes that are no attempt's: what somebody did to the job.
var deeds = map[string]bool{
	"redriven": true, "restored": true, "discarded": true, "edited": true, "run now": true,
	"taken back": true, "undone": true, "released": true, "cancel asked": true,
}

// outcomeInk is the glyph of an outcome, and its ink.
func (t *theme) outcomeInk(outcome string) (glyph string, k ink) {
	switch outcome {
	case "retry":
		return "↻", t.warn
	case "failed", "buried":
		return "✗", t.bad
	case "lost":
		return "!", t.warn
	case "cancelled", "cancel asked":
		return "⊘", t.other
	case "redriven", "restored":
		return "↑", t.good
	case "taken back", "undone", "released":
		return "↩", t.other
	case "edited":
		return "~", t.other
	case "run now":
		return "▸", t.good
	}
	return "•", t.dim
}

// timeline lays out a history in w cells: newest first, each error with the words
// emphasised that the one before had not. An error that is the same as the one above it
// is not written twice. died tells that the job is a dead letter: it has a history, written or not. opened are the long ones that are open, by their time.
func timeline(past []ending, died bool, p *picture, opened map[int64]bool, w int) []foldRow {
	t := p.theme
	if len(past) == 0 {
		return []foldRow{{line: t.dim.draw(pick(died, "no history was recorded", "no attempt has ended badly yet"))}}
	}
	var rows []foldRow
	for i := range past {
		one := &past[i]
		place := int64(i+1) << 20
		put := func(line string, fold int64) {
			rows = append(rows, foldRow{line, fold, place + int64(len(rows))})
		}
		rail := t.faint.draw("│ ")
		if i == len(past)-1 {
			rail = "  "
		}
		key := one.At.UnixNano()
		lines, hidden := one.lines(t, w-2, opened[key])
		fold := pick(hidden > 0, key, 0)
		head, differs := one.head(p), one.differs()
		if said := (piece{"  " + differs, t.accent}); differs != "" && width(head)+safe.Width(said.text) <= w {
			head, differs = append(head, said), ""
		}
		for _, line := range foldLine(head, w, 2) {
			put(line, fold)
		}
		if differs != "" {
			put(rail+t.accent.draw(safe.Fit(differs, w-2)), fold)
		}
		for _, line := range lines {
			put(rail+line, fold)
		}
		if hidden > 0 {
			put(rail+t.accent.draw(pick(opened[key], "▾ fold "+plural(hidden, "line"), "▸ "+plural(hidden, "line")+" more")), fold)
		}
		if i < len(past)-1 {
			put(t.faint.draw("│"), 0)
		}
	}
	return rows
}

// head is what happened, when, and by whom.
func (e *ending) head(p *picture) []piece {
	t := p.theme
	glyph, k := t.outcomeInk(e.Outcome)
	head := []piece{{glyph + " ", k}, {safe.Text(e.Outcome), k}}
	if !deeds[e.Outcome] {
		head = append(head, piece{"  attempt " + strconv.Itoa(e.Attempt.Attempt), t.text})
	}
	head = append(head, piece{"  " + momentAgo(e.At, p.now), t.dim})
	if who := p.holder(e.Worker).name; who != "" {
		head = append(head, piece{"  " + pick(deeds[e.Outcome], "by ", "") + safe.Text(who), t.dim})
	}
	return head
}

// width is how wide pieces are, on one line.
func width(pieces []piece) (w int) {
	for _, p := range pieces {
		w += safe.Width(p.text)
	}
	return w
}

// differs says in words how the error differs from the one before.
func (e *ending) differs() string {
	switch {
	case e.text == "" || e.first || e.same:
		return ""
	case e.since.whole:
		return "≠ another error"
	case e.since.words > 0:
		return "≠ " + plural(e.since.words, "new word")
	}
	return ""
}

// lines draws the error; of a long one the first lines, unless it is open. hidden is
// how many lines there are beyond those.
func (e *ending) lines(t *theme, w int, open bool) (lines []string, hidden int) {
	switch {
	case e.text == "":
		return nil, 0
	case e.same:
		return []string{t.faint.draw("the same error")}, 0
	}
	lines, more := wrapLines(e.since.mark(t, e.text), w)
	lines = t.closed(lines)
	if len(lines)+more <= traceMost {
		return lines, 0
	}
	hidden = len(lines) + more - traceHead
	if more > 0 {
		lines = append(lines, t.dim.draw("… "+plural(more, "line")+" more than are shown"))
	}
	if !open {
		lines = lines[:traceHead]
	}
	return lines, hidden
}

// briefly is the first line of an error, its secrets masked. It ends in … where there is more.
func briefly(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if line == "" && text != "" {
		return "an error of blank lines"
	}
	more := rest != ""
	line = strings.TrimRight(line, " \t\r")
	if most := 1000; len(line) > most {
		line, more = strings.ToValidUTF8(line[:most], ""), true
	}
	if line, _ = mask.Text(line); more {
		line += " …"
	}
	return line
}
