package watch

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

func TestSnapshotContains(t *testing.T) {
	t.Parallel()
	s, err := parseSnapshot("100:105:101,103")
	if err != nil {
		t.Fatal(err)
	}
	for xid, want := range map[uint32]bool{99: true, 100: true, 101: false, 102: true, 103: false, 104: true, 105: false, 2_000_000_000: false} {
		if s.contains(xid) != want {
			t.Errorf("xid %d contained: %v", xid, !want)
		}
	}
	// The stream's numbers wrap around at 2^32, the snapshot's do not.
	s, _ = parseSnapshot(fmt.Sprintf("%d:%d:", 1<<32+5, 1<<32+5))
	for xid, want := range map[uint32]bool{4: true, 5: false, 1<<32 - 1: true} {
		if s.contains(xid) != want {
			t.Errorf("after a wrap, xid %d contained: %v", xid, !want)
		}
	}
	if (snapshot{}).contains(1) {
		t.Error("nothing was read, yet it contains something")
	}
	for _, text := range []string{"", "1:2", "a:b:", "1:2:x"} {
		if _, err := parseSnapshot(text); err == nil {
			t.Errorf("%q was taken for a snapshot", text)
		}
	}
}

func held(id int64) *row {
	return &row{id: id, status: queue.Processing, owner: fmt.Sprint("w#", id), expiresAt: noon.Add(time.Duration(id) * time.Second)}
}

func (b *leaseBoard) ids() (ids []int64) {
	for _, l := range b.view().List {
		ids = append(ids, l.JobID)
	}
	return ids
}

func TestLeaseBoardPutsChangesOnReadingsThatLackThem(t *testing.T) {
	t.Parallel()
	var b leaseBoard
	read := func(snap string, rows ...*row) {
		s, _ := parseSnapshot(snap)
		b.reading(rows, len(rows), s, noon, noon)
	}
	expect := func(when string, want ...int64) {
		t.Helper()
		if got := b.ids(); !slices.Equal(got, want) || b.view().Total != len(want) {
			t.Errorf("%s: leases %v of %d, want %v", when, got, b.view().Total, want)
		}
	}
	read("10:10:", held(2), held(1))
	expect("a reading", 1, 2)
	b.change(leaseChange{xid: 11, id: 3, held: held(3)})
	expect("a claim", 1, 2, 3)
	read("11:11:", held(1), held(2))
	expect("a reading from before the claim", 1, 2, 3)
	b.change(leaseChange{xid: 12, id: 1, was: true})
	expect("an end", 2, 3)
	read("13:13:", held(2), held(3))
	expect("a reading of both", 2, 3)
	b.change(leaseChange{xid: 9, id: 1, held: held(1)})
	expect("a late claim from before the reading", 2, 3)
	b.change(leaseChange{xid: 13, id: 2, held: like(held(2), func(r *row) { r.expiresAt = noon.Add(time.Hour) }), was: true})
	expect("a heartbeat", 3, 2)
	b.change(leaseChange{xid: 14, all: true})
	expect("a truncation")
}

func TestLeaseBoardCountsLeasesItDoesNotList(t *testing.T) {
	t.Parallel()
	var b leaseBoard
	var rows []*row
	for i := range int64(leasesShown) {
		rows = append(rows, held(i+1))
	}
	b.reading(rows, 1000, snapshot{xmin: 10, xmax: 10}, noon, noon)
	b.change(leaseChange{xid: 10, id: 900, was: true})
	b.change(leaseChange{xid: 11, id: 2000, held: held(2000)})
	b.change(leaseChange{xid: 12, id: 901, held: held(901), was: true}) // a heartbeat
	b.change(leaseChange{xid: 13, id: 1, was: true})
	if v := b.view(); v.Total != 999 || len(v.List) != leasesShown {
		t.Errorf("%d leases, %d listed", v.Total, len(v.List))
	}
}

func TestLeaseBoardHoldsOnlySoManyChanges(t *testing.T) {
	t.Parallel()
	var b leaseBoard
	for i := range 3 * aheadKept {
		b.change(leaseChange{xid: uint32(i + 1), id: int64(i), held: held(1)})
		b.change(leaseChange{xid: uint32(i + 1), id: int64(i), was: true})
	}
	if len(b.ahead) > aheadKept {
		t.Errorf("%d changes are kept", len(b.ahead))
	}
}

