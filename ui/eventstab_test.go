package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/term"
)

// happen adds events to the feed, each a tenth of a second after the one before.
func (w *world) happen(events ...watch.Event) {
	state := *w.state
	state.Version++
	state.Events = slices.Clone(state.Events)
	state.Notable = slices.Clone(state.Notable)
	for _, e := range events {
		last := state.Events[len(state.Events)-1]
		e.Seq, e.At, e.Source, e.Count = last.Seq+1+e.Seq, last.At.Add(100*time.Millisecond), cmp.Or(e.Source, watch.FromWAL), max(e.Count, 1)
		state.Events = append(state.Events, e)
		if !e.Routine() {
			state.Notable = append(state.Notable, e)
		}
	}
	if over := len(state.Events) - watch.EventsKept; over > 0 {
		w.past = append(w.past, state.Events[:over]...)
		state.Events = state.Events[over:]
	}
	w.state = &state
}

// happens adds events that the screen has had time to take.
func (s *stage) happens(events ...watch.Event) {
	s.t.Helper()
	s.happen(events...)
	s.now = s.now.Add(frameEvery)
	s.pull()
}

// enqueued are so many jobs that come in, one by one.
func enqueued(n, from int) []watch.Event {
	events := make([]watch.Event, n)
	for i := range events {
		events[i] = watch.Event{What: watch.Enqueued, JobID: int64(from + i), Queue: "images", Kind: "render"}
	}
	return events
}

// openTab opens a tab by its name.
func (s *stage) openTab(name string) {
	s.t.Helper()
	i := slices.IndexFunc(s.app.tabs, func(t tab) bool { return t.name == name })
	s.press(strconv.Itoa(i + 1))
}

