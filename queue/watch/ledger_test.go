package watch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// counted is what a ledger must hold, from its rows one by one.
func counted(rows map[int64]*row, now int64) (map[string]queue.QueueDepth, digest) {
	depths, sum := map[string]queue.QueueDepth{}, comparing{}
	for id, r := range rows {
		d := depths[r.queue]
		due := dueOf(r.runAt)
		switch s := standingOf(r.status, due, now); s {
		case ready, always:
			d.Ready++
			if s == ready {
				d.OldestReady = max(d.OldestReady, time.Duration(now-due)*time.Microsecond)
			}
			_ = sum.waiting([]byte(r.queue), id, due)
		case scheduled:
			d.Scheduled++
			_ = sum.waiting([]byte(r.queue), id, due)
		case processing:
			d.Processing++
			_ = sum.leased(r)
		case failed:
			d.Failed++
			_ = sum.ended([]byte(r.queue), id, s)
		case dead:
			d.Dead++
			_ = sum.ended([]byte(r.queue), id, s)
		}
		depths[r.queue] = d
	}
	return depths, sum.digest
}

func TestLedgerCountsWhatItsRowsSay(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 1))
		l, rows := newLedger(), map[int64]*row{}
		l.now = 1000
		var order []*tally
		for step := range 3000 {
			id := random.Int64N(200)
			switch n := random.IntN(100); {
			case n < 75:
				r := &row{
					id: id, queue: fmt.Sprint("q", random.IntN(4)), owner: fmt.Sprint("w", random.IntN(3)),
					status:    []queue.Status{queue.Pending, queue.Pending, queue.Processing, queue.Processing, queue.Completed, queue.Failed, queue.Dead}[random.IntN(7)],
					runAt:     timeOf([]int64{math.MinInt64, math.MaxInt64, l.now, l.now - random.Int64N(500), l.now + random.Int64N(500)}[random.IntN(5)]),
					expiresAt: noon.Add(time.Duration(random.IntN(1000)) * time.Second),
				}
				l.put(r)
				if rows[id] = r; r.status == queue.Completed {
					delete(rows, id)
				}
			case n < 85:
				_, known := rows[id]
				if l.drop(id) != known {
					t.Fatalf("seed %d, step %d: job %d known: %v", seed, step, id, !known)
				}
				delete(rows, id)
			case n < 98:
				l.tick(l.now + random.Int64N(200))
			case n < 99: // the clock was set back
				l.tick(l.now - setBack - 1 - random.Int64N(300))
			default:
				if random.IntN(3) == 0 {
					l.clear()
					clear(rows)
				}
			}
			if step%50 > 0 {
				continue
			}
			want, sum := counted(rows, l.now)
			if l.digest != sum {
				t.Fatalf("seed %d, step %d: digest %+v, want %+v", seed, step, l.digest, sum)
			}
			order = l.inOrder(order)
			if !slices.IsSortedFunc(order, func(a, b *tally) int { return strings.Compare(a.name, b.name) }) {
				t.Fatal("the queues are out of order")
			}
			for _, one := range order {
				d := one.depth(l.now).QueueDepth
				w := want[one.name]
				w.Queue, w.CompletedExact = one.name, d.CompletedExact
				if d != w {
					t.Fatalf("seed %d, step %d: %+v, want %+v", seed, step, d, w)
				}
				delete(want, one.name)
			}
			if len(want) > 0 {
				t.Fatalf("seed %d, step %d: not counted: %v", seed, step, want)
			}
			var was row
			for id, r := range rows {
				if !l.old(id, r, &was) || was.status != r.status || was.queue != r.queue || (r.status == queue.Pending && was.runAt != r.runAt) {
					t.Fatalf("seed %d, step %d: %+v is remembered as %+v", seed, step, r, was)
				}
			}
		}
	}
}

func TestLedgerTakesPurgedJobsFromTheQueuesInProportion(t *testing.T) {
	t.Parallel()
	l := newLedger()
	l.tally("a").completed, l.tally("b").completed, l.tally("c").jobs = 300, 100, 1
	l.gone = 100
	l.settle()
	a, b, c := l.tally("a"), l.tally("b"), l.tally("c")
	if a.completed+b.completed != 300 || a.completed != 225 || a.exact || b.exact || !c.exact {
		t.Errorf("%d %v and %d %v are left", a.completed, a.exact, b.completed, b.exact)
	}
	one := newLedger()
	one.tally("a").completed, one.gone = 10, 4
	one.settle()
	if left := one.tally("a"); left.completed != 6 || !left.exact {
		t.Errorf("%+v: the only queue with completed jobs lost exactly four", left)
	}
	one.gone = 100 // more than the estimate knew of
	one.settle()
	if left := one.tally("a"); left.completed != 0 {
		t.Errorf("%d completed", left.completed)
	}
}

func TestTimesOfTheDatabaseGoThereAndBack(t *testing.T) {
	t.Parallel()
	for _, due := range []int64{math.MinInt64, math.MaxInt64, 0, 1, -1, 999_999, -1_000_001, -211_813_488_000_000_000, 9_223_371_331_199_999_999} {
		if back := dueOf(timeOf(due)); back != due {
			t.Errorf("%d came back as %d", due, back)
		}
	}
}

// With a million jobs ready, sorting them anew whenever the clock's estimate falls
// short of a commit would take all there is of a processor.
func TestClockEstimatedTooEarlySortsNothingAnew(t *testing.T) {
	t.Parallel()
	l := newLedger()
	l.now = 10 * setBack
	l.put(&row{id: 1, queue: "q", status: queue.Pending, runAt: timeOf(l.now)})
	l.tick(l.now - setBack/2)
	if d := l.tally("q").depth(l.now); d.Ready != 1 || l.now != 10*setBack {
		t.Errorf("%+v at %d", d, l.now)
	}
	l.tick(l.now - 2*setBack)
	if d := l.tally("q").depth(l.now); d.Scheduled != 1 {
		t.Errorf("after the clock was set back: %+v", d)
	}
}
