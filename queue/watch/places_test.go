package watch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// crowd is many, counted.
var crowd = queue.QueueDepth{Ready: 14, Scheduled: 7, Processing: 21, Completed: 21, Failed: 21, Dead: 21}

// polls waits for the reason why there is no stream and checks that everything which a
// poll can know is known and right all the same.
func polls(t *testing.T, f *Feed, reason string) *State {
	t.Helper()
	s := await(t, f, "a reason and counts", func(s *State) bool {
		return strings.Contains(s.WAL.Reason, reason) && s.Depths.Source == Polled && s.Dead.Source != Unknown
	})
	if got := sum(s); got != crowd || s.Leases.Total != 21 || s.Leases.Source != Polled || s.Dead.Total != 42 || s.WAL.OK || !s.Polling.OK {
		t.Errorf("%+v, %d leases, %d dead letters, %+v, %+v", got, s.Leases.Total, s.Dead.Total, s.WAL, s.Polling)
	}
	notes := 0
	for _, note := range healthOf(s) {
		if strings.HasPrefix(note, linkNames[FromWAL]) {
			notes++
		}
	}
	if notes != 1 {
		t.Errorf("told %q", healthOf(s))
	}
	return s
}

// follows waits until the same figures come from the stream.
func follows(t *testing.T, f *Feed) {
	t.Helper()
	s := await(t, f, "counts kept by the stream", func(s *State) bool { return s.Depths.Source == FromWAL && s.WAL.OK })
	if got := sum(s); got != crowd || s.Leases.Total != 21 || s.Leases.Source != FromWAL {
		t.Errorf("%+v, %d leases", got, s.Leases.Total)
	}
}

// CASES "No replication": one line, and polling; the cure that it names brings the stream.
func TestWithoutTheStreamTheReasonIsToldAndItsCureCures(t *testing.T) {
	t.Parallel()
	do := func(statements ...string) func(*testing.T, *pgx.Conn) {
		return func(t *testing.T, psql *pgx.Conn) {
			for _, sql := range statements {
				exec(t, psql, sql)
			}
		}
	}
	const published = "ALTER PUBLICATION leasetop_jobs SET TABLE leasetop.jobs (id, queue, kind, status, attempts, max_attempts, run_at, locked_at, locked_by, lease_expires_at, created_at, updated_at, cancelled_by), leasetop.jobs_archive (id, queue, archived_by)"
	for _, c := range []struct {
		name, setting, role string
		harm                func(*testing.T, *pgx.Conn)
		reason              string
		cure                func(*testing.T, *pgx.Conn) // nil: it takes a restart
	}{
		{
			name: "wal_level is replica", setting: "wal_level=replica",
			reason: "wal_level is replica: ALTER SYSTEM SET wal_level = 'logical' and restart PostgreSQL",
		},
		{
			name: "no slots at all", setting: "max_replication_slots=0",
			reason: "raise max_replication_slots",
		},
		{
			name: "no free slot", setting: "max_replication_slots=1",
			harm:   do("SELECT pg_create_logical_replication_slot('theirs', 'pgoutput')"),
			reason: "all replication slots are in use: raise max_replication_slots, or drop one that nobody reads",
			cure:   do("SELECT pg_drop_replication_slot('theirs')"),
		},
		{
			name: "no free walsender", setting: "max_wal_senders=1",
			harm: func(t *testing.T, psql *pgx.Conn) {
				config := psql.Config()
				config.RuntimeParams["replication"] = "database"
				config.RuntimeParams["application_name"] = "theirs"
				conn, err := pgconn.ConnectConfig(t.Context(), &config.Config)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = conn.Close(context.Background()) })
			},
			reason: "no connection left for a replication stream: raise max_wal_senders",
			cure:   do("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'theirs'"),
		},
		{
			name: "no right", role: "watcher",
			reason: "the role may not replicate: ALTER ROLE \"watcher\" REPLICATION, if it is for watching alone: with that it can read every table of the cluster",
			cure:   do("ALTER ROLE watcher REPLICATION"),
		},
		{
			name: "no publication", harm: do("DROP PUBLICATION leasetop_jobs"),
			reason: "no publication leasetop_jobs",
			cure:   do("CREATE PUBLICATION leasetop_jobs", published),
		},
		{
			name: "publication without the table", harm: do("ALTER PUBLICATION leasetop_jobs DROP TABLE leasetop.jobs"),
			reason: "no publication leasetop_jobs",
			cure:   do(published),
		},
		{
			name: "publication without columns", harm: do("ALTER PUBLICATION leasetop_jobs SET TABLE leasetop.jobs (id, queue, kind, attempts, max_attempts, run_at, locked_at, locked_by, lease_expires_at)"),
			reason: "status, updated_at are left out of the publication leasetop_jobs",
			cure:   do(published),
		},
		{
			name: "publication without some rows", harm: do("ALTER PUBLICATION leasetop_jobs SET TABLE leasetop.jobs WHERE (id > 7)"),
			reason: "changes are left out of the publication leasetop_jobs",
			cure:   do(published),
		},
		{
			name: "publication without deletions", harm: do("ALTER PUBLICATION leasetop_jobs SET (publish = 'insert, update, truncate')"),
			reason: "changes are left out of the publication leasetop_jobs",
			cure:   do("ALTER PUBLICATION leasetop_jobs SET (publish = 'insert, update, delete, truncate')"),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var settings []string
			if c.setting != "" {
				settings = []string{c.setting}
			}
			url := testdb.On(t, testdb.Server(t, settings...))
			psql := client(t, url)
			exec(t, psql, many, 21)
			if c.harm != nil {
				c.harm(t, psql)
			}
			if c.role != "" {
				do("CREATE ROLE "+c.role+" LOGIN", "GRANT USAGE ON SCHEMA leasetop TO "+c.role,
					"GRANT SELECT ON ALL TABLES IN SCHEMA leasetop TO "+c.role)(t, psql)
				url = strings.Replace(url, "postgres@", c.role+"@", 1)
			}
			f := start(t, open(t, url), Options{})
			if s := polls(t, f, c.reason); s.Server.ReadOnly != (c.role != "") {
				t.Errorf("%+v", s.Server)
			}
			await(t, f, "notifications", func(s *State) bool { return s.Notify.OK })
			if c.cure != nil {
				c.cure(t, psql)
				poke(f.retryWAL) // else within half a minute
				follows(t, f)
			}
		})
	}
}

