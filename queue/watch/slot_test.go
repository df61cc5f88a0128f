package watch

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

const segment = 16 << 20 // bytes of a WAL file

// The queue is idle and the server is not: our slot keeps none of its WAL for long. The
// server lets go of it in two steps, at each second record of who runs, and it makes
// one with every checkpoint and every 15 s.
func TestIdleQueueOnABusyServerPinsNoWAL(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t, "autovacuum=off", "max_wal_size=1GB"))
	psql := client(t, url)
	f := start(t, open(t, url), Options{})
	exact(t, f, psql)
	began, version := lastEvent(f.State()), f.State().Version
	pinned := func() (confirmed, restart int) {
		do(t, psql.QueryRow(t.Context(), `SELECT pg_current_wal_lsn() - confirmed_flush_lsn, pg_current_wal_lsn() - restart_lsn
			FROM pg_replication_slots`).Scan(&confirmed, &restart))
		return confirmed, restart
	}
	from := lsn(t, psql)
	exec(t, psql, "CREATE TABLE elsewhere (t text)")
	exec(t, psql, "ALTER TABLE elsewhere ALTER t SET STORAGE plain")
	mostLag, mostPinned := 0, 0
	for written := 0; written < scaled(6, 320)*segment; written = number(t, psql, "SELECT (pg_current_wal_lsn() - $1::text::pg_lsn)::bigint", from) {
		exec(t, psql, "INSERT INTO elsewhere SELECT repeat('x', 7000) FROM generate_series(1, 1000)")
		exec(t, psql, "TRUNCATE elsewhere")
		if full {
			confirmed, restart := pinned()
			mostLag, mostPinned = max(mostLag, confirmed), max(mostPinned, restart)
		}
	}
	waitFor(t, "a slot that pins no more than three segments", func() bool {
		exec(t, psql, "CHECKPOINT")
		confirmed, restart := pinned()
		return confirmed < segment && restart < 3*segment
	})
	if full {
		t.Logf("while it wrote %d MB the slot was %d MB behind at most, and pinned %d MB", scaled(6, 320)*16, mostLag>>20, mostPinned>>20)
	}
	s := f.State()
	if !attached(s) || lastEvent(s) != began {
		t.Errorf("WAL %+v, %d events", s.WAL, lastEvent(s)-began)
	}
	if s.Version == version {
		t.Error("no State since")
	}
}

func lsn(t *testing.T, psql *pgx.Conn) (position string) {
	t.Helper()
	do(t, psql.QueryRow(t.Context(), "SELECT pg_current_wal_lsn()").Scan(&position))
	return position
}

// Dashboards that start at once, and again within a second, get a slot each.
func TestSlotNamesNeverClash(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t, "autovacuum=off", "max_replication_slots=8", "max_wal_senders=8"))
	psql, q := client(t, url), open(t, url)
	seen := map[string]bool{}
	for range 3 {
		var feeds []*Feed
		for range 4 {
			feeds = append(feeds, start(t, q, Options{}))
		}
		for _, f := range feeds {
			await(t, f, "a stream", attached)
		}
		rows, err := psql.Query(t.Context(), "SELECT slot_name FROM pg_replication_slots")
		do(t, err)
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		do(t, err)
		if len(names) != len(feeds) {
			t.Errorf("%d feeds have the slots %q", len(feeds), names)
		}
		for _, name := range names {
			if seen[name] || !strings.HasPrefix(name, "leasetop_") {
				t.Errorf("slot %q again, or of nobody", name)
			}
			seen[name] = true
		}
		for _, f := range feeds {
			f.Close()
			if notes := healthOf(f.State()); len(notes) > 0 {
				t.Errorf("health: %q", notes)
			}
		}
		if n := slots(t, psql); n != 0 {
			t.Errorf("%d slots are left", n)
		}
	}
}
