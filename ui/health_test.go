package ui

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/term"
)

// sound is a checkup that found nothing.
func sound() watch.Checkup {
	return watch.Checkup{
		Read: noon.Add(-2 * time.Second), At: noon.Add(-2 * time.Second),
		Drift: watch.Drift{Checked: noon.Add(-3 * time.Minute), Jobs: 1545},
		Rows:  watch.Rows{Live: 245_480, Dead: 1204, VacuumFrom: 5000, Autovacuumed: noon.Add(-4 * time.Minute), Age: 1_204_311, FreezeFrom: 200_000_000},
		Slots: []watch.Slot{{Name: "leasetop_feed_1", Own: true, Feed: true, Active: true, Held: 3 << 20, Status: "reserved"}},
		Parts: []watch.Part{
			{Kind: "index", Table: "jobs", Name: "jobs_ready", State: watch.PartFine, Without: "each claim reads the whole table", Made: "(queue, run_at, id) WHERE (status = 'pending'::text)"},
			{Kind: "index", Table: "jobs", Name: "jobs_dead", State: watch.PartFine, Without: "each page of dead letters reads the whole table", Made: "(queue, died_at, id) INCLUDE (status) WHERE (status = ANY (ARRAY['failed'::text, 'dead'::text]))"},
			{Kind: "trigger", Table: "jobs", Name: "jobs_notify_ready", State: watch.PartFine, Without: "workers find the jobs of others than this library when they look next, up to seconds later"},
			{Kind: "publication", Table: "jobs", Name: "leasetop_jobs", State: watch.PartFine, Without: "changes are not told, or told wrongly", Made: "(id, queue, status)"},
		},
	}
}

// troubled is a checkup that found something of each grade.
func troubled() watch.Checkup {
	c := sound()
	c.Parts[1].State, c.Parts[2].State = watch.PartInvalid, watch.PartOff
	c.Notifications, c.Hidden = 0.12, 3
	c.Open = []watch.Transaction{
		{PID: 4711, Name: "night report", User: "ann", Database: "shop", Here: true, State: "idle in transaction", Began: noon.Add(-72 * time.Minute), Looks: true},
		{Name: "it's left", User: "crm", Database: "crm", State: "prepared", Began: noon.Add(-6 * time.Minute), Writes: true, Looks: true},
	}
	c.Slots = append(c.Slots, watch.Slot{Name: "replica_2", Held: 5 << 30, Status: "extended"})
	return c
}

// streamed has the counts come from the stream.
func (w *world) streamed(c watch.Checkup) *world {
	w.state.Depths.Source, w.state.Health = watch.FromWAL, c
	return w
}

func TestHealthPanel(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 36}, {80, 24}, {60, 20}, {200, 50}} {
		for _, c := range []struct {
			name    string
			prepare func(w *world)
			keys    []string
		}{
			{"well", func(w *world) { w.streamed(sound()) }, []string{"h"}},
			{"troubled", func(w *world) { w.streamed(troubled()) }, []string{"h"}},
			{"troubled, the end", func(w *world) { w.streamed(troubled()) }, []string{"h", "G"}},
			{"polling", func(w *world) {
				w.state.Health, w.state.Depths.Source = sound(), watch.Polled
				w.state.Health.Slots, w.state.Health.Drift = nil, watch.Drift{}
				w.state.WAL = watch.Link{Since: noon.Add(-time.Hour), Reason: "wal_level is replica: ALTER SYSTEM SET wal_level = 'logical' and restart PostgreSQL"}
			}, []string{"h"}},
			{"a refused row", func(w *world) {
				w.streamed(sound())
				w.state.Health.Refused = []queue.Refused{{Refusal: badRow(90210), Queue: "emails", First: noon.Add(-3 * time.Minute), Last: noon.Add(-20 * time.Second), Times: 8}}
			}, []string{"h"}},
			{"closed", func(w *world) { w.streamed(troubled()) }, nil},
		} {
			t.Run(fmt.Sprintf("%s %dx%d", c.name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				w := newWorld()
				c.prepare(w)
				s := newStage(t, w, size[0], size[1])
				for _, k := range c.keys {
					s.press(k)
					s.screen() // it knows its length once it was drawn
				}
				term.Golden(t, s.screen())
			})
		}
	}
}

// The header has one word for all there is to look at, in the worst one's colour; what
// is well or cannot be seen is none, and what the header says already is not counted.
func TestHeaderSaysHowMuchThereIsToLookAt(t *testing.T) {
	t.Parallel()
	for _, width := range []int{80, 120} {
		w := newWorld()
		s := newStage(t, w, width, 36)
		s.seesNot("health", "drift")
		w.streamed(sound())
		w.state.Health.Hidden = 3
		w.state.Notify = watch.Link{Reason: "refused", Since: noon}
		s.pull()
		s.seesNot("health")
		w.state.Health.Notifications = 0.2
		s.pull()
		s.sees("! 1 health", "h health")
		w.state.Health = troubled()
		s.pull()
		s.sees("✗ 6 health")
	}
	w := newWorld().streamed(sound())
	s := newStage(t, w, 120, 36)
	s.sees("drift 0")
	w.state.Health.Drift.Off = 3
	s.pull()
	s.sees("drift 3", "! 1 health")
}

