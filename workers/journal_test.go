package workers

import "testing"

func TestJournalKeepsTheLastEventsInOrder(t *testing.T) {
	t.Parallel()
	var j journal
	for range EventsKept + 20 {
		j.add(Event{})
	}
	events, last := j.after(0)
	if len(events) != EventsKept || last != EventsKept+20 {
		t.Fatalf("%d events up to %d, want %d up to %d", len(events), last, EventsKept, EventsKept+20)
	}
	for i, e := range events {
		if want := uint64(21 + i); e.Seq != want {
			t.Fatalf("event %d has number %d, want %d", i, e.Seq, want)
		}
	}
	if fresh, _ := j.after(last - 3); len(fresh) != 3 || fresh[0].Seq != last-2 {
		t.Errorf("after %d come %v", last-3, fresh)
	}
	if fresh, _ := j.after(last); len(fresh) != 0 {
		t.Errorf("after the last come %v", fresh)
	}
	if fresh, _ := j.after(last + 100); len(fresh) != 0 {
		t.Errorf("after a number of the future come %v", fresh)
	}
}

func TestJournalTellsChangesWithoutLosingOne(t *testing.T) {
	t.Parallel()
	var j journal
	before := j.change()
	j.touch()
	select {
	case <-before:
	default:
		t.Error("a change was not told")
	}
	select {
	case <-j.change():
		t.Error("a change was told that did not happen")
	default:
	}
}
