package queue

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestHeartbeatRenewsEachForItsOwnLength(t *testing.T) {
	t.Parallel()
	q := open(t)
	short, long := claimed(t, q, NewJob{}, time.Minute), claimed(t, q, NewJob{}, time.Minute)
	beat := must[Beat](t)(q.Heartbeat(t.Context(), []Renewal{{Lease: long, For: 2 * time.Hour}, {Lease: short, For: 90 * time.Second}}))
	if len(beat.Renewed) != 2 {
		t.Fatalf("renewed %v", beat.Renewed)
	}
	for lease, length := range map[Lease]time.Duration{short: 90 * time.Second, long: 2 * time.Hour} {
		job := get(t, q, lease.ID)
		if got := job.LeaseExpiresAt.Sub(job.UpdatedAt); got != length {
			t.Errorf("job %d is leased for %v from the beat, want %v", lease.ID, got, length)
		}
	}
}

// A row that another transaction holds just now must not hold up the other
// leases of the process, and its lease stands.
func TestHeartbeatDoesNotWaitForALockedRow(t *testing.T) {
	t.Parallel()
	q := open(t)
	locked, free := claimed(t, q, NewJob{}, time.Minute), claimed(t, q, NewJob{}, time.Minute)
	tx := begin(t, q)
	must[any](t)(tx.Exec(t.Context(), "select from leasetop.jobs where id = $1 for update", locked.ID))
	before := rowOf(t, q, locked.ID)

	beat := must[Beat](t)(q.Heartbeat(t.Context(), []Renewal{{Lease: locked, For: time.Hour}, {Lease: free, For: time.Hour}}))
	if len(beat.Renewed) != 1 || beat.Renewed[0] != free || len(beat.Contended) != 1 || beat.Contended[0] != locked || len(beat.Lost) != 0 {
		t.Fatalf("%+v", beat)
	}
	if after := rowOf(t, q, locked.ID); after != before {
		t.Errorf("the locked row changed:\n%s\n%s", before, after)
	}
}

// What is left counts, and 0 asks for nothing: also a lease that ran out is renewed.
func TestHeartbeatRenewsOnlyWhatHasEnoughLeft(t *testing.T) {
	t.Parallel()
	q := open(t)
	lease, expired := claimed(t, q, NewJob{}, time.Hour), claimed(t, q, NewJob{}, time.Hour)
	expire(t, q, expired.ID)
	for _, c := range []struct {
		lease   Lease
		left    time.Duration
		renewed bool
	}{
		{lease, 2 * time.Hour, false},
		{expired, time.Microsecond, false},
		{lease, 30 * time.Minute, true},
		{expired, 0, true},
		{lease, -time.Hour, true},
	} {
		before := rowOf(t, q, c.lease.ID)
		beat := must[Beat](t)(q.Heartbeat(t.Context(), []Renewal{{Lease: c.lease, For: time.Hour, Left: c.left}}))
		if renewed := len(beat.Renewed) == 1; renewed != c.renewed || renewed == (len(beat.Contended) == 1) || len(beat.Lost) != 0 {
			t.Errorf("with %v to be left of job %d: %+v", c.left, c.lease.ID, beat)
		}
		if changed := rowOf(t, q, c.lease.ID) != before; changed != c.renewed {
			t.Errorf("with %v to be left of job %d its row changed: %v", c.left, c.lease.ID, changed)
		}
	}
}

// A heartbeat may have to wait within its transaction, as while the table is locked.
func TestHeartbeatCountsWhatIsLeftWhenItRuns(t *testing.T) {
	t.Parallel()
	q := open(t)
	lease := claimed(t, q, NewJob{}, time.Hour)
	tx := begin(t, q)
	must[any](t)(tx.Exec(t.Context(), "select now()"))
	exec(t, q, "update leasetop.jobs set lease_expires_at = clock_timestamp() where id = $1", lease.ID)
	beat := must[Beat](t)(q.HeartbeatOn(t.Context(), tx, []Renewal{{Lease: lease, For: time.Hour, Left: time.Microsecond}}))
	if len(beat.Contended) != 1 {
		t.Errorf("%+v, want the lease left as it is", beat)
	}
}

func TestHeartbeatTellsWhoHasALostLease(t *testing.T) {
	t.Parallel()
	q := open(t)
	stolen, gone, done := claimed(t, q, NewJob{}, time.Minute), claimed(t, q, NewJob{}, time.Minute), claimed(t, q, NewJob{}, time.Minute)
	expire(t, q, stolen.ID)
	must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10))
	thief := claim(t, q, time.Minute).Lease()
	exec(t, q, "delete from leasetop.jobs where id = $1", gone.ID)
	ok(t, q.Complete(t.Context(), done))

	beat := must[Beat](t)(q.Heartbeat(t.Context(), []Renewal{{Lease: stolen, For: time.Hour}, {Lease: gone, For: time.Hour}, {Lease: done, For: time.Hour}}))
	want := []LostLease{{stolen, Processing, thief.Token}, {gone, "", ""}, {done, Completed, ""}}
	if len(beat.Lost) != 3 || beat.Lost[0] != want[0] || beat.Lost[1] != want[1] || beat.Lost[2] != want[2] {
		t.Fatalf("lost %+v, want %+v", beat.Lost, want)
	}
}

