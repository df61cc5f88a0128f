package watch

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
)

// exact waits until every connection is up and the stream's figures are the table's,
// while nobody writes.
func exact(t testing.TB, f *Feed, psql *pgx.Conn) *State {
	t.Helper()
	want, completed := tableCounts(t, psql), completedOf(t, psql)
	right := func(s *State) bool {
		return attached(s) && s.Depths.Source == FromWAL && s.Leases.Source == FromWAL && slices.Equal(counts(s), want) &&
			!slices.ContainsFunc(s.Depths.Queues, func(d QueueDepth) bool { return d.CompletedExact && d.Completed != completed[d.Queue] })
	}
	timeout := time.After(time.Minute)
	for {
		s := f.State()
		if right(s) {
			return s
		}
		select {
		case <-f.Changed(s.Version):
		case <-timeout:
			shown := counts(s)
			missing := func(in, from []string) string {
				return strings.Join(slices.DeleteFunc(slices.Clone(in), func(line string) bool { return slices.Contains(from, line) }), "\n  ")
			}
			t.Fatalf("the %q figures are not the table's: it has\n  %s\nshown are\n  %s\ncompleted are %v of\n%+v\nWAL %+v\nnotify %+v\npoll %+v\nhealth:\n  %s",
				s.Depths.Source, missing(want, shown), missing(shown, want), completed, s.Depths.Queues,
				s.WAL, s.Notify, s.Polling, strings.Join(healthOf(s), "\n  "))
		}
	}
}

// completedOf counts the completed jobs by queue.
func completedOf(t testing.TB, psql *pgx.Conn) map[string]int64 {
	t.Helper()
	rows, err := psql.Query(t.Context(), "SELECT queue, count(*) FROM leasetop.jobs WHERE status = 'completed' GROUP BY queue")
	do(t, err)
	completed, name, n := map[string]int64{}, "", int64(0)
	_, err = pgx.ForEachRow(rows, []any{&name, &n}, func() error {
		completed[name] = n
		return nil
	})
	do(t, err)
	return completed
}

// witness looks at the States of a feed, as many as it can, while jobs are added to a
// queue of its own, one that waits and one that is done each time, and tells of each
// State that shows less than was there at the time which it says it was read at, or
// more than there is.
type witness struct {
	mu      sync.Mutex
	begun   int64 // pairs sent
	written []time.Time
	stop    func()
}

// sameMoment is how far the two clocks may be taken to be apart.
const sameMoment = 100 * time.Millisecond

// watched has a witness look at a feed until the test's end or until it is stopped.
func watched(t *testing.T, f *Feed, url string) *witness {
	t.Helper()
	writer, w := open(t, url), &witness{}
	ctx, cancel := context.WithCancel(context.Background())
	var tasks sync.WaitGroup
	tasks.Go(func() { w.add(ctx, writer) })
	tasks.Go(func() {
		for reported, s := 0, f.State(); reported < 3; s = f.State() {
			if untrue := w.falsehood(s); untrue != "" {
				t.Error(untrue)
				reported++
			}
			select {
			case <-f.Changed(s.Version):
			case <-ctx.Done():
				return
			}
		}
	})
	w.stop = func() {
		cancel()
		tasks.Wait()
	}
	t.Cleanup(w.stop)
	return w
}

func (w *witness) add(ctx context.Context, q *queue.Queue) {
	for ctx.Err() == nil {
		w.mu.Lock()
		w.begun++
		w.mu.Unlock()
		// Not ended with ctx: nobody would know what became of it.
		_, err := q.Pool().Exec(context.Background(), "INSERT INTO leasetop.jobs (queue, status) VALUES ('witness', 'pending'), ('witness', 'completed')")
		if err == nil {
			w.mu.Lock()
			w.written = append(w.written, time.Now())
			w.mu.Unlock()
		}
		rest(ctx, 20*time.Millisecond, nil)
	}
}

// overcounted names the figures of jobs coming and going that are higher than can be.
func (w *witness) overcounted(s *State) (lines []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range s.Depths.Queues {
		in, out := total(d.SparkIn), total(d.Spark)
		if came := 2 * float64(w.begun); in > came || out > came/2 || d.Finished > w.begun {
			lines = append(lines, fmt.Sprintf("%s: %.0f came and %.0f went, %d of them finished; no more than %.0f and %.0f did",
				d.Queue, in, out, d.Finished, came, came/2))
		}
	}
	return lines
}

// total is what was counted in all seconds but those that were not.
func total(samples []float64) (jobs float64) {
	for _, n := range samples {
		jobs += max(n, 0)
	}
	return jobs
}

func (w *witness) falsehood(s *State) string {
	for _, l := range []Link{s.WAL, s.Notify, s.Polling} {
		if l.OK != (l.Reason == "") {
			return fmt.Sprintf("State %d: ok %v, because %q", s.Version, l.OK, l.Reason)
		}
	}
	if s.Depths.Source == Unknown {
		return ""
	}
	var jobs int64
	for _, d := range s.Depths.Queues {
		if d.Queue == "witness" {
			jobs = d.Ready + d.Scheduled + d.Processing + d.Failed + d.Dead
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	by := s.Depths.Read.Add(-sameMoment)
	there, _ := slices.BinarySearchFunc(w.written, by, time.Time.Compare)
	switch {
	case jobs < int64(there):
		return fmt.Sprintf("State %d, of %s by %s, shows %d jobs where there were %d for %v",
			s.Version, s.Depths.Read.Format(time.TimeOnly+".000"), s.Depths.Source, jobs, there, s.Depths.Read.Sub(w.written[there-1]))
	case jobs > w.begun:
		return fmt.Sprintf("State %d by %s shows %d jobs, and no more than %d were written", s.Version, s.Depths.Source, jobs, w.begun)
	}
	return ""
}

// toldOnce fails the test where anything happened twice, as the feed tells it.
func toldOnce(t *testing.T, f *Feed) {
	t.Helper()
	type step struct {
		job     int64
		what    What
		attempt int
		owner   string
	}
	events, missed := f.Events(0)
	if missed > 0 {
		t.Fatalf("%d events are gone", missed)
	}
	seen := map[step]Event{}
	for _, e := range events {
		if e.JobID == 0 || e.What == Renewed || e.What == Edited {
			continue
		}
		s := step{e.JobID, e.What, e.Attempt, e.Owner}
		if first, twice := seen[s]; twice {
			t.Errorf("told twice:\n  %+v\n  %+v", first, e)
		}
		seen[s] = e
	}
}

// full asks for the large versions of the tests of faults, which take some minutes.
var full = os.Getenv("LEASETOP_TEST_FULL") != ""

// scaled is some, or all of it where the full version is asked for.
func scaled(some, all int) int {
	if full {
		return all
	}
	return some
}
