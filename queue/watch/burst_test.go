package watch

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// A hundred thousand rows (a million, where the full version is asked for) die in one
// transaction: one notification for each queue, State goes on meanwhile, and then all
// is right.
func TestManyDeathsInOneTransaction(t *testing.T) {
	t.Parallel()
	many := scaled(100_000, 1_000_000)
	url := testdb.On(t, testdb.Server(t, "autovacuum=off", "max_wal_size=4GB"))
	psql, listener := client(t, url), client(t, url)
	exec(t, psql, "INSERT INTO leasetop.jobs (queue) SELECT (ARRAY['emails', 'images', 'reports'])[1 + n % 3] FROM generate_series(1, $1::int) AS n", many)
	exec(t, psql, "INSERT INTO leasetop.jobs (queue) SELECT 'spared' FROM generate_series(1, 10)")
	exec(t, psql, "ANALYZE leasetop.jobs")
	exec(t, listener, "LISTEN leasetop_dead")
	f := start(t, open(t, url), Options{})
	s := exact(t, f, psql)
	signals := s.Dead.Signal

	since, ended := lastEvent(s), make(chan struct{})
	longest := make(chan time.Duration)
	go func() { // every State there is, for what is not to be said in any
		var gap time.Duration
		for last, s := time.Now(), s; ; s = f.State() {
			if !attached(s) {
				t.Errorf("State %d: WAL %+v, notify %+v, poll %+v", s.Version, s.WAL, s.Notify, s.Polling)
			}
			gap = max(gap, time.Since(last))
			last = time.Now()
			select {
			case <-f.Changed(s.Version):
			case <-ended:
				longest <- gap
				return
			}
		}
	}()
	began := time.Now()
	exec(t, psql, "UPDATE leasetop.jobs SET status = 'dead', last_error = 'mx is down', updated_at = now() WHERE queue <> 'spared'")
	committed := time.Now()
	want := tableCounts(t, psql)
	s = await(t, f, "the counts", func(s *State) bool { return s.Depths.Source == FromWAL && slices.Equal(counts(s), want) })
	counted := time.Since(committed)
	await(t, f, "one event for each queue", func(s *State) bool {
		events, jobs := 0, 0
		for _, e := range s.Events {
			if e.Seq > since && e.What == Buried {
				events, jobs = events+1, jobs+e.Count
			}
		}
		return events == 3 && jobs == many
	})
	s = await(t, f, "the dead letters", func(s *State) bool { return s.Dead.Total == min(int64(many), countCap) || s.Dead.Total == int64(many) })
	t.Logf("%d jobs died in %v; counts were exact %v after the commit, the list %v", many, committed.Sub(began), counted, time.Since(committed))
	close(ended)
	if gap := <-longest; gap > 5*time.Second {
		t.Errorf("no State for %v", gap)
	} else {
		t.Logf("at most %v between two States", gap)
	}
	if len(s.Dead.Latest) != deadShown || !slices.IsSortedFunc(s.Dead.Latest, func(a, b queue.Job) int { return b.DiedAt.Compare(*a.DiedAt) }) {
		t.Errorf("%d dead letters are listed, or out of order", len(s.Dead.Latest))
	}
	for _, d := range s.Dead.Latest {
		if d.LastError != "mx is down" || d.Queue == "spared" {
			t.Errorf("listed: %+v", d)
		}
	}
	if n := s.Dead.Signal - signals; n != 3 {
		t.Errorf("%d signals for three queues", n)
	}
	var heard []string
	exec(t, psql, "NOTIFY leasetop_dead, 'that was all'")
	for {
		n, err := listener.WaitForNotification(t.Context())
		do(t, err)
		if n.Payload == "that was all" {
			break
		}
		heard = append(heard, n.Payload)
	}
	slices.Sort(heard)
	if !slices.Equal(heard, []string{"emails", "images", "reports"}) {
		t.Errorf("heard %q, want each queue once", heard)
	}
}

// One statement that renews the leases of several workers is told of each under its own name.
func TestRenewalsAreToldUnderTheirOwnersNames(t *testing.T) {
	t.Parallel()
	var b burst
	for n := range 30 {
		for _, worker := range []string{"h:1:a/w1#", "h:1:a/w2#", "stranger "} { // two have many claims
			b.add(Event{What: Renewed, Queue: "emails", JobID: int64(n), Count: 1, Owner: worker + strconv.Itoa(n)})
		}
	}
	told, jobs, names := b.told(nil), 0, map[string]int{}
	for _, e := range told {
		jobs += e.Count
		names[e.Owner] += e.Count
	}
	if jobs != 90 || len(told) != burstSize+1 || names["h:1:a/w1#0"] != 30 || names["h:1:a/w2#0"] != 30 || names["stranger 0"] != 1 || names[""] != 12 {
		t.Errorf("%d events of %d jobs: %v", len(told), jobs, names)
	}
}
