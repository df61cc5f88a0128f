package watch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// A replication slot waits for every write transaction of the cluster. Until they end
// the feed polls, and names the one that it waits for.
func TestAttachWaitsForAnOpenWriteTransactionAndNamesIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		open func(t *testing.T, somebody *pgx.Conn) (named []string)
		end  string
	}{
		{"open", func(t *testing.T, somebody *pgx.Conn) []string {
			exec(t, somebody, "SET application_name = 'nightly'")
			exec(t, somebody, "BEGIN")
			exec(t, somebody, "INSERT INTO elsewhere VALUES (1)")
			return []string{fmt.Sprintf("process %d ", somebody.PgConn().PID()), "nightly", "user postgres", "open since "}
		}, "COMMIT"},
		{"prepared", func(t *testing.T, somebody *pgx.Conn) []string {
			exec(t, somebody, "BEGIN")
			exec(t, somebody, "INSERT INTO elsewhere VALUES (1)")
			exec(t, somebody, "PREPARE TRANSACTION 'transfer 17'")
			return []string{"prepared transaction \"transfer 17\" of postgres", "open since "}
		}, "ROLLBACK PREPARED 'transfer 17'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := testdb.Server(t, "autovacuum=off", "max_prepared_transactions=2")
			url := testdb.On(t, server)
			other, err := server.Database(t.Context(), "other") // of the same cluster
			do(t, err)
			somebody, psql, q := client(t, other), client(t, url), open(t, url)
			exec(t, somebody, "CREATE TABLE elsewhere (n int)")
			for range 3 {
				enqueue(t, q, queue.NewJob{})
			}
			named := c.open(t, somebody)

			f := start(t, q, Options{})
			names := func(s *State) bool {
				for _, part := range named {
					if !strings.Contains(s.WAL.Reason, part) {
						return false
					}
				}
				return !s.WAL.OK
			}
			await(t, f, fmt.Sprintf("the transaction named, with %q", named), names)
			enqueue(t, q, queue.NewJob{})
			claim(t, q, time.Hour)
			want := tableCounts(t, psql)
			s := await(t, f, "what happens meanwhile, polled", func(s *State) bool { return slices.Equal(counts(s), want) })
			if s.Depths.Source != Polled || s.Leases.Source != Polled || !names(s) {
				t.Errorf("depths %q, leases %q, WAL %+v", s.Depths.Source, s.Leases.Source, s.WAL)
			}
			if notes := healthOf(s); len(notes) != 1 {
				t.Errorf("the one transaction is told %d times: %q", len(notes), notes)
			}
			exec(t, somebody, c.end)
			exact(t, f, psql)
		})
	}
}

// A network that falls silent when the slot has been made, and before it streams: the
// server hears no more of us and keeps no slot for that.
func TestFeedCutOffWhileItAttachesLeavesNoSlot(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t, "autovacuum=off"))
	psql := client(t, url)
	n := &network{app: "leasetop feed wal", until: "START_REPLICATION"}
	f := Start(t.Context(), across(t, url, n), Options{})
	waitFor(t, "silence", func() bool { return n.silenced() > 0 })
	f.Close()
	if slots(t, psql) == 0 {
		t.Fatal("no slot is cut off")
	}
	waitFor(t, "no slot", func() bool { return slots(t, psql) == 0 })
}

// waitFor waits for what nothing tells of, such as what the server has left.
func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for giveUp := time.Now().Add(time.Minute); !ok(); {
		if time.Now().After(giveUp) {
			t.Fatalf("not within a minute: %s", what)
		}
		rest(t.Context(), 20*time.Millisecond, nil)
	}
}
