package queue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// openAs returns the queue as a role of its own sees it, with nothing but these grants.
func openAs(t *testing.T, owner *Queue, grants ...string) *Queue {
	t.Helper()
	role := fmt.Sprintf("leasetop_test_%08x", rand.Uint32())
	exec(t, owner, "create role "+role)
	t.Cleanup(func() {
		// The owner's pool is closed later, the database dropped last.
		for _, sql := range []string{"drop owned by " + role, "drop role " + role} {
			if _, err := owner.Pool().Exec(context.Background(), sql); err != nil {
				t.Error(err)
			}
		}
	})
	for _, grant := range grants {
		exec(t, owner, "grant "+grant+" to "+role)
	}
	q := must[*Queue](t)(Open(t.Context(), owner.Pool().Config().ConnString()+"&role="+role, Options{MaxConns: 2}))
	t.Cleanup(q.Close)
	return q
}

// The rights that a worker, a producer and an operator need, and no more.
func TestRightsOfAWorker(t *testing.T) {
	t.Parallel()
	owner := open(t)
	q := openAs(t, owner, "usage on schema leasetop", "select, insert, update on leasetop.jobs", "usage on sequence leasetop.jobs_id_seq", "select, insert on leasetop.once", "select on leasetop.queues")
	id := enqueue(t, q, NewJob{IdempotencyKey: "k"})
	must[[]Enqueued](t)(q.Enqueue(t.Context(), NewJob{Queue: "emails", IdempotencyKey: "k"}))
	job := claim(t, q, time.Minute)
	must[Beat](t)(q.Heartbeat(t.Context(), []Renewal{{job.Lease(), time.Minute}}))
	must[Status](t)(q.Retry(t.Context(), job.Lease(), "503", 0))
	ok(t, q.Release(t.Context(), claim(t, q, time.Minute).Lease()))
	ok(t, q.Bury(t.Context(), claim(t, q, time.Minute).Lease(), "poison"))
	must[Done](t)(q.Redrive(t.Context(), "ann", id))
	claim(t, q, time.Minute)
	expire(t, owner, id)
	must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10))
	lease := claim(t, q, time.Minute).Lease()
	ok(t, pgx.BeginFunc(t.Context(), q.Pool(), func(tx pgx.Tx) error {
		if _, err := q.Once(t.Context(), tx, "k"); err != nil {
			return err
		}
		return q.CompleteTx(t.Context(), tx, lease)
	}))
	must[Depths](t)(q.Depth(t.Context(), 0))
}

// Who may only look sees everything and changes nothing; the refusal names the table.
func TestRightsOfAnOnlooker(t *testing.T) {
	t.Parallel()
	owner := open(t)
	lease := claimed(t, owner, NewJob{}, time.Minute)
	dead := buried(t, owner, NewJob{})
	q := openAs(t, owner, "usage on schema leasetop", "select on leasetop.jobs")
	ok(t, q.Ping(t.Context()))
	get(t, q, lease.ID)
	must[Depths](t)(q.Depth(t.Context(), 100))
	for _, f := range []Filter{{}, {Statuses: DeadLetters}} {
		if jobs, _, err := q.List(t.Context(), f, Page{}); err != nil || len(jobs) == 0 {
			t.Errorf("listed %v, %v", jobs, err)
		}
	}
	if leases := must[[]Job](t)(q.Leases(t.Context(), 10)); len(leases) != 1 {
		t.Errorf("leases %v", leases)
	}
	_, enqueueErr := q.Enqueue(t.Context(), NewJob{Queue: "emails"})
	_, claimErr := q.Claim(t.Context(), ClaimRequest{Queue: "emails", Owner: "o", Lease: time.Second, Limit: 1})
	_, redriveErr := q.Redrive(t.Context(), "ann", dead)
	for _, err := range []error{enqueueErr, claimErr, redriveErr, q.Complete(t.Context(), lease)} {
		if err == nil || !strings.Contains(err.Error(), "permission denied for") {
			t.Errorf("error %v", err)
		}
	}
	if status := get(t, owner, lease.ID).Status; status != Processing {
		t.Errorf("it is %s", status)
	}
}
