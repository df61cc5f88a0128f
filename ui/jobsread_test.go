package ui

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
)

// longTable makes the world's table n jobs long.
func (w *world) longTable(n int) {
	for id := w.jobs[len(w.jobs)-1].ID - 1; len(w.jobs) < n; id-- {
		w.jobs = append(w.jobs, queue.Job{ID: id, Queue: "emails", Kind: "send", Status: queue.Completed, Attempts: 1, MaxAttempts: 5, UpdatedAt: noon.Add(-time.Hour)})
	}
}

// From the newest job to the oldest and back, while jobs come on top and others go: each
// step of the cursor is one step in the table.
func TestScrollingThroughALongTable(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.longTable(2300)
	s := newStage(t, w, 80, 24)
	s.press("2")
	random := rand.New(rand.NewPCG(3, 4))
	walk := func(key string, end func() int64) {
		still := 0
		for step := range 20_000 {
			if step%40 == 0 { // somewhere a job goes
				gone := s.jobs[random.IntN(len(s.jobs))].ID
				s.deletes(func(j *queue.Job) bool { return j.ID == gone })
				s.settle()
			}
			if step%100 == 0 {
				s.enqueues("emails")
				s.settle()
			}
			at := s.under()
			s.press(key)
			to := s.under()
			for _, j := range s.jobs {
				if j.ID > min(at, to) && j.ID < max(at, to) {
					t.Fatalf("%s went from job %d to %d, past %d", key, at, to, j.ID)
				}
			}
			if n := len(s.rows()); n > jobsMost {
				t.Fatalf("%d rows are loaded", n)
			}
			if step%100 == 0 {
				s.screen()
			}
			if still++; to != at {
				still = 0
			}
			if still == 3 { // once or twice it may be that the job went on which the cursor came
				if to != end() {
					t.Fatalf("%s ended at job %d, the last is %d\n%s", key, to, end(), s.screen().Text())
				}
				return
			}
		}
		t.Fatalf("%s came to no end", key)
	}
	walk("j", func() int64 { return s.jobs[len(s.jobs)-1].ID })
	s.press("ctrl+r")
	walk("k", func() int64 { return s.jobs[0].ID })
}

// vast is a table of five million completed jobs, three of them in the queue rare.
type vast struct{ *world }

var rare = []int64{4_000_000, 2_500_000, 1_000}

func (v vast) Scan(_ context.Context, f queue.Filter, s queue.Stretch) (found queue.Found, err error) {
	v.looks = append(v.looks, question{filter: f, stretch: s})
	const most = int64(5_000_000)
	first, last := most, int64(1)
	if s.From != nil {
		first = min(s.From.ID-1, most)
	}
	last = max(first-int64(s.Look)+1, 1)
	if s.Up {
		first, last = int64(s.Look), 1
		if s.From != nil {
			last = s.From.ID + 1
			first = min(s.From.ID+int64(s.Look), most)
		}
	}
	if f.Queue != "rare" { // a page of the others, wherever
		for id := first; id > first-int64(s.Limit); id-- {
			found.Jobs = append(found.Jobs, queue.Job{ID: id, Queue: "emails", Status: queue.Completed, UpdatedAt: noon})
		}
		last = first - int64(s.Limit) + 1
	}
	for _, id := range rare {
		if f.Queue == "rare" && id <= first && id >= last {
			found.Jobs = append(found.Jobs, queue.Job{ID: id, Queue: "rare", Kind: "send", Status: queue.Completed, Attempts: 1, MaxAttempts: 5, UpdatedAt: noon})
		}
	}
	found.Looked, found.Newest = int(first-last+1), first
	if !s.Up && last > 1 {
		found.Next = &queue.Cursor{ID: last}
	}
	if s.Up && first < most {
		found.Next = &queue.Cursor{ID: first}
	}
	return found, nil
}

// rareQueue has the dashboard look at that table.
func rareQueue(c *Config) { c.Jobs = vast{c.Jobs.(*world)} }

// It looks at so many jobs, says how far it came, and goes on when it is told to.
func TestRareJobsAreLookedForInBoundedSteps(t *testing.T) {
	t.Parallel()
	w := newWorld()
	s := newStage(t, w, 100, 30, rareQueue)
	s.press("2", "Q", "r", "a", "r", "e", "enter")
	s.sees("JOBS rare · any status", "looked at 200,000 jobs down to id 4,800,001, none yet · space or enter looks further", "space further")
	if n := len(s.looks); n != 21 { // one for the list of all jobs
		t.Errorf("asked %d times", n)
	}
	for _, q := range s.looks {
		if q.stretch.Look > jobsLook {
			t.Errorf("a question looks at %d jobs", q.stretch.Look)
		}
	}
	s.pass(time.Minute)
	s.pull()
	if n := len(s.looks); n != 21 {
		t.Errorf("asked %d times when nobody wanted more", n)
	}
	s.press("enter", "space")
	s.sees("looked at 800,000 jobs down to id 4,200,001, none yet")
	s.press("enter")
	s.sees("▸4000000", "looked at 1,600,000 jobs down to id 3,400,001 · space looks further")
	s.press("space")
	s.sees("▸4000000", " 2500000", "looked at 3,200,000 jobs down to id 1,800,001 · space looks further")
	s.press("space")
	s.sees("▸4000000", " 2500000", "    1000")
	s.seesNot("further", "looked")
	for range 3 {
		s.press("j")
	}
	if got := s.under(); got != 1000 {
		t.Errorf("the cursor ends on %d", got)
	}
	s.press("g")
	s.sees("▸4000000", "    1000") // what is loaded stays so
	s.press("G")
	if got := s.under(); got != 1000 {
		t.Errorf("the cursor ends on %d", got)
	}
}

