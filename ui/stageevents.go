package ui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/scenario"
)

// playEvent is an event of a play in words, or several in a row that say the same.
type playEvent struct {
	at    time.Time // of the first
	what  workers.What
	who   string
	text  string
	bare  string // without the number of its job
	times int
}

// happenings are the events of the play, the newest at the end.
func (s *stagePage) happenings() section {
	t := s.pic.theme
	one := func(e playEvent, w int) (lines []string) {
		glyph, kind, text := e.told()
		k := map[tone]ink{quiet: t.dim, okay: t.good, caution: t.warn, danger: t.bad}[kind]
		front := " " + t.dim.draw(safe.FitRight(s.sinceBegin(e.at), 6)) + " " + k.draw(glyph) + " "
		for i, line := range wrap(s.ownNames(text), max(w-11, 10)) {
			lines = append(lines, pick(i == 0, front, strings.Repeat(" ", 10))+t.text.draw(line))
		}
		return lines
	}
	n := max(len(fold(s.notable())), 1)
	return section{head: heading{name: "EVENTS", note: "seconds since the play began"}, need: 1, good: min(n, 3), want: min(n, 4), grows: 1, draw: func(w, h int) (lines []string) {
		events := fold(s.notable())
		if len(events) > h { // that somebody is there is seen in the lanes
			events = slices.DeleteFunc(events, func(e playEvent) bool { return e.what == workers.Spawned })
		}
		for _, e := range slices.Backward(events) {
			told := one(e, w)
			if len(lines)+len(told) > h { // an event is told from its beginning, or not at all
				if len(lines) == 0 {
					lines = told[:min(len(told), h)]
				}
				break
			}
			lines = append(told, lines...)
		}
		return lines
	}}
}

var (
	// jobNumber is where a text says which job it is about.
	jobNumber = regexp.MustCompile(`(?: of)? ?\bjob \d+:?`)
	// errorSigns are in what comes from PostgreSQL or the network as it is.
	errorSigns = regexp.MustCompile(`SQLSTATE|failed to connect|dial |EOF|refused|deadline|timeout|closed|reset|broken pipe`)
)

// fold makes one of neighbours that differ by their jobs alone.
func fold(events []scenario.Event) (all []playEvent) {
	for _, e := range events {
		h := playEvent{at: e.At, what: e.What, who: e.Worker, text: firstClause(plainOwners(e.Text), e.What == workers.DBTrouble), times: 1}
		h.bare = strings.TrimSpace(jobNumber.ReplaceAllString(h.text, ""))
		if n := len(all); n > 0 && all[n-1].what == h.what && all[n-1].who == h.who && all[n-1].bare == h.bare {
			all[n-1].times++
			continue
		}
		all = append(all, h)
	}
	return all
}

// firstClause leaves an error away that stands behind what it means.
func firstClause(text string, isError bool) string {
	clause, rest, found := strings.Cut(text, ": ")
	if found && (isError || errorSigns.MatchString(rest)) {
		return clause
	}
	return text
}

// notable are the events but for how the stage was set, once that is done.
func (s *stagePage) notable() []scenario.Event {
	events := s.of.pic.Events
	if len(s.of.pic.Steps) == 0 {
		return events
	}
	began := s.of.pic.Steps[0].Began
	return slices.DeleteFunc(slices.Clone(events), func(e scenario.Event) bool {
		return e.At.Before(began) && (e.What == workers.Spawned || e.What == "" && e.Worker == "")
	})
}

// told is it in words.
func (h playEvent) told() (glyph string, kind tone, text string) {
	glyph, text = "·", h.text
	if h.times > 1 {
		text = fmt.Sprintf("%d × %s", h.times, h.bare)
	}
	switch h.what {
	case "":
		return "▸", okay, join(h.who, text)
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
	case workers.TrustEnded:
		return "!", caution, join(h.who, text)
	case workers.LeaseLost, workers.StuckFound, workers.DBTrouble, workers.Mishap, workers.Cancelled:
		glyph, kind = "!", caution
	}
	lead := join(h.who, string(h.what))
	if strings.HasPrefix(h.bare, string(h.what)) || h.times > 1 && h.what == workers.LeaseLost {
		lead = h.who
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
