package sql_test

import (
	"context"
	"strings"
	"testing"
	"time"

	leasesql "github.com/leasetop/leasetop/sql"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// A step that changes a table in use waits for its turn, and whoever comes after it
// waits too. So it steps aside, and the queue goes on although a transaction that has
// read the table stays open for longer than a lease.
func TestMigrateLetsTheQueueGoOnWhileItWaits(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	downTo(t, url, 3) // the fourth step adds a column
	reader, writer := connect(t, url), connect(t, url)
	exec(t, reader, "begin isolation level repeatable read")
	value[int](t, reader, "select count(*) from leasetop.jobs")

	migrated := make(chan error, 1)
	go func() {
		_, err := leasesql.Migrate(t.Context(), config(t, url), "")
		migrated <- err
	}()
	until(t, writer, "select exists (select from pg_locks where relation = 'leasetop.jobs'::regclass and not granted)")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // it gives up; the step itself would be tried for a minute
	defer cancel()
	if _, err := writer.Exec(ctx, "insert into leasetop.jobs (queue) values ('emails')"); err != nil {
		t.Errorf("the queue stood still: %v", err)
	}
	select {
	case err := <-migrated:
		t.Fatalf("migrated while the table was in use: %v", err)
	default:
	}
	exec(t, reader, "commit")
	if err := <-migrated; err != nil {
		t.Fatal(err)
	}
	if n := value[int](t, writer, "select count(*) from leasetop.jobs where cancelled_by is null"); n != 1 {
		t.Errorf("%d jobs", n)
	}
}

// Who has to give up says which transaction was in the way.
func TestMigrateNamesTheTransactionInItsWay(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	downTo(t, url, 3)
	reader := connect(t, url+"&application_name=nightly-report")
	exec(t, reader, "begin")
	value[int](t, reader, "select count(*) from leasetop.jobs")
	ctx, cancel := context.WithCancel(t.Context())
	steps := make(chan error, 1)
	go func() {
		_, err := leasesql.Migrate(ctx, config(t, url), "")
		steps <- err
	}()
	watcher := connect(t, url)
	waits := "select exists (select from pg_locks where relation = 'leasetop.jobs'::regclass and not granted)"
	until(t, watcher, waits)
	until(t, watcher, strings.Replace(waits, "exists", "not exists", 1)) // it stepped aside
	until(t, watcher, waits)                                             // and tries again
	cancel()
	if err := <-steps; err == nil || !strings.Contains(err.Error(), `("nightly-report", user "postgres") holds a table of schema leasetop`) || !strings.HasPrefix(err.Error(), "00004_cancel.sql: ") {
		t.Errorf("error %v", err)
	}
	if n := applied(t, url); n != 3 {
		t.Errorf("%d steps", n)
	}
}
