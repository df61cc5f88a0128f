package ui

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/workers"
)

// lines are those of a record, in a word each.
func (r *record) words() (words []string) {
	for _, h := range r.lines {
		switch {
		case h.feed != nil:
			words = append(words, fmt.Sprintf("%s %d", h.feed.What, h.feed.JobID))
		case h.work != nil:
			words = append(words, fmt.Sprintf("our %s %d", h.work.What, h.work.JobID))
		default:
			words = append(words, fmt.Sprintf("missed %d", h.missed))
		}
	}
	return words
}

func TestRecordGrowsAtItsEndAlone(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }
	p := &picture{now: noon, state: &watch.State{Clock: watch.Clock{Skew: time.Minute, Known: true}}}
	local := func(s int) time.Time { return at(s).Add(-time.Minute) }
	var r record

	// What came before is not missed; both are in the order of time, by one clock.
	p.news = []workers.Event{{Seq: 7, At: local(2), What: workers.Killed}}
	r.take(p, []watch.Event{{Seq: 101, At: at(1), What: watch.Claimed, JobID: 1}, {Seq: 102, At: at(3), What: watch.Completed, JobID: 1}}, 100)
	want := []string{"claimed 1", "our killed 0", "completed 1"}
	if got := r.words(); !slices.Equal(got, want) || r.missed != 0 {
		t.Fatalf("recorded %q, %d missed", got, r.missed)
	}
	// What is learned later stands at the end, though it happened before.
	p.news = append(p.news, workers.Event{Seq: 8, At: local(0), What: workers.Froze})
	r.take(p, []watch.Event{{Seq: 110, At: at(4), What: watch.Redriven, JobID: 2}}, 7)
	want = append(want, "missed 7", "our frozen 0", "redriven 2")
	if got := r.words(); !slices.Equal(got, want) || r.missed != 7 {
		t.Fatalf("recorded %q, %d missed", got, r.missed)
	}
	r.take(p, nil, 0)
	if got := r.words(); !slices.Equal(got, want) || r.seen != 110 || r.heard != 8 {
		t.Errorf("nothing new is recorded as %q", got)
	}
}

// The heading counts the missing by lines that can be looked at.
func TestMissingEventsAreForgottenWithTheirLine(t *testing.T) {
	t.Parallel()
	p := &picture{now: noon, state: &watch.State{}}
	var r record
	r.take(p, []watch.Event{{Seq: 1, At: noon}}, 0)
	r.take(p, []watch.Event{{Seq: 20_002, At: noon}}, 20_000)
	more := make([]watch.Event, recordKept)
	for i := range more {
		more[i] = watch.Event{Seq: uint64(20_003 + i), At: noon}
	}
	r.take(p, more, 0)
	if r.trim(); r.missed != 20_000 || r.first != 0 {
		t.Fatalf("%d missed, from line %d on", r.missed, r.first)
	}
	for i := range more {
		more[i].Seq += recordKept
	}
	r.take(p, more, 5)
	if r.trim(); r.missed != 5 || r.first == 0 {
		t.Errorf("%d missed, from line %d on", r.missed, r.first)
	}
}

// What both the feed and our workers tell stands once, whoever is the first; a job that
// is reclaimed again is told again. It is told by the feed, which knows more.
func TestRecordTellsOnce(t *testing.T) {
	t.Parallel()
	at := func(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }
	feed := []watch.Event{
		{Seq: 1, At: at(0), What: watch.Reclaimed, JobID: 1},
		{Seq: 2, At: at(30_000), What: watch.Reclaimed, JobID: 1},
		{Seq: 3, At: at(60_000), What: watch.Buried, JobID: 1, Note: "attempt 5 of 5, worker lost"},
		{Seq: 4, At: at(61_000), What: watch.CancelAsked, JobID: 2, Note: "by ann"},
	}
	ours := []workers.Event{
		{Seq: 1, At: at(1), What: workers.ReapedBack, JobID: 1},
		{Seq: 2, At: at(30_001), What: workers.ReapedBack, JobID: 1},
		{Seq: 3, At: at(60_001), What: workers.ReapedDead, JobID: 1},
		{Seq: 4, At: at(61_001), What: workers.Cancelled, JobID: 2},
		{Seq: 5, At: at(70_000), What: workers.ReapedBack, JobID: 3},
	}
	silent, told := &picture{state: &watch.State{}}, &picture{state: &watch.State{}, news: ours}
	var together, feedFirst, oursFirst record
	together.take(told, feed, 0)
	want := []string{"reclaimed 1", "reclaimed 1", "buried 1", "cancel asked 2", "our reclaimed 3"}
	if got := together.words(); !slices.Equal(got, want) {
		t.Errorf("recorded %q, want %q", got, want)
	}
	for i := range feed {
		feedFirst.take(silent, feed[i:i+1], 0)
		feedFirst.take(&picture{state: silent.state, news: ours[:i+1]}, nil, 0)
		oursFirst.take(&picture{state: silent.state, news: ours[:i+1]}, nil, 0)
		oursFirst.take(silent, feed[i:i+1], 0)
	}
	if got := feedFirst.words(); !slices.Equal(got, want[:4]) {
		t.Errorf("recorded %q, want %q", got, want[:4])
	}
	if got := oursFirst.words(); !slices.Equal(got, want[:4]) {
		t.Errorf("recorded %q, want %q", got, want[:4])
	}
}
