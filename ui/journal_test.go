package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/workers"
)

// tellsOf is what the journal tells of these, oldest first.
func tellsOf(feed []watch.Event, news ...workers.Event) (lines []string) {
	p := picture{state: &watch.State{Clock: watch.Clock{Known: true}, Events: feed}, workers: sampleWorkers(), news: news}
	for _, h := range slices.Backward(p.journal()) {
		e := p.tell(h)
		lines = append(lines, join(e.source, e.text))
	}
	return lines
}

func TestCancelIsToldOnceWithWho(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }
	asked := watch.Event{Seq: 1, At: at(0), What: watch.CancelAsked, Source: watch.FromWAL, JobID: 5, Owner: owner("w1", 1), Note: "by ann"}
	heard := workers.Event{Seq: 1, At: at(1), What: workers.Cancelled, Worker: "w1", JobID: 5, Text: "job 5 cancelled by ann: its handler is asked to end"}
	ended := watch.Event{Seq: 2, At: at(8), What: watch.Cancelled, Source: watch.FromWAL, JobID: 5, Owner: owner("w1", 1), Note: "by ann"}
	lost := watch.Event{Seq: 2, At: at(8), What: watch.Cancelled, Source: watch.FromWAL, JobID: 5, Owner: owner("w1", 1), Note: "by ann, worker lost"}
	reaped := workers.Event{Seq: 2, At: at(8), What: workers.ReapedDead, JobID: 5, Owner: owner("w1", 1)}
	completed := watch.Event{Seq: 2, At: at(8), What: watch.Completed, Source: watch.FromWAL, JobID: 5, Owner: owner("w1", 1)}
	other := watch.Event{Seq: 3, At: at(9), What: watch.CancelAsked, Source: watch.FromWAL, JobID: 5, Owner: owner("w2", 2), Note: "by bob"}
	for name, c := range map[string]struct {
		feed []watch.Event
		news []workers.Event
		want []string
	}{
		"asked":                       {[]watch.Event{asked}, []workers.Event{heard}, []string{"wal cancel asked by ann · w1"}},
		"ended":                       {[]watch.Event{asked, ended}, []workers.Event{heard}, []string{"wal cancelled by ann · w1"}},
		"lost with its worker":        {[]watch.Event{asked, lost}, []workers.Event{heard, reaped}, []string{"wal cancelled by ann, worker lost · w1"}},
		"completed all the same":      {[]watch.Event{asked, completed}, []workers.Event{heard}, []string{"wal cancel asked by ann · w1", "wal completed by w1"}},
		"asked again after a redrive": {[]watch.Event{asked, ended, other}, nil, []string{"wal cancelled by ann · w1", "wal cancel asked by bob · w2"}},
		"not told by the feed":        {nil, []workers.Event{heard}, []string{"work w1 cancelled · job 5 cancelled by ann: its handler is asked to end"}},
	} {
		if got := tellsOf(c.feed, c.news...); !slices.Equal(got, c.want) {
			t.Errorf("%s: told %q, want %q", name, got, c.want)
		}
	}
}

func TestPausesAreEvents(t *testing.T) {
	t.Parallel()
	got := tellsOf([]watch.Event{
		{Seq: 1, At: noon, What: watch.Paused, Source: watch.Polled, Queue: "emails", Note: "by ann"},
		{Seq: 2, At: noon.Add(time.Second), What: watch.Resumed, Source: watch.Polled, Queue: "emails"},
	})
	if want := []string{"poll queue emails paused by ann", "poll queue emails resumed"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

// A burst of jobs that go well fills all of State.Events: what was buried before stays
// on the overview, once.
func TestBurstPushesNoBurialOutOfSight(t *testing.T) {
	t.Parallel()
	w := newWorld()
	state := *w.state
	state.Events, state.Notable = nil, nil
	add := func(e watch.Event) {
		e.Seq, e.Source, e.At, e.Queue, e.Count = uint64(len(state.Events)+1), watch.FromWAL, noon.Add(time.Duration(len(state.Events))*time.Millisecond), "emails", 1
		state.Events = append(state.Events, e)
		if !e.Routine() {
			state.Notable = append(state.Notable, e)
		}
	}
	add(watch.Event{What: watch.Buried, JobID: 4711, Attempt: 5, Owner: owner("w1", 1), Note: "attempt 5 of 5"})
	add(watch.Event{What: watch.Discarded, JobID: 4712, Note: "by ann"})
	for i := range 2 * watch.EventsKept {
		add(watch.Event{What: watch.Claimed, JobID: int64(9000 + i), Attempt: 1})
	}
	add(watch.Event{What: watch.Failed, JobID: 4713, Attempt: 5, Owner: owner("w1", 1), Note: "attempt 5 of 5"})
	state.Events = state.Events[len(state.Events)-watch.EventsKept:]
	w.state = &state
	s := newStage(t, w, 120, 36)
	s.sees("4711 buried by w1 · 5/5", "4712 discarded · by ann", "4713 failed for good by w1 · 5/5")

	seen := map[happeningKey]int{}
	for _, h := range s.app.pic.journal() {
		seen[h.key()]++
	}
	for key, times := range seen {
		if times > 1 {
			t.Errorf("event %d is there %d times", key.seq, times)
		}
	}
	if seen[happeningKey{seq: 1}] != 1 || seen[happeningKey{seq: state.Events[watch.EventsKept-1].Seq}] != 1 {
		t.Error("the first or the last is not there")
	}
}

func TestEverythingTheFeedTellsHasItsWords(t *testing.T) {
	t.Parallel()
	for _, what := range watch.Whats {
		if _, ok := feedWords[what]; !ok && what != watch.Health {
			t.Errorf("no words for %s", what)
		}
	}
	got := tellsOf([]watch.Event{
		{Seq: 1, At: noon, Source: watch.FromWAL, What: watch.Lost, JobID: 5, Owner: owner("w3", 1), Note: "taken over"},
		{Seq: 2, At: noon, Source: watch.FromWAL, What: watch.Discarded, JobID: 5, Note: "by ann"},
		{Seq: 3, At: noon, Source: watch.FromWAL, What: watch.Restored, JobID: 5, Note: "by ann"},
	})
	if want := []string{"wal lease lost by w3 · taken over", "wal discarded · by ann", "wal restored · by ann"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

// The clock has its hours where there is room, and where an event comes from is never cut.
func TestEventsTellTheHourAndWhereTheyComeFrom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		w, h       int
		line, list string
	}{
		{120, 36, "12:04:30 ntfy ! ", "12:04:30.800 notify ! health"},
		{80, 24, "12:04:30 ntfy ! ", "12:04:30.800 ntfy ! health"},
		{60, 20, "12:04:29 wal  ✓ ", "! health"},
		{100, 30, " 04:30 ntfy ! ", "12:04:30.800 notify ! health"},
	} {
		w := newWorld()
		w.happen(watch.Event{At: noon, Source: watch.Notice, What: watch.Health, Note: "LISTEN connection: works again"})
		s := newStage(t, w, c.w, c.h)
		s.sees(c.line)
		s.openTab("Events")
		if list := s.screen().Text(); !strings.Contains(strings.Join(strings.Fields(list), " "), c.list) || strings.Contains(list, "not…") {
			t.Errorf("%d×%d: no %q on\n%s", c.w, c.h, c.list, list)
		}
	}
}
