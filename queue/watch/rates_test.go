package watch

import (
	"slices"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// What happened while the feed was blind is not known: those seconds are no noughts, and
// rates are over what was counted.
func TestSecondsThatWereNotCountedAreNoNoughts(t *testing.T) {
	t.Parallel()
	began := time.Now()
	at := func(seconds float64) time.Time { return began.Add(time.Duration(seconds * float64(time.Second))) }
	r := newRates(began)
	step := func(since, now float64, out uint32) {
		r.counted(at(since), at(now))
		r.add("emails", at(now), moves{out: out})
	}
	step(1.5, 1.5, 0) // attached
	step(1.5, 2.5, 3)
	step(2.5, 3.2, 4)
	r.counted(at(3.2), at(4.1))
	if got := r.read("emails", at(4.1)); !slices.Equal(got.spark, []float64{blind, blind, 3, 4}) || !near(got.rate.Out, 7/2.6) {
		t.Errorf("%+v", got)
	}
	if got := r.read("images", at(4.1)); !slices.Equal(got.spark, []float64{blind, blind, 0, 0}) || got.rate != (Rate{}) {
		t.Errorf("a queue in which nothing happened: %+v", got)
	}
	step(20.5, 20.5, 0) // lost at 4.1, and back
	step(20.5, 22.5, 5)
	r.counted(at(22.5), at(23))
	got := r.read("emails", at(23))
	if !near(got.rate.Out, 2) || got.spark[2] != 3 || got.spark[22] != 5 || got.spark[21] != 0 {
		t.Errorf("%+v", got)
	}
	for second := 4; second <= 20; second++ {
		if got.spark[second] != blind {
			t.Errorf("second %d was counted: %v", second, got.spark)
		}
	}
	step(300, 310, 10)
	if got := r.read("emails", at(310)); len(got.spark) != sparkSeconds || got.spark[59] != 0 || got.spark[49] != blind || !near(got.rate.Out, 10/9.) {
		t.Errorf("%+v", got)
	}
}

func near(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 }

// A job that is brought in as dead or completed neither came as work nor died: seeding is no traffic.
func TestInsertedAsDeadIsNoDeath(t *testing.T) {
	t.Parallel()
	s := &stream{feed: &Feed{opts: Options{MostJobs: 100}}, ledger: newLedger(), tx: &transaction{at: time.Now()}}
	id := int64(0)
	for _, status := range []queue.Status{queue.Dead, queue.Failed, queue.Completed, queue.Pending} {
		id++
		s.inserted(&row{id: id, queue: "emails", status: status})
	}
	if got := s.ledger.tally("emails").news; got != (moves{in: 1}) {
		t.Errorf("a dead, a failed, a completed and a pending row inserted count as %+v", got)
	}
}