// A comparison speaks of the counts of one stream: of those of the next it says nothing.
func TestDriftDoesNotOutliveItsStream(t *testing.T) {
	t.Parallel()
	w := newWorld().streamed(sound())
	s := newStage(t, w, 120, 36)
	s.sees("drift 0")
	w.state.WAL = watch.Link{Since: noon, Attaching: true}
	s.pull()
	s.seesNot("drift")
	w.state.WAL = watch.Link{OK: true, Since: noon}
	s.pull()
	s.seesNot("drift")
	w.state.Health.Drift.Checked = noon.Add(time.Minute)
	s.pull()
	s.sees("drift 0")
	s.press("?")
	s.screen() // it knows its length once it was drawn
	s.press("G")
	s.sees("drift: how many figures", "60s, the small bars: how many jobs left (OUT)")
}

func TestHealthOpensFromEverywhereAndCloses(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld().streamed(sound()), 120, 36)
	for _, page := range [][]string{{"1"}, {"2"}, {"2", "enter"}, {"3"}, {"4"}} {
		s.press(page...)
		for _, closes := range []string{"h", "q", "esc"} {
			s.press("h")
			s.sees("HEALTH all well", "counts against the table")
			s.press(closes)
			s.seesNot("HEALTH")
		}
	}
	if s.log() != "" {
		t.Errorf("it did %s", s.log())
	}
}

// Panel and header count the same: sources have marks of their own in the header.
func TestHealthPanelAgreesWithTheHeader(t *testing.T) {
	t.Parallel()
	w := newWorld().streamed(sound())
	polled(w.state, noStream)
	s := newStage(t, w, 120, 36)
	s.sees("WAL ✗", "polled, up to 2s apart")
	s.seesNot(" health ")
	s.press("h")
	s.sees("HEALTH 1 source down or late", "counts and leases, up to 2s apart")
	s.seesNot("to look at")
	w.state.Health.Notifications = 0.2
	s.pull()
	s.sees("! 1 health", "HEALTH 1 to look at, 1 source down or late")
}

func TestHelpOpensOverTheHealthPanel(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld().streamed(sound()), 120, 36)
	s.press("h", "?")
	s.sees("KEYS", "compare the counts with the table: every job", "Where the picture comes from")
	s.seesNot("enqueue a burst")
	s.press("esc")
	s.sees("HEALTH all well")
	s.seesNot("KEYS")
	s.press("esc")
	s.seesNot("HEALTH")
}

// Where there is little room, the header says where the counts come from and what there is
// to look at before the program's name.
func TestSmallHeaderKeepsWhereTheCountsComeFrom(t *testing.T) {
	t.Parallel()
	w := newWorld().streamed(troubled())
	newStage(t, w, 60, 20).sees(" shop ", "WAL ✓", "✗ 6 health", "● LIVE")
	polled(w.state, noStream)
	newStage(t, w, 60, 20).sees(" shop ", "POLL ~", "✗ 6 health", "● LIVE")
}

// The panel goes on while it is open.
func TestOpenHealthPanelIsLive(t *testing.T) {
	t.Parallel()
	w := newWorld().streamed(troubled())
	s := newStage(t, w, 120, 36)
	s.press("h")
	s.sees("open for 1h12m")
	s.pass(time.Minute)
	s.sees("open for 1h13m")
	state := *w.state
	state.Health = sound()
	w.state = &state
	s.pull()
	s.sees("HEALTH all well")
}

func TestCountsAreComparedOnDemand(t *testing.T) {
	t.Parallel()
	w := newWorld().streamed(sound())
	s := newStage(t, w, 120, 36)
	s.press("h")
	s.sees("0 figures off, 1,545 jobs compared, 3m ago", "c  compare the counts")
	_, cmd := s.app.Update(keyPress("c"))
	s.sees("comparing…")
	s.press("c")
	s.sees("compare the counts: a comparison is under way")
	s.press("esc")
	s.run(cmd)
	s.sees("compared 1,204 jobs with the table: the counts agree")
	s.send(comparedMsg{drift: watch.Drift{Jobs: 7, Off: 2}})
	s.sees("2 counts off; the stream attaches again")
	s.send(comparedMsg{err: errors.New("all replication slots are in use")})
	s.sees("compare the counts: all replication slots are in use")
	if got := s.log(); got != "reconcile" {
		t.Errorf("it did %s", got)
	}
}

func TestPolledCountsCannotBeCompared(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.state.Health, w.state.Depths.Source = sound(), watch.Polled
	s := newStage(t, w, 120, 36)
	s.press("h")
	s.sees("c  compare: the counts do not come from the stream now")
	s.press("c")
	s.sees("! compare the counts: the counts do not come")
	if s.log() != "" {
		t.Errorf("it did %s", s.log())
	}
}

// Ages of what is wrong, and figures that move a little, draw nothing anew while the
// panel is closed.
func TestClosedHealthPanelWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld().streamed(troubled())
	w.crew = nil
	w.state.Leases.List, w.state.Leases.Total = nil, 0
	w.state.Dead.Latest, w.state.Dead.Total = nil, 0
	for i := range w.state.Depths.Queues {
		w.state.Depths.Queues[i].OldestReady, w.state.Depths.Queues[i].Ready = 0, 0
	}
	s := newStage(t, w, 120, 36, noDemo)
	before := s.app.View()
	for i := range 25 { // within the minute that the clock shows
		s.now = s.now.Add(time.Second)
		state := *w.state
		state.Version++
		state.Depths.Read, state.Leases.Read, state.Health.Read, state.Health.At = s.now, s.now, s.now, s.now
		state.Health.Rows.Dead += int64(i)
		state.Health.Notifications += 0.001
		w.state = &state
		s.pull()
	}
	if after := s.app.View(); after.Content != before.Content {
		t.Errorf("the screen changed although nothing did:\n%s", s.screen().Text())
	}
}
