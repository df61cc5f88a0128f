package watch

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// The walsender is terminated again and again while jobs are worked on: each time the
// feed starts from the table, so nothing is lost and nothing counted twice.
func TestWalsenderTerminatedAgainAndAgainUnderLoad(t *testing.T) {
	t.Parallel()
	f, q, psql := streams(t)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 2)
	for i := range 2 {
		go func() { done <- toil(ctx, q, fmt.Sprintf("load%d", i)) }()
	}
	for range scaled(6, 60) {
		s := await(t, f, "a stream", func(s *State) bool { return s.WAL.OK && s.Depths.Source == FromWAL })
		since := lastEvent(s)
		await(t, f, "something told by it", func(s *State) bool { return lastEvent(s) > since+20 || !s.WAL.OK })
		exec(t, psql, "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active")
		await(t, f, "the loss said", func(now *State) bool { return !now.WAL.OK || now.WAL.Since.After(s.WAL.Since) })
	}
	stop()
	for range 2 {
		do(t, <-done)
	}
	s := exact(t, f, psql)
	toldOnce(t, f)
	completed := number(t, psql, "SELECT count(*)::int FROM leasetop.jobs WHERE status = 'completed'")
	came := float64(number(t, psql, "SELECT count(*)::int FROM leasetop.jobs"))
	went := float64(number(t, psql, "SELECT count(*)::int FROM leasetop.jobs WHERE status IN ('completed', 'failed', 'dead')"))
	var in, out float64
	var finished int64
	for _, d := range s.Depths.Queues {
		in, out = in+total(d.SparkIn), out+total(d.Spark)
		finished += d.Finished
	}
	if in > came || out > went || finished > int64(completed) {
		t.Errorf("%.0f jobs are said to have come, of %.0f; %.0f gone, of %.0f; %d finished, of %d", in, came, out, went, finished, completed)
	}
	if notes := healthOf(s); len(notes) > 2*scaled(6, 60)+2 {
		t.Errorf("%d notes of health:\n%s", len(notes), strings.Join(notes, "\n"))
	}
}

// toil has jobs of a queue live their lives until something ends.
func toil(until context.Context, q *queue.Queue, name string) error {
	ctx := context.Background() // a statement that is cancelled may have been done
	for n := 0; rest(until, 10*time.Millisecond, nil); n++ {
		if _, err := q.Enqueue(ctx, queue.NewJob{Queue: name}, queue.NewJob{Queue: name, Delay: time.Hour}, queue.NewJob{Queue: name}, queue.NewJob{Queue: name}); err != nil {
			return err
		}
		jobs, err := q.Claim(ctx, queue.ClaimRequest{
			Queue: name, Lease: time.Hour, Limit: 3,
			Owner: queue.Token{Process: "host:1:test", Worker: name, Claim: claims.Add(1)}.String(),
		})
		if err != nil {
			return err
		}
		for i, job := range jobs {
			switch (n + i) % 4 {
			case 0:
				err = q.Bury(ctx, job.Lease(), "bad input")
			case 1:
				_, err = q.Retry(ctx, job.Lease(), "timeout", time.Hour)
			case 2:
				err = q.Complete(ctx, job.Lease())
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
