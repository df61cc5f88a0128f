package ui

import (
	"context"
	"slices"
	"sort"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue/watch"
)

// eventsTab is the whole journal, the newest at its end. The cursor stands on a line:
// on the newest, which is followed, or on another, under which nothing moves.
type eventsTab struct {
	pic    *picture
	record record
	sieve  sieve
	found  []int          // the numbers of the lines that the sieve lets through
	list   selection[int] // of those, the ones that are shown
	typing *input         // nil when nothing is being typed

	loading bool
	follow  bool // the cursor goes on to what is new
	frozen  bool // what is new is not shown
	line    int  // under the cursor, or where it was last
	left    int  // where the record ended when it was frozen, or followed no more
}

func newEventsTab() *eventsTab { return &eventsTab{follow: true} }

// Show takes a new picture.
func (e *eventsTab) Show(p *picture) { e.pic = p }

// Cycle does nothing: the list is alone.
func (e *eventsTab) Cycle(int) {}

// Input is what is being typed.
func (e *eventsTab) Input() *input { return e.typing }

// eventsMsg is what the feed has told since.
type eventsMsg struct {
	events []watch.Event
	missed uint64
}

// Load returns the command that fetches what the record lacks, up to where the picture
// goes; nil when it lacks nothing, or has to keep what is being read.
func (e *eventsTab) Load(a *app) tea.Cmd {
	last, seen := e.lastTold(), e.record.seen
	news := e.pic.news
	if e.loading || e.record.full(e.reading()) || last <= seen && heardBefore(news, e.record.heard) == len(news) {
		return nil
	}
	e.loading = true
	return a.io(func(context.Context) tea.Msg {
		events, missed := a.cfg.Feed.Events(seen)
		to := sort.Search(len(events), func(i int) bool { return events[i].Seq > last })
		return eventsMsg{events[:to], missed}
	})
}

// lastTold is the number of the last event in the picture.
func (e *eventsTab) lastTold() uint64 {
	if events := e.pic.state.Events; len(events) > 0 {
		return events[len(events)-1].Seq
	}
	return 0
}

// reading tells whether somebody looks at what is not the newest.
func (e *eventsTab) reading() bool { return e.frozen || !e.follow }

// Took takes what was fetched.
func (e *eventsTab) Took(m eventsMsg) {
	e.loading = false
	e.record.take(e.pic, m.events, m.missed)
	from := e.record.redone
	if n := sort.SearchInts(e.found, from); n < len(e.found) {
		e.found = slices.Clone(e.found[:n]) // the list still shows what it was
	}
	if !e.reading() {
		e.found = e.found[sort.SearchInts(e.found, e.record.trim()):]
		from = max(from, e.record.first)
	}
	e.sift(from)
	e.settle()
}

// sift looks through the record from a line on.
func (e *eventsTab) sift(from int) {
	for n := from; n < e.record.end(); n++ {
		if e.sieve.lets(e.pic, e.record.line(n)) {
			e.found = append(e.found, n)
		}
	}
}

// resift looks through all of it, by another sieve.
func (e *eventsTab) resift() {
	e.found = nil
	e.sift(e.record.first)
	e.settle()
}

// settle shows what was found. The cursor stays on its line, or on the next that is shown.
func (e *eventsTab) settle() {
	shown := e.found
	if e.frozen {
		shown = shown[:sort.SearchInts(shown, e.left)]
	}
	e.list.SetKeys(shown)
	switch key, ok := e.list.Key(); {
	case e.follow:
		e.list.Move(toBottom)
	case ok && key != e.line:
		e.list.at = min(sort.SearchInts(shown, e.line), len(shown)-1)
	}
	if key, ok := e.list.Key(); ok && e.follow {
		e.line = key
	}
}

// Move moves the cursor. On the newest line it follows.
func (e *eventsTab) Move(m motion) {
	e.list.Move(m)
	if key, ok := e.list.Key(); ok {
		e.line = key
	}
	followed := e.follow
	e.follow = !e.frozen && e.list.at >= len(e.list.keys)-1
	if followed && !e.follow && !e.frozen {
		e.left = e.record.end()
	}
}

// freeze keeps the list as it is, or goes on with the newest.
func (e *eventsTab) freeze() {
	e.frozen = !e.frozen
	e.follow = !e.frozen
	e.left = e.record.end()
	e.settle()
}

// fresh is how many lines have come since the list was frozen or followed no more.
func (e *eventsTab) fresh() int64 {
	if !e.reading() {
		return 0
	}
	waiting := int64(0)
	if last := e.lastTold(); last > e.record.seen && e.record.full(true) {
		waiting = int64(last - e.record.seen)
	}
	return int64(len(e.found)-sort.SearchInts(e.found, e.left)) + waiting
}

// Job is the job of the line under the cursor.
func (e *eventsTab) Job() (int64, bool) {
	key, ok := e.list.Key()
	if !ok {
		return 0, false
	}
	id := e.record.line(key).job()
	return id, id != 0
}

// Keys are what the list's keys do, and the input's while something is typed.
func (e *eventsTab) Keys(a *app) []action {
	clearText := key("esc", "clear", "show all again: take the filter away", func() tea.Cmd {
		e.typing = nil
		e.sieve.Take("", false)
		e.resift()
		return nil
	})
	if e.typing != nil {
		wrong := ""
		if e.sieve.wrong != nil {
			wrong = e.sieve.wrong.Error()
		}
		return []action{key("enter", "keep", "keep the filter", func() tea.Cmd { e.keep(); return nil }).unless(wrong), clearText}
	}
	id, ok := e.Job()
	freeze := key("space", "freeze", "freeze this list; what comes meanwhile is counted", func() tea.Cmd { e.freeze(); return nil })
	if e.frozen {
		freeze.label, freeze.help = "go on", "show the newest again"
	}
	next := e.sieve.level.next()
	keys := []action{
		openKey(a, id, ok),
		key("/", "filter", "choose by words: what:buried queue:emails kind:send job:123 worker:w3, or any text", func() tea.Cmd {
			e.typing = &input{text: e.sieve.text, at: len(e.sieve.text)}
			return nil
		}),
		key("v", "view", "view everything, all but routine, or troubles only", func() tea.Cmd {
			e.sieve.level = next
			e.resift()
			return nil
		}),
		freeze,
	}
	if e.sieve.text != "" {
		keys = append(keys, clearText)
	}
	return keys
}

// Typed takes what was changed in the input.
func (e *eventsTab) Typed() {
	e.sieve.Take(e.typing.text, true)
	e.resift()
}

// keep ends the typing, and keeps what it shows: where no name is whole, that it only
// begins so is written.
func (e *eventsTab) keep() {
	begun, text := e.hits(), e.typing.text
	e.typing = nil
	e.sieve.Take(text, false)
	e.resift()
	if begun > 0 && e.hits() == 0 {
		e.sieve.Take(text+"*", false)
		e.resift()
	}
}

// hits is how many lines the sieve lets through, but for those that it always does.
func (e *eventsTab) hits() (n int) {
	for _, number := range e.found {
		if e.record.line(number).missed == 0 {
			n++
		}
	}
	return n
}
