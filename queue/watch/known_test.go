package watch

import (
	"context"
	"slices"
	"testing"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

func TestQueueStaysKnownWhileItsCompletedAreEstimated(t *testing.T) {
	t.Parallel()
	exact := func(name string) queue.QueueDepth {
		return queue.QueueDepth{Queue: name, Completed: 6, CompletedExact: true}
	}
	guess := func(name string) queue.QueueDepth { return queue.QueueDepth{Queue: name} }
	type depths = []queue.QueueDepth
	for _, c := range []struct {
		name        string
		counted     bool
		before, now depths
		want        depths
	}{
		{"first reading", false, nil, depths{guess("bulk")}, depths{guess("bulk")}},
		{"missed by the sample", false, depths{exact("small"), exact("a")}, depths{guess("bulk")}, depths{guess("a"), guess("bulk"), guess("small")}},
		{"missed again", false, depths{guess("small"), guess("bulk")}, depths{guess("bulk")}, depths{guess("bulk"), guess("small")}},
		// As while a bulk is written that nobody sees yet.
		{"all missed", false, depths{exact("small")}, nil, depths{guess("small")}},
		{"counted, and not there", true, depths{guess("small"), guess("bulk")}, depths{exact("bulk")}, depths{exact("bulk")}},
		{"all counted, and none there", true, depths{guess("small")}, nil, nil},
	} {
		var before []QueueDepth
		for _, d := range c.before {
			before = append(before, QueueDepth{QueueDepth: d})
		}
		if got := stillKnown(before, queue.Depths{Queues: c.now, CompletedExact: c.counted}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestKnownQueuesDoNotPileUp(t *testing.T) {
	t.Parallel()
	var before []QueueDepth
	now := queue.Depths{Queues: []queue.QueueDepth{{Queue: "bulk"}}}
	for i := range 3 * knownMost {
		before = append(before, QueueDepth{QueueDepth: queue.QueueDepth{Queue: string(rune('一' + i))}})
	}
	if got := stillKnown(before, now); len(got) != len(now.Queues)+knownMost {
		t.Errorf("%d queues are kept", len(got))
	}
}

// A sample of a sixth of the pages comes across few of forty small queues.
func TestQueueOfCompletedJobsOutlivesABulkEnqueue(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	f := start(t, open(t, url), Options{Poll: -1, NoWAL: true})
	psql := client(t, url)
	// A few to a page.
	exec(t, psql, `insert into leasetop.jobs (queue, status, payload) select 'q' || n, 'completed', 
		to_jsonb((select string_agg(md5(n || ' ' || i), '') from generate_series(1, 50) i)) from generate_series(1, 40) n`)
	f.Refresh()
	await(t, f, "each queue's completed job", func(s *State) bool { return len(s.Depths.Queues) == 40 })
	exec(t, psql, `insert into leasetop.jobs (queue) select 'bulk' from generate_series(1, 60000)`)
	f.Refresh()
	s := await(t, f, "the bulk", func(s *State) bool {
		return slices.ContainsFunc(s.Depths.Queues, func(d QueueDepth) bool { return d.Queue == "bulk" && d.Ready == 60000 })
	})
	if len(s.Depths.Queues) != 41 {
		t.Errorf("%d queues are left of 41", len(s.Depths.Queues))
	}
	for _, d := range s.Depths.Queues {
		if d.CompletedExact {
			t.Errorf("%s: %d completed, and that is no estimate", d.Queue, d.Completed)
		}
	}
	if found, err := f.reader.Depth(context.Background(), countCap); err != nil || len(found.Queues) > 40 {
		t.Errorf("the sample came across %d queues, error %v: this test shows nothing", len(found.Queues), err)
	}
}