// typeText types it letter by letter.
func (s *stage) typeText(text string) {
	s.t.Helper()
	for _, r := range text {
		s.send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// events is a stage with the events open.
func events(t testing.TB, w *world, width, height int) *stage {
	t.Helper()
	s := newStage(t, w, width, height)
	s.openTab("Events")
	return s
}

func TestEventsTabIsDrawn(t *testing.T) {
	t.Parallel()
	blocked := "WAL stream: the write transaction of process 4711 (psql, user ann), open since 12:03:59 UTC, holds up the replication slot: attaches when it ends"
	for _, size := range [][2]int{{120, 36}, {80, 24}, {60, 20}} {
		for name, play := range map[string]func(*stage){
			"normal": func(*stage) {},
			"filtered": func(s *stage) {
				s.press("/")
				s.typeText("kind:send what:buried,claimed worker:w2,w3")
				s.press("enter")
			},
			"typing":     func(s *stage) { s.press("/"); s.typeText("queue:im"); s.press("left") },
			"mistake":    func(s *stage) { s.press("/"); s.typeText("worker:w2 what:burried "); s.sees("buried?") },
			"none":       func(s *stage) { s.press("v", "v", "/"); s.typeText("queue:nowhere "); s.press("enter") },
			"troubles":   func(s *stage) { s.press("v", "v") },
			"frozen":     func(s *stage) { s.press("space"); s.happens(enqueued(12, 89000)...) },
			"not newest": func(s *stage) { s.press("k", "k"); s.happens(enqueued(12, 89000)...) },
			"missed": func(s *stage) {
				s.happens(watch.Event{Seq: 1234, What: watch.Completed, JobID: 89000, Queue: "emails"})
			},
			"whole note": func(s *stage) {
				s.happens(watch.Event{What: watch.Health, Note: blocked}, enqueued(1, 89000)[0])
				s.press("k")
			},
			"more at one": func(s *stage) {
				s.happens(watch.Event{What: watch.Renewed, Count: 40, Queue: "emails"}, watch.Event{What: watch.Redriven, Count: 1200, Queue: "emails", Note: "1,200 jobs"})
			},
		} {
			t.Run(fmt.Sprintf("%s %dx%d", name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				s := events(t, newWorld(), size[0], size[1])
				play(s)
				term.Golden(t, s.screen())
			})
		}
	}
}

// listed is the rows of the list, without what stands around them.
func (s *stage) listed() (rows []string) {
	for _, line := range s.screen().Lines() {
		if row := strings.Trim(line, " │▸"); len(row) > 12 && row[2] == ':' && row[8] == '.' {
			rows = append(rows, strings.Join(strings.Fields(row), " "))
		}
	}
	return rows
}

// cursor is the row under the cursor.
func (s *stage) cursor() string {
	for _, line := range s.screen().Lines() {
		if row := strings.Trim(line, " │"); strings.HasPrefix(row, "▸1") {
			return strings.Join(strings.Fields(row), " ")
		}
	}
	return ""
}

func TestNewestEventIsFollowedUntilTheCursorLeavesIt(t *testing.T) {
	t.Parallel()
	s := events(t, newWorld(), 120, 36)
	s.happens(enqueued(30, 89000)...)
	if got := s.cursor(); !strings.Contains(got, " 89029 ") {
		t.Fatalf("the cursor is on %s, want the newest", got)
	}
	s.sees("following")
	s.press("k", "k", "k")
	before := s.listed()
	s.happens(enqueued(12, 89100)...)
	if after := s.listed(); !slices.Equal(after, before) || !strings.Contains(s.cursor(), " 89026 ") {
		t.Errorf("the list moved under the cursor on %s:\n%s", s.cursor(), strings.Join(after, "\n"))
	}
	s.sees("12 new below, G goes on")
	s.press("ctrl+u", "ctrl+u", "j")
	s.sees("12 new below, G goes on")
	s.press("G")
	if got := s.cursor(); !strings.Contains(got, " 89111 ") {
		t.Errorf("the cursor is on %s, want the newest", got)
	}
	s.happens(enqueued(1, 89200)...)
	if got := s.cursor(); !strings.Contains(got, " 89200 ") {
		t.Errorf("the cursor is on %s, want the newest again", got)
	}
	s.seesNot("new below")
}

func TestListIsFrozenAlone(t *testing.T) {
	t.Parallel()
	s := events(t, newWorld(), 120, 36)
	s.press("space")
	before := s.listed()
	s.happens(enqueued(12, 89100)...)
	if after := s.listed(); !slices.Equal(after, before) {
		t.Errorf("the frozen list moved to\n%s", strings.Join(after, "\n"))
	}
	s.sees("‖ LIST FROZEN", "12 new below, space goes on", "● LIVE")
	s.press("k", "G") // the end of what is frozen is no present
	s.sees("12 new below, space goes on")
	s.openTab("Overview")
	s.sees("89111 enqueued")
	s.openTab("Events")
	s.sees("12 new below, space goes on")
	s.press("space")
	if got := s.cursor(); !strings.Contains(got, " 89111 ") {
		t.Errorf("the cursor is on %s, want the newest", got)
	}
	s.seesNot("FROZEN", "new below")

	// p freezes this list with the whole picture.
	s.press("p")
	before = s.listed()
	s.happens(enqueued(5, 89300)...)
	if after := s.listed(); !slices.Equal(after, before) {
		t.Errorf("the frozen picture's list moved to\n%s", strings.Join(after, "\n"))
	}
	s.press("p")
	s.sees("89304")
}

func TestLevelsOfEvents(t *testing.T) {
	t.Parallel()
	s := events(t, newWorld(), 120, 36)
	s.happens(watch.Event{What: watch.Renewed, Count: 40, Queue: "emails"}, watch.Event{What: watch.Discarded, JobID: 5, Queue: "emails", Note: "by ann"})
	s.sees("renewed", "×40", "completed", "discarded", "everything")
	s.press("v")
	s.sees("without routine", "discarded", "buried", "frozen")
	s.seesNot("renewed", "completed  ")
	s.press("v")
	s.sees("troubles only", "buried", "frozen", "retried")
	s.seesNot("discarded", "redriven", "renewed")
	s.press("v")
	s.sees("everything", "renewed")
	s.openTab("Overview")
	s.seesNot("renewed")
}

// Overview and Events tell of a lease that ran out in the same words, whoever was the
// first to tell: the feed's, which knows the kind of the job and its attempts.
func TestExpiredLeaseIsToldAlikeEverywhere(t *testing.T) {
	t.Parallel()
	s := events(t, newWorld(), 120, 36) // our reaper tells of job 87001 first
	s.sees("12:04:29.500  reap    ↩ reclaimed          87001  images")
	s.press("/")
	s.typeText("kind:render ")
	s.press("enter")
	s.seesNot("87001")
	s.happens(watch.Event{What: watch.Reclaimed, JobID: 87001, Queue: "images", Kind: "render", Owner: owner("w5", 9), Attempt: 1, Note: "attempt 1 of 5"})
	s.sees("12:04:30.800  wal     ↩ reclaimed          87001  images/render", " w5 ", "1/5")
	s.press("esc")
	if n := strings.Count(s.screen().Text(), "87001"); n != 1 {
		t.Errorf("it is told %d times on\n%s", n, s.screen().Text())
	}
	s.openTab("Overview")
	s.sees("12:04:30 wal  ↩ 87001 lease of w5 ran out → pendi")
	if n := strings.Count(s.screen().Text(), "87001"); n != 1 {
		t.Errorf("it is told %d times on\n%s", n, s.screen().Text())
	}
}

func TestEnterOpensTheJobAndComesBackToItsEvent(t *testing.T) {
	t.Parallel()
	s := events(t, newWorld(), 120, 36)
	s.press("k", "k")
	was := s.cursor()
	s.press("enter")
	if s.detail() == nil || !strings.Contains(was, strconv.FormatInt(s.detail().id, 10)) {
		t.Fatalf("enter on %s opened %+v", was, s.detail())
	}
	s.happens(enqueued(40, 89000)...)
	s.press("esc")
	if got := s.cursor(); got != was {
		t.Errorf("the cursor is on %q, was on %q", got, was)
	}
	s.sees("40 new below")
}

// The feed keeps far more than the State, and the tab shows all of it.
func TestEventsTabGoesBackAsFarAsTheFeed(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.happen(enqueued(12_000, 100_000)...)
	s := events(t, w, 120, 36)
	s.sees("EVENTS 12,034", "111999")
	s.press("g")
	s.sees("12:03:53.600", "88088") // the first of the sample
	s.press("/")
	s.typeText("job:105000")
	if got := s.listed(); len(got) != 1 || !strings.Contains(got[0], " 105000 images/render") {
		t.Errorf("found %q", got)
	}
}

// Whoever reads an old event is not pushed off it, and memory stays bounded: what comes
// then waits with the feed, and what the feed no longer has is told as missed.
func TestReadingIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld()
	s := events(t, w, 120, 36)
	s.press("k")
	was := s.cursor()
	n := 0
	for range 10 {
		s.happen(enqueued(9_000, 100_000+n)...)
		if n += 9_000; len(w.past) > recordKept {
			w.past = w.past[len(w.past)-recordKept:]
		}
		s.happens()
	}
	if got := s.cursor(); got != was {
		t.Errorf("the cursor is on %q, was on %q", got, was)
	}
	if lines := len(s.app.events.record.lines); lines > recordMost+9_000 {
		t.Errorf("%d lines are kept", lines)
	}
	s.sees("90,000 new below, G goes on")
	s.press("G")
	s.sees(" missed", "189999")
	if e := s.app.events; len(e.record.lines) > recordMost || e.record.seen != w.state.Events[watch.EventsKept-1].Seq || !e.follow {
		t.Errorf("%d lines up to event %d, following %v", len(e.record.lines), e.record.seen, e.follow)
	}
}

func TestFollowingIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld()
	s := events(t, w, 120, 36)
	s.press("v") // and so is what is found
	s.press("v", "v")
	for n := range 20 {
		s.happen(enqueued(5_000, 100_000+5_000*n)...)
		s.happens()
		w.past = nil
	}
	e := s.app.events
	if lines := len(e.record.lines); lines > recordMost || len(e.found) != lines || e.found[0] != e.record.first {
		t.Errorf("%d lines are kept from %d on, %d found", lines, e.record.first, len(e.found))
	}
}

