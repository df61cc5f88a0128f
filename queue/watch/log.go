package watch

import (
	"slices"
	"sort"
)

// eventLog is the last of what happened, in the order of Seq. What it gave away is
// never changed: it only appends, and now and then moves to a new array.
type eventLog struct {
	kept int // how many events it keeps at least
	list []Event
}

func (l *eventLog) add(e Event) {
	if most := l.kept + l.kept/4; len(l.list) >= most {
		l.list = append(make([]Event, 0, most), l.list[len(l.list)-l.kept:]...)
	}
	l.list = append(l.list, e)
}

// last returns the newest n.
func (l *eventLog) last(n int) []Event {
	return slices.Clip(l.list[max(0, len(l.list)-n):])
}

// after returns those that are newer than seq.
func (l *eventLog) after(seq uint64) []Event {
	at := sort.Search(len(l.list), func(i int) bool { return l.list[i].Seq > seq })
	return slices.Clip(l.list[at:])
}
