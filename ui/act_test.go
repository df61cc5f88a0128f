package ui

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/workers"
)

// bury puts new dead letters on top of the list, the last of them first, as the feed would.
func (w *world) bury(ids ...int64) {
	state := *w.state
	died := w.now
	var jobs []queue.Job
	for _, id := range slices.Backward(ids) {
		jobs = append(jobs, queue.Job{ID: id, Queue: "emails", Kind: "send", Status: queue.Dead, Attempts: 1, MaxAttempts: 1, LastError: "new", DiedAt: &died})
	}
	state.Dead.Latest = append(slices.Clip(jobs), state.Dead.Latest...)
	w.jobs = append(slices.Clip(jobs), w.jobs...)
	state.Dead.Signal++
	state.Dead.Total += int64(len(ids))
	state.Version++
	w.state = &state
}

// vanish takes a dead letter off the list.
func (w *world) vanish(id int64) {
	state := *w.state
	state.Dead.Latest = slices.DeleteFunc(slices.Clone(state.Dead.Latest), func(j queue.Job) bool { return j.ID == id })
	w.deletes(func(j *queue.Job) bool { return j.ID == id })
	state.Dead.Signal++
	state.Dead.Total--
	state.Version++
	w.state = &state
}

// refresh lets the list be read again.
func (s *stage) refresh() {
	s.now = s.now.Add(deadBetween)
	s.pull()
}

func TestCursorFollowsTheJob(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3", "tab", "j", "j")
	before, _ := s.app.deadTab.Job()
	for id := int64(90001); id < 90020; id++ {
		s.bury(id)
		s.refresh()
	}
	after, _ := s.app.deadTab.Job()
	if before.ID != after.ID {
		t.Errorf("the cursor went from job %d to job %d", before.ID, after.ID)
	}
	s.sees("90019")
}

func TestMarksSurviveARefresh(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3", "tab", "space", "j", "space")
	s.bury(90001)
	s.refresh()
	s.sees("2 marked")
	s.press("r")
	s.sees("REDRIVE 2 JOBS", "88007", "87981")
	s.later("y")
	if got, want := s.log(), "redrive [88007 87981] by ann@shop1"; got != want {
		t.Errorf("did %q, want %q", got, want)
	}
	s.sees("✓ redrove 2 of 2 (plan 14)")
	s.seesNot("marked")
}

// TestWrongRow: the list moves ten times a second while a destructive key and
// its confirmation arrive 30 ms apart.
func TestWrongRow(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3", "tab")
	shown, _ := s.app.deadTab.Job()
	s.press("r")
	s.bury(90001)
	s.refreshDuring(30 * time.Millisecond)
	s.press("y")
	if got := s.log(); got != "" {
		t.Fatalf("a confirmation 30 ms after the question did: %s", got)
	}
	s.vanish(shown.ID)
	s.skip = map[int64]string{shown.ID: "no such job"}
	s.refresh()
	s.sees("REDRIVE JOB 88007")
	s.later("y")
	if got, want := s.log(), "redrive [88007] by ann@shop1"; got != want {
		t.Errorf("did %q, want %q", got, want)
	}
	s.sees("skipped 1: 88007 no such job")
}

func (s *stage) refreshDuring(d time.Duration) {
	s.now = s.now.Add(d)
	s.pull()
}

func TestKeysTypedAheadNeverConfirm(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("4", "K")
	for range 50 { // held down, or typed ahead: longer than the moment itself
		s.now = s.now.Add(30 * time.Millisecond)
		s.press("y")
	}
	if got := s.log(); got != "" {
		t.Errorf("did %s", got)
	}
	s.sees("KILL WORKER w1", "88140", "88141")
	s.later("y")
	if got, want := s.log(), "kill w1"; got != want {
		t.Errorf("did %q, want %q", got, want)
	}
}