// Whoever typed it, and whatever the events hold: the list stays straight.
func TestHostileEventsDoNothing(t *testing.T) {
	t.Parallel()
	for _, text := range hostile {
		for _, size := range [][2]int{{120, 36}, {80, 24}} {
			w := newWorld()
			w.poison(text)
			s := events(t, w, size[0], size[1])
			s.app.clustered = true
			s.happens(watch.Event{What: watch.What(text), Queue: text, Kind: text, Owner: text + ":1:x/" + text + "#3", Note: text})
			harmless(t, s)
			s.press("k")
			harmless(t, s)
			s.press("/")
			s.send(tea.PasteMsg{Content: text})
			harmless(t, s)
			s.press("left", "left", "backspace", "delete", "home")
			harmless(t, s)
			s.press("enter")
			harmless(t, s)
			s.press("/", "end")
			s.typeText(" what:" + text[:min(len(text), 100)])
			harmless(t, s)
			s.press("esc", "?")
			harmless(t, s)
		}
	}
}

func TestEventsTabAtEverySize(t *testing.T) {
	t.Parallel()
	s := events(t, newWorld(), 120, 36)
	each := func() {
		for _, size := range [][2]int{{0, 0}, {1, 1}, {20, 5}, {59, 20}, {60, 20}, {61, 21}, {79, 24}, {80, 24}, {95, 26}, {96, 26}, {120, 20}, {60, 90}, {500, 200}} {
			s.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			s.screen()
		}
		s.send(tea.WindowSizeMsg{Width: 120, Height: 36})
	}
	each()
	s.press("k", "space")
	each()
	s.press("/")
	s.typeText("what:burried nothing at all is like this, however long it is, and whatever the width of the window may be at this moment")
	each()
	s.press("esc", "v", "v")
	each()
}

// Whose claim ended is not who ended it: an operator who takes a job back from a worker
// that is gone leaves the same row as that worker when it gives the job back.
func TestReleasedJobIsNotSaidToBeReleasedByItsOwner(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.happens(watch.Event{What: watch.Released, JobID: 42004, Count: 1, Queue: "emails", Owner: "w9@vm"})
	s.sees("released from w9@vm")
	s.seesNot("released by")
}