// A process can hold a stale claim and the fresh one of the same job: its zombie
// came back. One statement renews for all its workers, and must tell them apart.
func TestHeartbeatKnowsTwoClaimsOfOneJobApart(t *testing.T) {
	t.Parallel()
	q := open(t)
	stale := claimed(t, q, NewJob{}, time.Minute)
	expire(t, q, stale.ID)
	must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10))
	fresh := claim(t, q, time.Minute).Lease()

	beat := must[Beat](t)(q.Heartbeat(t.Context(), []Renewal{{Lease: stale, For: time.Hour}, {Lease: fresh, For: time.Hour}}))
	if len(beat.Renewed) != 1 || beat.Renewed[0] != fresh || len(beat.Lost) != 1 || beat.Lost[0].Lease != stale {
		t.Fatalf("%+v, want %v renewed and %v lost", beat, fresh, stale)
	}
}

// A heartbeat may run on a pool, a connection and inside a transaction.
func TestHeartbeatRunsOnWhatItIsGiven(t *testing.T) {
	t.Parallel()
	q := open(t)
	lease := claimed(t, q, NewJob{}, time.Minute)
	renewal := []Renewal{{Lease: lease, For: time.Hour}}
	conn := must[*pgx.Conn](t)(pgx.ConnectConfig(t.Context(), q.ConnConfig()))
	defer conn.Close(t.Context())
	for name, on := range map[string]Executor{"pool": q.Pool(), "connection": conn} {
		if beat := must[Beat](t)(q.HeartbeatOn(t.Context(), on, renewal)); len(beat.Renewed) != 1 {
			t.Errorf("on a %s: %+v", name, beat)
		}
	}

	before := rowOf(t, q, lease.ID)
	tx := must[pgx.Tx](t)(conn.Begin(t.Context()))
	if beat := must[Beat](t)(q.HeartbeatOn(t.Context(), tx, renewal)); len(beat.Renewed) != 1 {
		t.Errorf("in a transaction: %+v", beat)
	}
	ok(t, tx.Rollback(t.Context()))
	if after := rowOf(t, q, lease.ID); after != before {
		t.Errorf("a beat in a transaction rolled back renewed the lease:\n%s\n%s", before, after)
	}
}

func TestHeartbeatRefusesNoLease(t *testing.T) {
	t.Parallel()
	q := open(t)
	lease := claimed(t, q, NewJob{}, time.Minute)
	if _, err := q.Heartbeat(t.Context(), []Renewal{{Lease: lease, For: 0}}); err == nil || !strings.Contains(err.Error(), "longer than zero") {
		t.Errorf("error %v", err)
	}
	if beat, err := q.Heartbeat(t.Context(), nil); err != nil || beat.Renewed != nil {
		t.Errorf("no renewals: %+v, %v", beat, err)
	}
}

func TestNextExpiry(t *testing.T) {
	t.Parallel()
	q := open(t)
	if _, found, err := q.NextExpiry(t.Context()); found || err != nil {
		t.Errorf("without leases: found %v, %v", found, err)
	}
	first := claimed(t, q, NewJob{}, time.Hour)
	claimed(t, q, NewJob{}, 2*time.Hour)
	in, found, err := q.NextExpiry(t.Context())
	if !found || err != nil || in > time.Hour || in < time.Hour-time.Minute {
		t.Errorf("in %v, %v, %v", in, found, err)
	}
	expire(t, q, first.ID)
	if in, found, err := q.NextExpiry(t.Context()); !found || err != nil || in > 0 {
		t.Errorf("with an expired lease: in %v, %v, %v", in, found, err)
	}
}

func TestExpiryToComeLeavesOutWhatHasExpired(t *testing.T) {
	t.Parallel()
	q := open(t)
	expire(t, q, claimed(t, q, NewJob{}, time.Hour).ID)
	if in, found, err := q.ExpiryToCome(t.Context()); found || err != nil {
		t.Errorf("when all have expired: in %v, %v, %v", in, found, err)
	}
	claimed(t, q, NewJob{}, 2*time.Hour)
	claimed(t, q, NewJob{}, time.Hour)
	in, found, err := q.ExpiryToCome(t.Context())
	if !found || err != nil || in > time.Hour || in < time.Hour-time.Minute {
		t.Errorf("in %v, %v, %v", in, found, err)
	}
}

// A handler's open transaction has inserted a row that points to its job: that locks
// the job's key, and keeps nobody from renewing, cancelling or reclaiming it.
func TestForeignKeyOnTheJobKeepsNobodyOff(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, "create table invoices (job bigint references leasetop.jobs)")
	dead, lease := buried(t, q, NewJob{}), claimed(t, q, NewJob{}, time.Minute)
	tx := begin(t, q)
	must[any](t)(tx.Exec(t.Context(), "insert into invoices values ($1)", dead))
	must[any](t)(tx.Exec(t.Context(), "insert into invoices values ($1)", lease.ID))

	if beat := must[Beat](t)(q.Heartbeat(t.Context(), []Renewal{{Lease: lease, For: time.Hour}})); len(beat.Renewed) != 1 {
		t.Errorf("%+v", beat)
	}
	if asked := cancelled(t, q, "ann", lease.ID).Asked; len(asked) != 1 {
		t.Errorf("asked %v", asked)
	}
	if locked, lost, err := q.CompleteUnlocked(t.Context(), []Lease{lease}); err != nil || len(locked)+len(lost) != 0 {
		t.Errorf("completed: locked %v, lost %v, %v", locked, lost, err)
	}
	next := claimed(t, q, NewJob{}, time.Minute)
	must[any](t)(tx.Exec(t.Context(), "insert into invoices values ($1)", next.ID))
	expire(t, q, next.ID)
	if taken := must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10)); len(taken) != 1 {
		t.Errorf("reclaimed %+v", taken)
	}
	if done := must[Done](t)(q.Redrive(t.Context(), "ann", dead)); len(done.IDs) != 1 {
		t.Errorf("redriven %+v", done)
	}
	ok(t, tx.Rollback(t.Context()))
}