func TestPasteOnAListDoesNothing(t *testing.T) {
	t.Parallel()
	for _, tab := range []string{"1", "2", "3", "4"} {
		s := newStage(t, newWorld(), 120, 36)
		s.press(tab)
		before := s.screen().Text()
		s.send(tea.PasteStartMsg{})
		s.send(tea.PasteMsg{Content: "dy\nrk\nKyFy"})
		s.send(tea.PasteEndMsg{})
		if after := s.screen().Text(); after != before {
			t.Errorf("on tab %s a paste changed the screen to\n%s", tab, after)
		}
		if got := s.log(); got != "" {
			t.Errorf("on tab %s a paste did: %s", tab, got)
		}
	}
}

// TestUnbracketedPaste: a terminal without bracketed paste sends the text as keys.
func TestUnbracketedPasteConfirmsNothing(t *testing.T) {
	t.Parallel()
	for _, tab := range []string{"1", "2", "3", "4"} {
		for _, text := range []string{"dy\nrk\ny", "C\ny\nPy\ny", "K\ny\nF\ny", "+-d", "xbxb", "ad"} {
			s := newStage(t, newWorld(), 120, 36)
			s.press(tab)
			var keys []string
			for _, r := range text {
				keys = append(keys, pick(r == '\n', "enter", string(r)))
			}
			s.press(keys...)
			if got := s.log(); got != "" {
				t.Errorf("on tab %s %q did: %s", tab, text, got)
			}
		}
	}
}

func TestPastedOrderSaysWhyNothingWasDone(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]string{{"d", "j"}, {"j", "d"}} {
		s := newStage(t, newWorld(), 120, 36)
		s.press("4")
		s.press(keys...)
		s.sees("nothing was done")
		s.press("d")
		if got, want := s.log(), "drain "; !strings.HasPrefix(got, want) {
			t.Errorf("alone it did %q, want %q", got, want)
		}
	}
}

func TestDangerIsNeverOneKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ tab, key, asks string }{
		{"3", "r", "REDRIVE 9 JOBS"}, {"4", "K", "KILL WORKER w1"}, {"4", "F", "FREEZE WORKER w1"},
	} {
		s := newStage(t, newWorld(), 120, 36)
		s.press(c.tab, c.key)
		s.sees(c.asks)
		s.later("esc")
		s.seesNot(c.asks)
		if got := s.log(); got != "" {
			t.Errorf("%s and esc did: %s", c.key, got)
		}
	}
}

func TestWorkersAreOrderedAbout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys      []string
		did, says string
	}{
		{[]string{"d"}, "drain w1", "✓ draining w1"},
		{[]string{"+"}, "spawn emails,images 4", "✓ spawned w7 on emails, images (4 slots)"},
		{[]string{"j", "-"}, "drain w2", "✓ draining w2"},
		{[]string{"j", "F", "y"}, "freeze w2", "✓ froze w2"},
		{[]string{"n", "enter", "enter"}, "spawn emails,images 4", "✓ spawned w7"},
		{[]string{"n", "space", "j", "j", "space", "+", "enter", "y"}, "spawn images,reports 5", "(5 slots)"},
		{[]string{"j", "j", "j", "j", "backspace"}, "remove w5", "✓ w5 taken off the list"},
		{[]string{"b"}, "burst", "✓ enqueued a burst of 500 jobs"},
		{[]string{"x"}, "poison", "✓ enqueued poison: job 88200"},
	} {
		s := newStage(t, newWorld(), 120, 36)
		s.press("4")
		for _, k := range c.keys {
			s.later(k)
		}
		if got := s.log(); got != c.did {
			t.Errorf("%v did %q, want %q", c.keys, got, c.did)
		}
		s.sees(c.says)
	}
}