// CASES "Standby, then promoted".
func TestStandbyIsReadOnlyUntilItIsPromoted(t *testing.T) {
	t.Parallel()
	primary := testdb.Server(t)
	url := testdb.On(t, primary)
	exec(t, client(t, url), many, 21)
	standby := testdb.Standby(t, primary)
	q := open(t, standby.URL(client(t, url).Config().Database))
	f := start(t, q, Options{})
	s := polls(t, f, "connected to a standby: the stream needs the primary")
	if !s.Server.ReadOnly {
		t.Errorf("%+v", s.Server)
	}
	await(t, f, "why nothing is heard", func(s *State) bool {
		return !s.Notify.OK && strings.HasPrefix(s.Notify.Reason, "a standby has no notifications: connect to the primary")
	})
	exec(t, client(t, url), "DELETE FROM leasetop.jobs WHERE status = 'completed' OR status = 'dead'")
	await(t, f, "what the primary did", func(s *State) bool { return sum(s).Dead == 0 && sum(s).Completed == 0 && s.Dead.Total == 21 })
	if _, err := q.Enqueue(t.Context(), queue.NewJob{Queue: "emails"}); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("enqueue: %v", err)
	}
	exec(t, client(t, q.Pool().Config().ConnString()), "SELECT pg_promote()")
	s = await(t, f, "everything by itself", func(s *State) bool { return attached(s) && s.Depths.Source == FromWAL && !s.Server.ReadOnly })
	if got := sum(s); got.Ready != 14 || got.Failed != 21 || got.Dead != 0 {
		t.Errorf("%+v", got)
	}
	id := enqueue(t, q, queue.NewJob{})
	await(t, f, "what it was given", func(s *State) bool { return len(s.Events) > 0 && s.Events[len(s.Events)-1].JobID == id })
}

// A database that is read-only by default is watched as any other, and said to be so.
func TestReadOnlyByDefaultIsSaid(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t))
	psql := client(t, url)
	exec(t, psql, many, 21)
	exec(t, psql, fmt.Sprintf("ALTER DATABASE %s SET default_transaction_read_only = on", pgx.Identifier{psql.Config().Database}.Sanitize()))
	q := open(t, url)
	f := start(t, q, Options{})
	follows(t, f)
	s := await(t, f, "every connection up", attached)
	if !s.Server.ReadOnly {
		t.Errorf("%+v", s.Server)
	}
	if _, err := q.Discard(t.Context(), "ann", "", 1); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("discard: %v", err)
	}
}

// CASES "Server not UTF-8": refused with the reason, by each connection, once.
func TestDatabaseThatIsNotUTF8IsRefusedInWords(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"LATIN1", "SQL_ASCII"} {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			server := testdb.Server(t)
			exec(t, client(t, server.URL("postgres")), "CREATE DATABASE other TEMPLATE template0 LOCALE 'C' ENCODING '"+encoding+"'")
			url := server.URL("other")
			// As a dump of a queue would bring it.
			exec(t, client(t, url), "CREATE SCHEMA leasetop")
			exec(t, client(t, url), "CREATE TABLE leasetop.jobs (id bigint PRIMARY KEY, queue text)")
			f := start(t, open(t, url), Options{})
			want := "the database is not UTF-8: it stores text as " + encoding
			s := await(t, f, "the reasons", func(s *State) bool {
				return strings.HasPrefix(s.WAL.Reason, want) && strings.HasPrefix(s.Notify.Reason, want) && strings.HasPrefix(s.Polling.Reason, want)
			})
			if len(healthOf(s)) != 3 || s.Depths.Source != Unknown {
				t.Errorf("told %q, %+v", healthOf(s), s.Depths)
			}
			if err := open(t, url).Ping(t.Context()); !errors.Is(err, queue.ErrEncoding) {
				t.Errorf("ping: %v", err)
			}
		})
	}
}