// The end of a long list is read from there, not by way of all that is before it.
func TestOldestJobsAreReadFromTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld()
	s := newStage(t, w, 100, 30, rareQueue)
	s.press("2", "Q", "r", "a", "r", "e", "enter", "G")
	s.sees("▸ 1000", "looked at 200,000 jobs up to id 200,000 · space looks further")
	s.press("space")
	s.sees("up to id 400,000")
	s.press("g")
	s.sees("looked at 200,000 jobs down to id 4,800,001, none yet · space or enter looks further")
}

// The cursor stays on its job while others come on top, and goes to the next older one
// when the job leaves.
func TestCursorOfTheJobsFollowsTheJob(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 80, 24)
	s.press("2", "j", "j", "j")
	at := s.under()
	for range 60 {
		s.enqueues("emails")
		s.enqueues("images")
		s.settle()
	}
	if s.under() != at {
		t.Errorf("the cursor went from job %d to %d", at, s.under())
	}
	s.sees("▸" + itoa(at))
	next := s.rows()[s.app.jobsTab.list.at+1]
	s.deletes(func(j *queue.Job) bool { return j.ID == at })
	s.enqueues("emails")
	s.settle()
	if s.under() != next {
		t.Errorf("the cursor went from job %d, which is gone, to %d, not to %d", at, s.under(), next)
	}
}

// A job that changed its status leaves a list of that status, and its row tells of the
// change in the list of all.
func TestChangedJobsAreReadAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 80, 24)
	s.press("2")
	s.sees("88154  images/render  ○ ready")
	done := func(j *queue.Job) { j.Status, j.UpdatedAt = queue.Completed, s.now }
	s.changes(88154, done)
	s.settle()
	s.sees("88154  images/render  ✓ completed   0/5  2s ago")
	s.press("s")
	s.sees("▸88152")
	s.changes(88152, done)
	s.settle()
	s.sees("▸88148")
	s.seesNot("88152")
}

// What nobody asked for: once in two seconds, when the feed told of a change among the
// jobs chosen, and only of what is in sight.
func TestJobsAreReadGentlyByThemselves(t *testing.T) {
	t.Parallel()
	w := newWorld()
	s := newStage(t, w, 80, 24)
	s.press("2", "]")
	s.sees("JOBS emails")
	asked := func(what string, want int) {
		t.Helper()
		if n := len(s.looks); n != want {
			t.Fatalf("%s: asked %d times, want %d", what, n, want)
		}
	}
	asked("opened", 2)
	for20s := func(each func()) {
		for range 200 {
			s.now = s.now.Add(100 * time.Millisecond)
			each()
			s.pull()
		}
	}
	for20s(func() {
		state := *s.state
		state.Version++
		s.state = &state
	})
	asked("nothing changed", 2)
	for20s(func() { s.told(watch.Completed, 88147, "images") })
	asked("another queue changed", 2)
	for20s(func() { s.told(watch.Renewed, 88142, "emails") })
	asked("leases were renewed, which the feed itself tells", 2)
	for20s(func() { s.enqueues("emails") })
	if n := len(s.looks); n < 2+8 || n > 2+11 {
		t.Errorf("in twenty seconds of changes it asked %d times", n-2)
	}
	s.settle()

	// Deep in the list, of what is in sight alone.
	s.press("ctrl+d", "ctrl+d", "ctrl+d", "ctrl+d", "ctrl+d", "ctrl+d", "ctrl+d")
	s.screen()
	before := len(s.looks)
	s.told(watch.Completed, 88147, "emails")
	s.settle()
	asked("one change", before+1)
	q, list := s.looks[before], &s.app.jobsTab.list
	if q.stretch.From == nil || q.stretch.From.ID != s.rows()[list.top]+1 || q.stretch.Limit != list.height {
		t.Errorf("asked for %+v, in sight are %d from job %d", q.stretch, list.height, s.rows()[list.top])
	}
	s.press("p") // a frozen picture stays as it is
	for20s(func() { s.enqueues("emails") })
	asked("frozen", before+1)
	s.press("p")
	s.settle()
	asked("thawed", before+2)
}

