package faults

import (
	"errors"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// another is what a second program on the same database has broken.
func another(t testing.TB, url string) *Damage {
	t.Helper()
	d := NewDamage(Target{Queue: openThrough(t, url, nil)})
	t.Cleanup(func() {
		if err := d.Close(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	return d
}

func look(t testing.TB, d *Damage) {
	t.Helper()
	if err := d.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
}

const (
	strangeJobs   = "SELECT count(*) > 0 FROM leasetop.jobs WHERE starts_with(queue, 'leasetop-fault-')"
	noStrangeJobs = "SELECT count(*) = 0 FROM leasetop.jobs WHERE starts_with(queue, 'leasetop-fault-')"
)

func TestSecondDashboardComesAndGoesAndWhatTheFirstBrokeStaysBroken(t *testing.T) {
	t.Parallel()
	target, first := target(t)
	q, url := target.Queue, target.Queue.Pool().Config().ConnString()
	before := value[string](t, q, readyIndex)
	// The jobs that are there before the second one looks must be there after it.
	begin(t, first, "naive")
	run(t, q, "INSERT INTO leasetop.jobs (queue, run_at) SELECT queue, now() + interval '1 h' FROM leasetop.jobs WHERE starts_with(queue, 'leasetop-fault-naive-') LIMIT 1")
	begin(t, first, "index")

	second := another(t, url)
	look(t, second)
	if all := second.Broken(); len(all) != 0 {
		t.Errorf("the second takes over %+v", all)
	}
	if !value[bool](t, q, "SELECT count(*) = 1 FROM leasetop.jobs WHERE run_at > now()") {
		t.Error("the second removed jobs of the first's workers")
	}
	if _, err := second.Start(t.Context(), "index", ""); !errors.Is(err, errHeld) {
		t.Errorf("the second drops what the first has dropped: %v", err)
	}
	begin(t, second, "naive") // beside that of the first
	if err := second.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if all := first.Broken(); len(all) != 2 || value[string](t, q, readyIndex) != "" || !value[bool](t, q, strangeJobs) {
		t.Errorf("after the second has gone %+v is broken, and the index is %q", all, value[string](t, q, readyIndex))
	}
	heal(t, first)
	if now := value[string](t, q, readyIndex); now != before || !value[bool](t, q, noStrangeJobs) {
		t.Errorf("healed, the index is %q, was %q", now, before)
	}
}

func TestWhatIsHealedCanBeBrokenByAnotherAtOnce(t *testing.T) {
	t.Parallel()
	target, first := target(t)
	second := another(t, target.Queue.Pool().Config().ConnString())
	for range 3 {
		begin(t, first, "index")
		heal(t, first)
		begin(t, second, "index")
		heal(t, second)
	}
}

// Whoever is killed lets go of what it has, as its sessions end.
func TestNextDashboardHealsWhatAKilledOneBroke(t *testing.T) {
	t.Parallel()
	target, _ := target(t)
	q, url := target.Queue, target.Queue.Pool().Config().ConnString()
	before := value[string](t, q, readyIndex)
	dies, err := takeHold(t.Context(), q, theIndex)
	if err != nil {
		t.Fatal(err)
	}
	if err := DropReadyIndex(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	jobs := strangeQueue("naive")
	alive, err := takeHold(t.Context(), q, jobs)
	if err != nil {
		t.Fatal(err)
	}
	run(t, q, "INSERT INTO leasetop.jobs (queue) VALUES ($1)", jobs)
	next := another(t, url)
	look(t, next)
	if all := next.Broken(); len(all) != 0 || !value[bool](t, q, strangeJobs) {
		t.Errorf("while it lives another has %+v", all)
	}
	dies.letGo()
	alive.letGo()
	look(t, next)
	if all := next.Broken(); len(all) != 1 || all[0].Name != "index" || !value[bool](t, q, noStrangeJobs) {
		t.Fatalf("the next one has %+v", all)
	}
	third := another(t, url)
	look(t, third)
	if all := third.Broken(); len(all) != 0 {
		t.Errorf("the one after it has %+v too", all)
	}
	heal(t, next)
	if now := value[string](t, q, readyIndex); now != before {
		t.Errorf("the index is %q, was %q", now, before)
	}
}

func TestHoldOutlastsItsSession(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t)
	url := testdb.On(t, server)
	q := openThrough(t, url, nil)
	held, err := takeHold(t.Context(), q, "something")
	if err != nil {
		t.Fatal(err)
	}
	defer held.letGo()
	const has = "SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND pid <> $1"
	ended := value[int32](t, q, "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
	run(t, q, "SELECT pg_terminate_backend($1)", ended)
	until(t, q, has, ended)
	if err := RestartServer(t.Context(), server, local.Immediate, nil); err != nil {
		t.Fatal(err)
	}
	until(t, openThrough(t, url, nil), has, 0)
	if _, err := takeHold(t.Context(), openThrough(t, url, nil), "something"); !errors.Is(err, errHeld) {
		t.Errorf("another has it too: %v", err)
	}
}

// It would hand the lock of one on to another.
func TestNothingThatStaysIsBrokenThroughAPooler(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	through, err := queue.Open(t.Context(), testdb.PgBouncer(t, url, "transaction"), queue.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(through.Close)
	d := NewDamage(Target{Queue: through})
	for _, fault := range []string{"index", "naive", "blocking"} {
		if got := why(t, d, fault, ""); !strings.Contains(got, "connect to the server itself") {
			t.Errorf("%s: %q", fault, got)
		}
	}
	look(t, d)
}

// The drop of an index waits for whoever uses the table.
func TestIndexWhoseDropIsInterruptedIsBroken(t *testing.T) {
	t.Parallel()
	target, d := target(t)
	before := value[string](t, target.Queue, readyIndex)
	tx, err := target.Queue.Pool().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT FROM leasetop.jobs"); err != nil {
		t.Fatal(err)
	}
	answer := make(chan error, 1)
	did := ""
	go func() {
		var err error
		did, err = d.Start(t.Context(), "index", "")
		answer <- err
	}()
	until(t, target.Queue, "SELECT count(*) > 0 FROM pg_index WHERE indexrelid = 'leasetop.jobs_ready'::regclass AND NOT indisvalid")
	run(t, target.Queue, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%DROP INDEX CONCURRENTLY%' AND pid <> pg_backend_pid()")
	if err := receive(t, "its answer", answer); err != nil || !strings.HasPrefix(did, "the ready index is half dropped: ") {
		t.Errorf("%q, %v", did, err)
	}
	if all := d.Broken(); len(all) != 1 || all[0].Name != "index" {
		t.Errorf("%+v is broken", all)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	heal(t, d)
	if now := value[string](t, target.Queue, readyIndex); now != before {
		t.Errorf("the index is %q, was %q", now, before)
	}
}
