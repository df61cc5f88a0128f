package ui

import (
	"cmp"
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
	bare  string   // without the number of its job
	jobs  []string // that it is about, where there are several
	times int
}

// eventsLeast is how many lines of events are worth a place of their own.
const eventsLeast = 3

// happenings are the events of the play, the newest at the end: where there is no room
// for all, those that decide the story; where there is none, the newest of those in the
// heading, if it may stand there. The block is w cells wide.
func (s *stagePage) happenings(w int, boxed bool) section {
	all := fold(s.notable())
	drawn := make([][]string, len(all))
	total := 0
	for i := range all {
		drawn[i] = s.happening(&all[i], w)
		total += len(drawn[i])
	}
	chosen := func(h int) []int { return choose(all, func(i int) int { return len(drawn[i]) }, h) }
	least, inHead := 1, ""
	if first := chosen(1); len(first) > 0 {
		least = min(len(drawn[first[0]]), 3)
		e := &all[first[0]]
		glyph, _, text := e.told()
		inHead = s.sinceBegin(e.at) + " " + glyph + " " + s.ownNames(text)
	}
	block := section{
		titled: func(_, h int) heading {
			head := heading{name: "EVENTS", note: "seconds since the play began"}
			if h == 0 {
				head.rest, head.note = inHead, ""
			} else if more := len(all) - len(chosen(h)); more > 0 {
				head.rest = fmt.Sprintf("+%d more", more)
			}
			return head
		},
		need: least, good: max(min(total, eventsLeast), least), want: max(min(total, 8), least), grows: 2, last: 1,
		uses: func(h int) (n int) {
			for _, i := range chosen(h) {
				n += len(drawn[i])
			}
			return min(n, h)
		},
		draw: func(_, h int) (lines []string) {
			if h == 0 {
				return nil
			}
			for _, i := range chosen(h) {
				lines = append(lines, drawn[i]...)
			}
			return lines[:min(len(lines), h)]
		},
	}
	if !boxed && len(all) > 0 && safe.Width(safe.Text(inHead))+len("EVENTS")+10 <= w {
		block.need, block.whole = 0, true
	}
	return block
}

// happening draws an event in w cells, in as many lines as its words need.
func (s *stagePage) happening(e *playEvent, w int) (lines []string) {
	t := s.pic.theme
	glyph, kind, text := e.told()
	k := map[tone]ink{quiet: t.dim, okay: t.good, caution: t.warn, danger: t.bad}[kind]
	front := " " + t.dim.draw(safe.FitRight(s.sinceBegin(e.at), 6)) + " " + k.draw(glyph) + " "
	for i, line := range wrap(s.ownNames(text), max(w-11, 10)) {
		lines = append(lines, pick(i == 0, front, strings.Repeat(" ", 10))+t.text.draw(line))
	}
	return lines
}

// choose picks events for h lines, by their weight, the newest of the same weight first;
// one at least. An event is told whole, or not at all. They are in order of time.
func choose(all []playEvent, lines func(int) int, h int) []int {
	order := make([]int, len(all))
	for i := range order {
		order[i] = len(all) - 1 - i
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(all[k].weight(), all[i].weight()) })
	sum := 0
	for i := range all {
		sum += lines(i)
	}
	crowded := sum > h
	var chosen []int
	least := 0
	for _, i := range order {
		if all[i].weight() < least {
			break
		}
		if crowded && all[i].what == workers.Spawned && len(chosen) > 0 {
			break // that somebody is there is seen in the lanes
		}
		n := lines(i)
		if n > h && len(chosen) > 0 { // a shorter one that means as much may have room
			least = all[i].weight()
			continue
		}
		h -= n
		chosen = append(chosen, i)
	}
	slices.Sort(chosen)
	return chosen
}

// weight is how much an event means for the story: what it says itself, and then what
// became of jobs and workers, goes before what the runtime tells besides.
func (h *playEvent) weight() int {
	switch h.what {
	case "":
		return 4
	case workers.ReapedBack, workers.ReapedDead, workers.StaleFenced, workers.Killed, workers.Panicked:
		return 3
	case workers.Froze, workers.Thawed, workers.Cancelled, workers.StuckFound, workers.Mishap, workers.RowRefused:
		return 2
	case workers.DBTrouble, workers.TrustEnded, workers.LeaseLost:
		return 1
	}
	return 0 // spawned, draining, stopped: that is seen in the lanes
}

