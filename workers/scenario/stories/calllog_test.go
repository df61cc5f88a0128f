package stories

import (
	"testing"
	"time"
)

// A log tells first calls from retries, and how close together they are.
func TestCallLogTellsRetriesFromFirstCalls(t *testing.T) {
	t.Parallel()
	began := time.Now()
	at := func(ms ...int) (all []time.Time) {
		for _, one := range ms {
			all = append(all, began.Add(time.Duration(one)*time.Millisecond))
		}
		return all
	}
	l := newCallLog()
	l.began, l.ended = began, began.Add(2*time.Second)
	l.calls = map[int64][]time.Time{
		1: at(0, 500, 1500),
		2: at(10, 550),
		3: at(20, 1200),
		4: at(30), // not tried again
	}
	if n := l.count(); n != 8 {
		t.Errorf("%d calls, not 8", n)
	}
	if n := l.jobsWith(2); n != 3 {
		t.Errorf("%d jobs were tried twice, not 3", n)
	}
	if rate := l.retries(); rate != 2 {
		t.Errorf("%g retries a second, not 4 in 2 s", rate)
	}
	if spread := l.spread(); spread != 700*time.Millisecond {
		t.Errorf("first retries are spread over %v, not from 500 to 1200 ms", spread)
	}
	if most := l.busiest(100 * time.Millisecond); most != 2 {
		t.Errorf("%d retries in the busiest tenth of a second, not those at 500 and 550 ms", most)
	}
}

// What is called before the outage and after it is no call of the outage.
func TestCallLogIsOfTheOutage(t *testing.T) {
	t.Parallel()
	l := newCallLog()
	l.note(1)
	l.begin()
	if l.over() {
		t.Error("it is over as it begins")
	}
	l.note(2)
	l.end()
	l.note(3)
	if n, in := l.count(), len(l.calls[2]); n != 1 || in != 1 || !l.over() {
		t.Errorf("%d calls, %d of them in the outage; over: %t", n, in, l.over())
	}
	if l.unplotted != 3 {
		t.Errorf("%d calls are plotted, not all 3", l.unplotted)
	}
}
