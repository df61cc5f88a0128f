package queue

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// CASES "Session-bound ownership": a claim belongs to its token, not to the
// session that made it. When every session ends, the job is still its owner's
// until the lease ends, and the owner finishes over another session.
func TestOwnershipOutlivesItsSession(t *testing.T) {
	t.Parallel()
	q := open(t)
	lease := claimed(t, q, NewJob{}, time.Minute)
	before := rowOf(t, q, lease.ID)

	admin := must[*pgx.Conn](t)(pgx.ConnectConfig(t.Context(), q.ConnConfig()))
	defer admin.Close(t.Context())
	must[any](t)(admin.Exec(t.Context(), "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"))
	q.Pool().Reset()

	stillOwned(t, q, lease, before)
}

func TestOwnershipOutlivesTheServer(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t)
	q := must[*Queue](t)(Open(t.Context(), testdb.On(t, server), Options{}))
	t.Cleanup(q.Close)
	lease := claimed(t, q, NewJob{}, time.Minute)
	before := rowOf(t, q, lease.ID)

	ok(t, server.Restart(t.Context(), local.Fast))
	q.Pool().Reset()

	stillOwned(t, q, lease, before)
}

func stillOwned(t *testing.T, q *Queue, lease Lease, before string) {
	t.Helper()
	if after := rowOf(t, q, lease.ID); after != before {
		t.Errorf("the row changed:\n%s\n%s", before, after)
	}
	if jobs := take(t, q, "emails", 10); len(jobs) != 0 {
		t.Errorf("claimed %v, which is owned", jobs)
	}
	if taken := must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10)); len(taken) != 0 {
		t.Errorf("reclaimed %v in its lease", taken)
	}
	if beat := must[Beat](t)(q.Heartbeat(t.Context(), []Renewal{{Lease: lease, For: time.Minute}})); len(beat.Renewed) != 1 {
		t.Errorf("%+v", beat)
	}
	ok(t, q.Complete(t.Context(), lease))
}

// A session that ends in the middle of a claim leaves the job claimed for nobody
// or not claimed, and in both cases the next one gets it.
func TestClaimCutOffInTheMiddle(t *testing.T) {
	t.Parallel()
	q := open(t)
	for range 20 {
		enqueue(t, q, NewJob{})
	}
	for n := range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n)*200*time.Microsecond)
		jobs, err := q.Claim(ctx, ClaimRequest{Queue: "emails", Owner: owner(), Lease: time.Nanosecond, Limit: 1})
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) || err == nil && len(jobs) != 1 {
			t.Errorf("%v, %v", jobs, err)
		}
	}
	// Whatever was committed, its lease is over.
	for {
		if taken := must[[]Reclaimed](t)(q.Reclaim(t.Context(), 100)); len(taken) == 0 && count(t, q, "select count(*) from leasetop.jobs where status = 'processing'") == 0 {
			break
		}
	}
	if jobs := take(t, q, "emails", 100); len(jobs) != 20 {
		t.Errorf("%d of 20 jobs can be claimed", len(jobs))
	}
}

func TestErrorsNameTheOperationAndTheCure(t *testing.T) {
	t.Parallel()
	q := must[*Queue](t)(Open(t.Context(), testdb.Empty(t), Options{Schema: "elsewhere"}))
	t.Cleanup(q.Close)
	_, claimErr := q.Claim(t.Context(), ClaimRequest{Queue: "emails", Owner: "o", Lease: time.Second, Limit: 1})
	_, enqueueErr := q.Enqueue(t.Context(), NewJob{Queue: "emails"})
	_, depthErr := q.Depth(t.Context(), 0)
	_, _, listErr := q.List(t.Context(), Filter{}, Page{})
	for _, err := range []error{claimErr, enqueueErr, depthErr, listErr, q.Ping(t.Context())} {
		if !errors.Is(err, ErrSchemaMissing) {
			t.Errorf("error %v, want ErrSchemaMissing", err)
		}
	}
	want := "claim from \"emails\": there is no table elsewhere.jobs in this database: run `leasetop migrate up`, or name another --schema"
	if claimErr.Error() != want {
		t.Errorf("%s", claimErr)
	}
	if _, err := Open(t.Context(), "", Options{Schema: "Robert'); drop"}); err == nil {
		t.Error("opened with a refused schema name")
	}
}