var (
	// jobNumber is where a text says which job it is about.
	jobNumber = regexp.MustCompile(`(?: of)? ?\bjob \d+:?`)
	// errorSigns are in what comes from PostgreSQL or the network as it is.
	errorSigns = regexp.MustCompile(`SQLSTATE|connect to |dial |EOF|refused|deadline|timeout|closed|reset|broken pipe`)
)

// jobsNamed is of how many jobs one event names all.
const jobsNamed = 3

// fold makes one of neighbours that differ by their jobs alone. What one look found are
// neighbours, unless what stands between is about the same job.
func fold(events []scenario.Event) (all []playEvent) {
	for _, e := range events {
		h := playEvent{at: e.At, what: e.What, who: e.Worker, text: firstClause(plainOwners(e.Text), e.What == workers.DBTrouble), times: 1}
		h.bare = strings.TrimSpace(jobNumber.ReplaceAllString(h.text, ""))
		if of := ofJob.FindStringSubmatch(h.text); of != nil {
			h.jobs = []string{of[1]}
		}
		if before := alike(all, &h); before != nil {
			before.times++
			for _, job := range h.jobs {
				if !slices.Contains(before.jobs, job) {
					before.jobs = append(before.jobs, job)
				}
			}
			continue
		}
		all = append(all, h)
	}
	return all
}

// alike is the event before h that says the same, of another job maybe; nil when there is none.
func alike(all []playEvent, h *playEvent) *playEvent {
	for i := len(all) - 1; i >= 0; i-- {
		before := &all[i]
		if before.what == h.what && before.who == h.who && before.bare == h.bare {
			return before
		}
		if len(h.jobs) == 0 || h.at.Sub(before.at) > oneLook || slices.Contains(before.jobs, h.jobs[0]) {
			return nil
		}
	}
	return nil
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
	pic := &s.of.pic
	events := slices.Clone(pic.Events)
	if len(pic.Steps) > 0 {
		began := pic.Steps[0].Began
		events = slices.DeleteFunc(events, func(e scenario.Event) bool {
			return e.At.Before(began) && (e.What == workers.Spawned || e.What == "" && e.Worker == "")
		})
	}
	for _, o := range pic.Outages {
		if !o.Ended.IsZero() {
			events = append(events, scenario.Event{At: o.Ended, Text: o.Text + ": over, after " + short(o.Ended.Sub(o.Began))})
		}
	}
	slices.SortStableFunc(events, func(a, b scenario.Event) int { return a.At.Compare(b.At) })
	return causesFirst(events)
}

// oneLook is within how long the cause of an event may be known later than the event is.
const oneLook = time.Second

var (
	// takesOver is a story's note that somebody has a job that was another's: which one, where one is named.
	takesOver = regexp.MustCompile(`^takes (?:job (\d+)|.*) over\b`)
	// ofJob is which job an event is about.
	ofJob = regexp.MustCompile(`\bjob (\d+)`)
)

// causesFirst has jobs lost before they are taken over: both may be found in one look, and
// not in that order. A loss that is known later was no later than that.
func causesFirst(events []scenario.Event) []scenario.Event {
	for i := 0; i < len(events); i++ {
		over := takesOver.FindStringSubmatch(events[i].Text)
		if events[i].What != "" || over == nil {
			continue
		}
		taken := events[i].At
		for k := i + 1; k < len(events) && events[k].At.Sub(taken) <= oneLook; k++ {
			if what := events[k].What; what != workers.ReapedBack && what != workers.LeaseLost {
				continue
			}
			if of := ofJob.FindStringSubmatch(events[k].Text); over[1] == "" || of != nil && of[1] == over[1] {
				loss := events[k]
				loss.At = taken
				copy(events[i+1:k+1], events[i:k])
				events[i] = loss
				i++
			}
		}
	}
	return events
}

// told is it in words.
func (h playEvent) told() (glyph string, kind tone, text string) {
	glyph, text = "·", h.text
	several := h.times > 1
	switch {
	case several && len(h.jobs) == h.times && h.times <= jobsNamed:
		text = strings.Replace(h.text, "job "+h.jobs[0], "jobs "+strings.Join(h.jobs, ", "), 1)
		text = strings.Replace(text, ": its ", ": their ", 1)
	case several:
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
	case workers.LeaseLost, workers.StuckFound, workers.DBTrouble, workers.Mishap, workers.Cancelled, workers.RowRefused:
		glyph, kind = "!", caution
	}
	lead := join(h.who, string(h.what))
	if strings.HasPrefix(h.bare, string(h.what)) || several && h.what == workers.LeaseLost {
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
