package watch

import (
	"fmt"
	"testing"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

const tenThousand = `INSERT INTO leasetop.jobs (queue, status)
	SELECT 'q' || n % 10000, CASE WHEN n < 10000 THEN 'dead' ELSE 'pending' END FROM generate_series(0, 29999) AS n`

// CASES "10,000 queues".
func TestTenThousandQueuesAreAllCounted(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t))
	exec(t, client(t, url), tenThousand)
	for _, source := range []Source{Polled, FromWAL} {
		f := start(t, open(t, url), Options{NoWAL: source == Polled})
		s := await(t, f, fmt.Sprintf("counts by %s", source), func(s *State) bool { return s.Depths.Source == source && s.Dead.Source != Unknown })
		if len(s.Depths.Queues) != 10_000 || s.Dead.Total != 10_000 || len(s.Dead.Latest) != deadShown {
			t.Errorf("%d queues, %d dead letters, %d of them", len(s.Depths.Queues), s.Dead.Total, len(s.Dead.Latest))
		}
		for _, d := range s.Depths.Queues {
			if d.Ready != 2 || d.Dead != 1 {
				t.Fatalf("%+v", d)
			}
		}
	}
}

// BenchmarkFirstState is how long the first counts of 10,000 queues take to come, by a
// poll and by the stream.
func BenchmarkFirstState(b *testing.B) {
	url := testdb.On(b, testdb.Server(b))
	exec(b, client(b, url), tenThousand)
	for _, source := range []Source{Polled, FromWAL} {
		b.Run(string(source), func(b *testing.B) {
			for b.Loop() {
				f := start(b, open(b, url), Options{NoWAL: source == Polled})
				await(b, f, "counts", func(s *State) bool { return s.Depths.Source == source })
				b.StopTimer()
				f.Close()
				b.StartTimer()
			}
		})
	}
}
