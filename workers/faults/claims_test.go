package faults

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
)

// sessions opens connections of their own.
func sessions(t *testing.T, url string, n int) []*pgx.Conn {
	t.Helper()
	all := make([]*pgx.Conn, n)
	for i := range all {
		all[i] = connect(t, newCable(t), url)
	}
	return all
}

func TestNaiveClaimGivesOneJobToTwoWorkersAndNeitherHears(t *testing.T) {
	t.Parallel()
	q, url := open(t)
	id := enqueue(t, q, queue.NewJob{})[0]
	both := sessions(t, url, 2)
	// Both look before either takes; a lock on the row holds them at that point.
	lock, err := q.Pool().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Exec(t.Context(), "SELECT FROM leasetop.jobs FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 2)
	for i, conn := range both {
		go func() {
			id, ok, err := Naive(t.Context(), conn, q.Schema(), "q", fmt.Sprintf("w%d", i), time.Minute)
			got <- fmt.Sprint(id, ok, err)
		}()
	}
	until(t, q, "SELECT count(*) = 2 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
	if err := lock.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range both {
		if claim := receive(t, "a claim", got); claim != fmt.Sprint(id, true, error(nil)) {
			t.Errorf("one got %s", claim)
		}
	}
	if job, err := q.Get(t.Context(), id); err != nil || job.Attempts != 2 || job.Status != queue.Processing {
		t.Errorf("%+v, %v", job, err)
	}
}

func TestBlockingClaimWaitsForWhoeverHoldsTheFirstJobAndSkippingDoesNot(t *testing.T) {
	t.Parallel()
	q, url := open(t)
	ids := enqueue(t, q, make([]queue.NewJob, 3)...)
	lock, err := q.Pool().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Exec(t.Context(), "SELECT FROM leasetop.jobs WHERE id = $1 FOR UPDATE", ids[0]); err != nil {
		t.Fatal(err)
	}
	both := sessions(t, url, 2)
	blocked := make(chan string, 1)
	go func() {
		id, ok, err := Blocking(t.Context(), both[0], q.Schema(), "q", "patient", time.Minute)
		blocked <- fmt.Sprint(id, ok, err)
	}()
	until(t, q, "SELECT count(*) = 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
	if id, ok, err := Skipping(t.Context(), both[1], q.Schema(), "q", "nimble", time.Minute); id != ids[1] || !ok || err != nil {
		t.Errorf("skipping got job %d, %v, %v", id, ok, err)
	}
	if !pending(blocked) {
		t.Error("blocking did not wait")
	}
	if err := lock.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if claim := receive(t, "the blocked claim", blocked); claim != fmt.Sprint(ids[0], true, error(nil)) {
		t.Errorf("blocking got %s", claim)
	}
}

func TestClaimsWithALockGiveEachJobOnceAndFinishOnlyTheOwners(t *testing.T) {
	t.Parallel()
	for name, claim := range map[string]Claimer{"blocking": Blocking, "skipping": Skipping} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q, url := open(t)
			const jobs = 60
			enqueue(t, q, make([]queue.NewJob, jobs)...)
			var racers sync.WaitGroup
			for i, conn := range sessions(t, url, 4) {
				racers.Go(func() {
					owner := fmt.Sprintf("w%d", i)
					for {
						id, ok, err := claim(t.Context(), conn, q.Schema(), "q", owner, time.Minute)
						if err != nil || !ok {
							if err != nil {
								t.Error(err)
							}
							return
						}
						if ok, err := Finish(t.Context(), conn, q.Schema(), id, "somebody else"); ok || err != nil {
							t.Errorf("somebody else finished it: %v", err)
						}
						if ok, err := Finish(t.Context(), conn, q.Schema(), id, owner); !ok || err != nil {
							t.Errorf("its owner did not finish it: %v", err)
						}
					}
				})
			}
			racers.Wait()
			if n := value[int](t, q, "SELECT count(*) FROM leasetop.jobs WHERE status = 'completed' AND attempts = 1"); n != jobs {
				t.Errorf("%d of %d were done once", n, jobs)
			}
		})
	}
}