func TestKeysThatDoNothingSayWhy(t *testing.T) {
	t.Parallel()
	readOnly := func(w *world) { w.state.Server.ReadOnly = true }
	nobody := func(w *world) { w.crew = nil }
	none := func(w *world) { w.state.Dead.Latest, w.state.Dead.Total = nil, 0 }
	for _, c := range []struct {
		prepare func(*world)
		options []stageOption
		keys    []string
		says    string
	}{
		{nil, []stageOption{watchingOnly}, []string{"4", "n"}, "spawn: watching only"},
		{nil, []stageOption{watchingOnly}, []string{"4", "K"}, "kill: watching only"},
		{nil, []stageOption{noDemo}, []string{"b"}, "burst: only in the demonstration"},
		{readOnly, nil, []string{"3", "r"}, "redrive: this database is read-only for app"},
		{none, nil, []string{"3", "r"}, "redrive: there are no dead letters"},
		{nobody, nil, []string{"4", "d"}, "drain: no worker under the cursor"},
		{nil, nil, []string{"4", "j", "j", "j", "j", "K"}, "kill: w5 is crashed already"},
		{nil, nil, []string{"4", "backspace"}, "w1 has not ended"},
	} {
		w := newWorld()
		if c.prepare != nil {
			c.prepare(w)
		}
		s := newStage(t, w, 120, 36, c.options...)
		s.press(c.keys...)
		s.sees(c.says)
		if got := s.log(); got != "" {
			t.Errorf("%v did %s", c.keys, got)
		}
		s.press("?")
		s.sees("KEYS")
	}
}

func TestHelpGreysKeysWithTheReason(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36, watchingOnly)
	s.press("4", "?")
	s.sees("spawn a worker", "watching only: no workers run in this process", "only in the demonstration")
}

func TestSkippedJobsAreNamedWithTheReason(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.skip = map[int64]string{87994: "idempotency key in use by #88160"}
	s := newStage(t, w, 120, 36)
	s.press("3", "tab", "space", "space", "r")
	s.later("y")
	s.sees("! redrove 1 of 2 (plan 14), skipped 1: 87994 idempotency key in use by #88160")
}

func TestDetailRedrivesItsJob(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3", "tab", "j", "enter")
	s.sees("JOB 87994", "HISTORY 5", "1970670598291982290", "1e400", "-0", "the same error")
	s.press("r")
	s.later("y")
	if got, want := s.log(), "redrive [87994] by ann@shop1"; got != want {
		t.Errorf("did %q, want %q", got, want)
	}
	s.press("esc")
	s.sees("DEAD LETTERS 40")
}

// A job that is gone has no lease, whatever it had when it was read.
func TestJobThatIsGoneHasNoLease(t *testing.T) {
	t.Parallel()
	w := newWorld()
	job := sampleJob(88007)
	over := w.now.Add(-time.Second)
	job.Status, job.DiedAt, job.LockedBy, job.LeaseExpiresAt = queue.Processing, nil, "php-7", &over
	s := atJob(t, w, job, 120, 36)
	s.sees("reclaim due")
	s.send(jobMsg{id: job.ID, err: queue.ErrNotFound})
	s.sees("gone since", "php-7, until it was gone")
	s.seesNot("reclaim due")
}

func TestDetailOfAJobThatIsGone(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("3", "tab", "enter")
	s.send(jobMsg{id: s.detail().id, err: queue.ErrNotFound})
	s.sees("gone since")
	for _, one := range s.app.keys() {
		if one.label != "" && !one.out && slices.Contains([]string{"r", "e", "D", "C", "n", "t", "X"}, one.keys[0]) {
			t.Errorf("%s %s is offered", one.keys[0], one.label)
		}
	}
	s.seesNot("r redrive", "X reveal")
	for _, k := range []string{"r", "e", "D", "X"} {
		s.later(k)
		s.sees(": the job is gone")
	}
}

func TestListIsReadByPages(t *testing.T) {
	t.Parallel()
	w := newWorld()
	for id := range int64(700) {
		w.bury(100_000 + id)
	}
	s := newStage(t, w, 120, 36)
	s.press("3", "tab")
	if n := len(s.app.deadTab.list.rows); n != deadPage {
		t.Fatalf("%d jobs were read at first, want %d", n, deadPage)
	}
	s.sees("newest first, 710 below")
	s.press("G")
	s.sees("710 above ─") // the end is the end of all, not of the page
	if n := len(s.app.deadTab.list.rows); n != 740 {
		t.Errorf("%d jobs are read at the end, want 740", n)
	}
	job, _ := s.app.deadTab.Job()
	if want := w.state.Dead.Latest[739].ID; job.ID != want {
		t.Errorf("the cursor is on %d at the end, want %d", job.ID, want)
	}
}

func TestListTooLongToLoadSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld()
	var ids []int64
	for id := range int64(deadMost) {
		ids = append(ids, 100_000+id)
	}
	w.bury(ids...)
	w.state.Dead.Total, w.state.Dead.Capped = 100_000, true
	s := newStage(t, w, 120, 36)
	s.press("3", "tab")
	s.sees("newest first, 99,970+ below")
	s.press("G")
	s.sees("19,970 above, 80,000+ older not loaded")
	s.press("g")
	s.sees("newest first, 99,970+ below")
}

func TestOverdueLeaseSaysForHowLong(t *testing.T) {
	t.Parallel()
	w := newWorld()
	s := newStage(t, w, 200, 50)
	s.sees("reclaim due")
	s.pass(189 * time.Second)
	s.sees("LEASES 7", "reclaim due") // nobody knows: what was read is old
	state := *w.state
	state.Leases.Read = w.now
	w.state = &state
	s.pull()
	s.sees("overdue 3m10s")
	job := sampleJob(87002)
	ended := noon.Add(-time.Second)
	job.Status, job.DiedAt, job.LeaseExpiresAt = queue.Processing, nil, &ended
	s.press("tab", "enter")
	s.send(jobMsg{id: 87002, job: job})
	s.sees("JOB 87002", "overdue 3m10s", "last error")
}

func TestMarkAndCursorShowTogether(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.send(tea.ColorProfileMsg{Profile: colorprofile.ASCII})
	s.press("3", "tab", "space", "k")
	s.sees("│▸◆     4s  88007", "│      11s  87994")
}

// A burial by the reaper is told once, as what it was.
func TestLostWorkersBurialIsToldOnce(t *testing.T) {
	t.Parallel()
	reclaimed := watch.Event{At: noon, What: watch.Buried, Source: watch.FromWAL, JobID: 5, Owner: owner("w1", 1), Attempt: 5, Note: "attempt 5 of 5, worker lost"}
	p := picture{state: &watch.State{Clock: watch.Clock{Known: true}, Events: []watch.Event{reclaimed}}, workers: sampleWorkers()}
	told := p.journal()
	if len(told) != 1 {
		t.Fatalf("%d entries, want 1", len(told))
	}
	if got, want := p.tell(told[0]).text, "lease of w1 ran out → dead · 5/5"; got != want {
		t.Errorf("told as %q, want %q", got, want)
	}
	p.news = []workers.Event{{At: noon, What: workers.ReapedDead, JobID: 5, Owner: owner("w1", 1)}}
	if told = p.journal(); len(told) != 1 || told[0].feed == nil {
		t.Errorf("with our reaper's word for it there are %d entries, want the feed's alone", len(told))
	}
}

// Before the server answered nothing is said of what it is.
func TestUnknownServerIsNotDescribed(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.state, w.crew = &watch.State{Server: watch.Server{Host: "db1", Database: "shop", User: "app"}}, nil
	s := newStage(t, w, 120, 36)
	s.sees("leasetop  shop  app@db1")
}

// TestDatabaseThatFailsIsAskedSeldom: a refusal comes back at once, and asking
// again at once would be a storm.
func TestDatabaseThatFailsIsAskedSeldom(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{"groups": {"3"}, "list": {"3", "tab"}, "preview": {"tab", "enter"}} {
		w := newWorld()
		w.down = errors.New("connection refused")
		s := newStage(t, w, 120, 36)
		s.press(keys...)
		for range 100 { // ten seconds of pictures
			s.now = s.now.Add(100 * time.Millisecond)
			s.pull()
		}
		if n := strings.Count(s.log(), name); n < 2 || n > 6 {
			t.Errorf("in ten seconds it asked for the %s %d times", name, n)
		}
		s.sees("not read", "connection refused")
		w.down = nil
		s.now = s.now.Add(afterError)
		s.pull()
		s.seesNot("not read")
	}
}
