package workers

import (
	"context"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// A kind's lease is shorter than the one it was claimed with. The first renewal lands, its
// answer does not: from then on the database counts the short one, and so must the worker.
func TestUnansweredRenewalForLessShortensTrust(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	near := openAt(t, url, nil)
	net := newRelay(t, 0, 300*time.Millisecond)
	far := openAt(t, url, net.through)
	first, second := make(chan context.Context, 1), make(chan error, 1)
	var handler context.Context
	h := NewHandlers()
	h.Kind("short", func(ctx context.Context, job *queue.Job) error {
		if job.Attempts > 1 {
			second <- handler.Err()
			return nil
		}
		first <- ctx
		<-ctx.Done()
		return ctx.Err()
	}, WithLease(3*time.Second))
	p, err := New(far, h, Options{Lease: 15 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop(context.Background()) }) // it names the job: that the rival took it back is not known to it
	start(t, p)
	spawn(t, p, 1, "q")
	rival := startPool(t, near, h, Options{Lease: 15 * time.Second}, 0)
	id := enqueue(t, near, queue.NewJob{Kind: "short"})[0]
	handler = receive(t, "the first run", first)
	until(t, near, 1, "SELECT count(*) FROM leasetop.jobs WHERE id = $1 AND lease_expires_at <= updated_at + interval '4 s'", id)
	net.stall()
	spawn(t, rival, 1, "q")
	if err := receive(t, "the second run", second); err == nil {
		t.Error("the first handler may go on beside the second")
	}
	net.resume()
}