func TestBurstTellsTwentyAndCountsMore(t *testing.T) {
	t.Parallel()
	var b burst
	for i := range 1000 {
		b.add(Event{What: Enqueued, Queue: "emails", JobID: int64(i), Count: 1})
		if i < burstSize {
			b.add(Event{What: Claimed, Queue: "emails", JobID: int64(i), Count: 1})
		}
	}
	b.add(Event{What: Enqueued, Queue: "images", JobID: 5, Count: 1})
	told := b.told()
	if len(told) != 1+burstSize+1 {
		t.Fatalf("%d events", len(told))
	}
	if e := told[0]; e.What != Enqueued || e.Count != 1000 || e.JobID != 0 || e.Note != "1,000 jobs" || e.Queue != "emails" {
		t.Errorf("first %+v", e)
	}
	for i, e := range told[1 : 1+burstSize] {
		if e.What != Claimed || e.JobID != int64(i) {
			t.Errorf("out of order: %+v at %d", e, i)
		}
	}
	if e := told[len(told)-1]; e.Queue != "images" || e.JobID != 5 {
		t.Errorf("last %+v", e)
	}
}

func TestThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

func TestRatesOverTenSeconds(t *testing.T) {
	t.Parallel()
	r := newRates(noon)
	for s := range 30 {
		r.add("emails", noon.Add(time.Duration(s)*time.Second), 20, 10)
	}
	in, out, spark := r.read("emails", noon.Add(29*time.Second+999*time.Millisecond))
	if in < 19.9 || in > 20.1 || out < 9.9 || out > 10.1 {
		t.Errorf("in %.2f out %.2f", in, out)
	}
	if len(spark) != 29 || spark[0] != 10 || spark[28] != 10 {
		t.Errorf("spark %v", spark)
	}
	in, out, spark = r.read("emails", noon.Add(45*time.Second))
	if in != 0 || out != 0 || len(spark) != 45 || spark[29] != 10 || spark[30] != 0 {
		t.Errorf("long after: in %.2f out %.2f %v", in, out, spark)
	}
	_, _, spark = r.read("emails", noon.Add(time.Hour))
	if len(spark) != sparkSeconds || slices.Max(spark) != 0 {
		t.Errorf("an hour after: %v", spark)
	}
	r.forget(map[string]bool{}, noon.Add(2*time.Hour))
	if len(r.lines) != 0 {
		t.Error("a queue that is gone is kept")
	}
}

func TestRatesAtTheStartDivideByTheTimeThatPassed(t *testing.T) {
	t.Parallel()
	r := newRates(noon)
	r.add("emails", noon.Add(100*time.Millisecond), 40, 0)
	if in, _, spark := r.read("emails", noon.Add(2*time.Second)); in != 20 || len(spark) != 2 {
		t.Errorf("in %.2f spark %v", in, spark)
	}
}

func TestSkewIsThatOfTheFastestRoundTrip(t *testing.T) {
	t.Parallel()
	var s skew
	if s.clock().Known {
		t.Error("known without a sample")
	}
	ahead := 10 * time.Minute
	s.add(noon, noon.Add(300*time.Millisecond), noon.Add(ahead+10*time.Millisecond))
	s.add(noon, noon.Add(2*time.Millisecond), noon.Add(ahead+time.Millisecond))
	s.add(noon, noon.Add(500*time.Millisecond), noon.Add(ahead+400*time.Millisecond))
	if c := s.clock(); !c.Known || c.Skew != ahead {
		t.Errorf("%+v", c)
	}
}

func TestSkewFollowsAClockThatWasSet(t *testing.T) {
	t.Parallel()
	var s skew
	s.add(noon, noon.Add(time.Millisecond), noon)
	s.add(noon, noon.Add(100*time.Millisecond), noon.Add(-time.Hour))
	if c := s.clock(); c.Skew > -59*time.Minute {
		t.Errorf("%+v", c)
	}
}

func TestProcessingIsWhatTheLeasesSay(t *testing.T) {
	t.Parallel()
	polled := []QueueDepth{{QueueDepth: queue.QueueDepth{Queue: "emails", Processing: 9}}, {QueueDepth: queue.QueueDepth{Queue: "idle", Processing: 1}}}
	leases := Leases{Total: 2, List: []Lease{{Queue: "emails"}, {Queue: "emails"}}}
	got := agreeing(polled, leases)
	if got[0].Processing != 2 || got[1].Processing != 0 {
		t.Errorf("counted %d and %d, want 2 and 0", got[0].Processing, got[1].Processing)
	}
	if polled[0].Processing != 9 {
		t.Error("the reading itself was changed: a published State may hold it")
	}
	leases.Total = 300
	if got := agreeing(polled, leases); got[0].Processing != 9 {
		t.Errorf("counted %d of leases that are not all listed, want the reading's 9", got[0].Processing)
	}
}

func TestQueueThatOnlyTheLeasesKnowIsShown(t *testing.T) {
	t.Parallel()
	leases := Leases{Total: 1, List: []Lease{{Queue: "new"}}}
	got := agreeing([]QueueDepth{{QueueDepth: queue.QueueDepth{Queue: "old"}}}, leases)
	if len(got) != 2 || got[0].Queue != "new" || got[0].Processing != 1 || got[1].Queue != "old" {
		t.Errorf("%+v", got)
	}
}