// Rows that a bounded look does not come to are read by their ids.
func TestRareRowsAreReadAgainByTheirIDs(t *testing.T) {
	t.Parallel()
	w := newWorld()
	s := newStage(t, w, 100, 30, rareQueue)
	s.press("2", "Q", "r", "a", "r", "e", "enter")
	s.press("space", "space", "space")
	s.sees("▸4000000")
	w.jobs = []queue.Job{{ID: 4_000_000, Queue: "rare", Status: queue.Completed, LastError: "changed", UpdatedAt: noon}}
	before := len(s.looks)
	s.told(watch.Edited, 4_000_000, "rare")
	s.settle()
	s.sees("changed")
	if asked := s.looks[before:]; len(asked) != 2 || asked[0].stretch.Look != jobsLook || !slices.Equal(asked[1].ids, []int64{4_000_000}) {
		t.Errorf("asked %+v", asked)
	}
	w.jobs = nil // discarded, say
	s.press("ctrl+r")
	s.seesNot("4000000")
}

// More came than is read at once: the list stays where the cursor is, says that there is
// more, and g goes there.
func TestMoreNewJobsThanAPage(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 100, 30)
	s.press("2")
	s.sees("▸88156")
	s.press("j")
	at := s.under()
	for range jobsPage + 300 {
		s.enqueues("emails")
	}
	s.settle()
	for range 5 {
		s.settle()
	}
	if s.under() != at {
		t.Errorf("the cursor went from job %d to %d", at, s.under())
	}
	s.sees("▸"+itoa(at), "+ above")
	for i, id := range s.rows() {
		if i > 0 && id != s.rows()[i-1]-1 {
			t.Fatalf("after job %d comes %d", s.rows()[i-1], id)
		}
	}
	s.press("g")
	if newest := s.jobs[0].ID; s.under() != newest {
		t.Errorf("g goes to job %d, the newest is %d", s.under(), newest)
	}
}

// One question is under way at a time; the answer to one about another choice is not shown.
func TestLateAnswerAboutAnotherChoice(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 100, 30)
	_, first := s.app.Update(keyPress("2"))
	before := len(s.looks)
	s.press("s", "s", "s", "s", "S") // processing
	if n := len(s.looks); n != before {
		t.Fatalf("asked %d times while the first answer was out", n-before)
	}
	s.sees("JOBS all queues · processing 7", "reading…")
	s.run(first) // all jobs: that is over, and what is chosen now is asked for
	s.sees("▸88150", "● processing")
	s.seesNot("completed", "ready")
	if n := len(s.looks) - before; n != 2 {
		t.Errorf("asked %d times", n)
	}
}

// Somebody has the table locked: the question goes on and on. What was read before is not
// passed for the present, and it is said for how long the next answer is being waited for.
func TestJobsBehindALockAreMarked(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 36}, {80, 24}, {60, 20}} {
		s := newStage(t, newWorld(), size[0], size[1])
		s.press("2")
		s.sees("read 0s ago")
		s.press("1")
		s.pass(10 * time.Minute)
		s.state.Depths.Read = s.now
		s.pull()
		_, blocked := s.app.Update(keyPress("2"))
		s.sees("stale: 10m00s old")
		s.pass(time.Second)
		s.seesNot("reading…")
		s.pass(3 * time.Second)
		s.state.Depths.Read = s.now // the stream needs no table
		s.pull()
		s.sees("stale: 10m04s old, reading… 4s")
		s.seesNot("read 1")
		s.run(blocked)
		s.sees("read 4s ago") // when it was asked for
	}

	s := newStage(t, newWorld(), 80, 24)
	_, blocked := s.app.Update(keyPress("2"))
	s.pass(4 * time.Second)
	s.sees("─ reading… 4s ─")
	s.run(blocked)
	s.seesNot("reading…")
}

// What was read stays, marked; the cause and its cure are said; and the next question
// looks at less, in case that one took too long.
func TestJobsThatCannotBeReadAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 100, 30)
	s.press("2")
	s.down = errors.New("scan jobs: permission denied for table jobs: run GRANT SELECT ON leasetop.jobs TO app")
	s.enqueues("emails")
	before := len(s.looks)
	for range 100 { // ten seconds
		s.now = s.now.Add(100 * time.Millisecond)
		s.pull()
	}
	if n := len(s.looks) - before; n < 3 || n > 6 {
		t.Errorf("in ten seconds it asked %d times", n)
	}
	if least := s.looks[len(s.looks)-1].stretch.Look; least != jobsLeast {
		t.Errorf("the last question looks at %d jobs, want %d", least, jobsLeast)
	}
	s.sees("88155  emails/send", "✗ not read again since", "permission denied for table jobs: run GRANT SELECT ON", "asked again every 2s", "stale: 10s old")
	if row := s.screen().Lines()[5]; !strings.Contains(row, "88155") {
		t.Fatal(row)
	}
	s.down = nil
	s.settle()
	s.sees("▸88156", "88157  emails/send", "read 0s ago")
	s.seesNot("not read")
}
