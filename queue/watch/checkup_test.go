package watch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// examine waits for a checkup that was asked for now and is as wanted.
func examine(t testing.TB, f *Feed, what string, ok func(*Checkup) bool) *State {
	t.Helper()
	asked := time.Now()
	f.Refresh()
	return await(t, f, "a checkup with "+what, func(s *State) bool {
		if s.Health.Read.Before(asked) {
			return false
		}
		if !ok(&s.Health) {
			asked = time.Now()
			f.Refresh()
			return false
		}
		return true
	})
}

func anything(*Checkup) bool { return true }

// judged is what State's findings say now of what begins so.
func judged(t testing.TB, s *State, about string) Finding {
	t.Helper()
	all := s.Findings(s.Health.At)
	for _, f := range all {
		if strings.HasPrefix(f.About, about) {
			return f
		}
	}
	t.Fatalf("no finding about %s in %+v", about, all)
	return Finding{}
}

// What the migrations made is what a checkup looks for, and all of it is found fine: a
// migration that adds an index, a trigger or a published column says so there.
func TestCheckupLooksForWhatTheMigrationsMake(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	s := examine(t, start(t, open(t, url), Options{NoWAL: true}), "parts", anything)
	var have []string
	for _, p := range s.Health.Parts {
		if p.State != PartFine || p.Without == "" || p.Lacks != "" {
			t.Errorf("%+v", p)
		}
		if p.Kind == "publication" {
			for column := range strings.SplitSeq(strings.Trim(p.Made, "()"), ", ") {
				have = append(have, "column "+p.Table+" "+column)
			}
			continue
		}
		have = append(have, p.Kind+" "+p.Table+" "+p.Name)
	}
	rows, err := client(t, url).Query(t.Context(), `
		SELECT 'index jobs ' || indexrelid::regclass FROM pg_index WHERE indrelid = 'leasetop.jobs'::regclass
		UNION ALL SELECT 'trigger ' || relname || ' ' || tgname FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid
			WHERE relnamespace = 'leasetop'::regnamespace AND NOT tgisinternal
		UNION ALL SELECT 'column ' || tablename || ' ' || column_name FROM pg_publication_tables, unnest(attnames) AS column_name
			WHERE pubname = 'leasetop_jobs'`)
	do(t, err)
	want, err := pgx.CollectRows(rows, pgx.RowTo[string])
	do(t, err)
	for i := range want {
		want[i] = strings.Replace(want[i], "leasetop.", "", 1)
	}
	slices.Sort(want)
	slices.Sort(have)
	if !slices.Equal(have, want) {
		t.Errorf("looked for\n%s\nthe migrations made\n%s", strings.Join(have, "\n"), strings.Join(want, "\n"))
	}
	for about, figure := range map[string]string{"indexes": "all 5 valid", "triggers": "all 6 on", "publication": "complete", "autovacuum": "on"} {
		if f := judged(t, s, about); f.Grade != Fine || f.Figure != figure || f.Cure != "" {
			t.Errorf("%+v", f)
		}
	}
}

// What is missing or does not work is named, with a cure that cures it.
func TestPartsThatFailAreNamedAndTheirCureWorks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, harm  string
		grade       Grade
		about       string
		figure, why string
	}{
		{"index dropped", "DROP INDEX leasetop.jobs_ready", Danger, "index jobs_ready", "missing", "each claim reads the whole table"},
		{"unique index dropped", "DROP INDEX leasetop.jobs_idempotency", Danger, "index jobs_idempotency", "missing", "the library cannot enqueue"},
		{"key dropped", "ALTER TABLE leasetop.jobs DROP CONSTRAINT jobs_pkey", Danger, "index jobs_pkey", "missing", "ids may repeat"},
		{"index invalid", "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'leasetop.jobs_dead'::regclass", Danger, "index jobs_dead", "invalid", "each page of dead letters reads the whole table"},
		{"index of other columns", "DROP INDEX leasetop.jobs_active; CREATE INDEX jobs_active ON leasetop.jobs (id)", Danger, "index jobs_active", "changed", "each look for leases"},
		{"index of its name is not unique", "DROP INDEX leasetop.jobs_idempotency; CREATE INDEX jobs_idempotency ON leasetop.jobs (queue, idempotency_key) WHERE status IN ('pending', 'processing') AND idempotency_key IS NOT NULL", Danger, "index jobs_idempotency", "changed", "keys may be in use twice"},
		{"trigger off", "ALTER TABLE leasetop.jobs DISABLE TRIGGER jobs_notify_ready", Caution, "trigger jobs_notify_ready", "off", "when they look next"},
		{"trigger off but for replicas", "ALTER TABLE leasetop.queues ENABLE REPLICA TRIGGER queues_notify", Caution, "trigger queues_notify", "off", "pauses"},
		{"triggers off", "ALTER TABLE leasetop.jobs DISABLE TRIGGER USER", Caution, "4 triggers of jobs", "off", "dead letters show a moment later"},
		{"publication without a column", "ALTER PUBLICATION leasetop_jobs SET TABLE leasetop.jobs (id, queue, kind, status, attempts, max_attempts, run_at, locked_at, locked_by, lease_expires_at, updated_at), leasetop.jobs_archive (id, queue, archived_by)", Caution, "publication", "lacks created_at, cancelled_by of jobs", "told wrongly"},
		{"publication without the archive", "ALTER PUBLICATION leasetop_jobs DROP TABLE leasetop.jobs_archive", Caution, "publication", "lacks the table jobs_archive", "a discard is told as a deletion"},
		{"publication without some rows", "ALTER PUBLICATION leasetop_jobs DROP TABLE leasetop.jobs; ALTER PUBLICATION leasetop_jobs ADD TABLE leasetop.jobs (id, queue, kind, status, attempts, max_attempts, run_at, locked_at, locked_by, lease_expires_at, created_at, updated_at, cancelled_by) WHERE (id > 7)", Caution, "publication", "lacks some changes of jobs", "told wrongly"},
		{"publication without deletions", "ALTER PUBLICATION leasetop_jobs SET (publish = 'insert, update')", Caution, "publication", "lacks some changes of jobs, some changes of jobs_archive", "told wrongly"},
		{"publication dropped", "DROP PUBLICATION leasetop_jobs", Caution, "publication", "missing", "there is no stream"},
		{"autovacuum off", "ALTER TABLE leasetop.jobs SET (autovacuum_enabled = off)", Caution, "autovacuum", "off for the jobs table", "claims grow slower"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url := testdb.New(t)
			psql := client(t, url)
			_, err := psql.Exec(t.Context(), c.harm, pgx.QueryExecModeSimpleProtocol)
			do(t, err)
			feed := start(t, open(t, url), Options{NoWAL: true})
			s := examine(t, feed, "a finding", anything)
			f := judged(t, s, c.about)
			if _, err := open(t, url).Enqueue(t.Context(), queue.NewJob{Queue: "emails"}); (err != nil) != strings.Contains(f.Why, "cannot enqueue") {
				t.Errorf("enqueue: %v, and the finding says %q", err, f.Why)
			}
			if f.Grade != c.grade || f.Figure != c.figure || !strings.Contains(f.Why, c.why) || f.Cure == "" {
				t.Errorf("%+v", f)
			}
			for statement := range cures(f.Cure) {
				exec(t, psql, statement)
			}
			enqueue(t, open(t, url), queue.NewJob{}) // as it can be again
			kind, _, _ := strings.Cut(c.about, " ")
			s = examine(t, feed, "what was cured", anything)
			for _, f := range s.Findings(s.Health.At) {
				if strings.HasPrefix(f.About, kind) && f.About != "trigger jobs_notify_ready" && f.Grade != Fine {
					t.Errorf("after its cure: %+v", f)
				}
			}
		})
	}
}

// cures are the statements in a cure's words.
func cures(text string) func(yield func(string) bool) {
	for _, who := range []string{"as its owner ", "on the database: "} {
		if _, after, ok := strings.Cut(text, who); ok {
			text = after
		}
	}
	return strings.SplitSeq(strings.ReplaceAll(text, ", then ", "; "), "; ")
}

// A CREATE INDEX CONCURRENTLY that failed leaves an index which every write maintains.
func TestIndexThatAFailedBuildLeftIsNamed(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	psql, q := client(t, url), open(t, url)
	exec(t, psql, "INSERT INTO leasetop.jobs (queue) VALUES ('emails'), ('emails')")
	if _, err := psql.Exec(t.Context(), `CREATE UNIQUE INDEX CONCURRENTLY "One per Queue" ON leasetop.jobs (queue)`); err == nil {
		t.Fatal("a unique index on what repeats")
	}
	feed := start(t, q, Options{NoWAL: true})
	f := judged(t, examine(t, feed, "the index", anything), "index")
	if want := `unless somebody builds it now: DROP INDEX CONCURRENTLY leasetop."One per Queue"`; f.Grade != Caution || f.Figure != "invalid" || f.Cure != want {
		t.Errorf("%+v", f)
	}
	_, drop, _ := strings.Cut(f.Cure, ": ")
	exec(t, psql, drop)
	if f := judged(t, examine(t, feed, "no such index", anything), "indexes"); f.Grade != Fine {
		t.Errorf("%+v", f)
	}
}

// What counts is what is indexed: names and storage are a matter of taste.
func TestIndexOfAnotherNameOrStorageIsFine(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	psql := client(t, url)
	exec(t, psql, "DROP INDEX leasetop.jobs_ready")
	exec(t, psql, "CREATE INDEX ours ON leasetop.jobs (queue, run_at, id) WITH (fillfactor = 80) WHERE status = 'pending'")
	s := examine(t, start(t, open(t, url), Options{NoWAL: true}), "parts", anything)
	if f := judged(t, s, "indexes"); f.Grade != Fine || f.Figure != "all 5 valid" {
		t.Errorf("%+v", f)
	}
}

// A role that may see nothing of others learns all the rest, and what is hidden.
func TestWhatARoleMayNotSeeIsSaidToBeHidden(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	psql := client(t, url)
	role := fmt.Sprintf("leasetop_test_%08x", rand.Uint32())
	exec(t, psql, "CREATE ROLE "+role)
	t.Cleanup(func() {
		for _, sql := range []string{"DROP OWNED BY " + role, "DROP ROLE " + role} {
			if _, err := psql.Exec(context.Background(), sql); err != nil {
				t.Error(err)
			}
		}
	})
	exec(t, psql, "GRANT USAGE ON SCHEMA leasetop TO "+role)
	exec(t, psql, "GRANT SELECT ON ALL TABLES IN SCHEMA leasetop TO "+role)
	feed := start(t, open(t, url+"&role="+role), Options{NoWAL: true})
	await(t, feed, "a poll", func(s *State) bool { return s.Polling.OK }) // who this is
	s := examine(t, feed, "hidden sessions", func(c *Checkup) bool { return c.Hidden > 0 })
	f := judged(t, s, "transactions of others")
	if f.Grade != Hidden || f.Cure != "GRANT pg_read_all_stats TO "+role {
		t.Errorf("%+v", f)
	}
	if s.Health.Reason != "" || judged(t, s, "indexes").Grade != Fine || judged(t, s, "autovacuum").Grade != Fine || s.Health.Rows.VacuumFrom != 5000 {
		t.Errorf("%+v", s.Health)
	}
	exec(t, psql, f.Cure)
	examine(t, feed, "nothing hidden", func(c *Checkup) bool { return c.Hidden == 0 })
}

// A checkup that fails is told, and nothing else ends with it.
func TestCheckupThatFailsLeavesThePollAlone(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	psql, q := client(t, url), open(t, url)
	role := fmt.Sprintf("leasetop_test_%08x", rand.Uint32())
	exec(t, psql, "CREATE ROLE "+role)
	t.Cleanup(func() {
		for _, sql := range []string{"DROP OWNED BY " + role, "DROP ROLE " + role} {
			if _, err := psql.Exec(context.Background(), sql); err != nil {
				t.Error(err)
			}
		}
	})
	exec(t, psql, "GRANT USAGE ON SCHEMA leasetop TO "+role)
	exec(t, psql, "GRANT SELECT ON ALL TABLES IN SCHEMA leasetop TO "+role)
	exec(t, psql, "REVOKE SELECT ON pg_replication_slots FROM PUBLIC")
	feed := start(t, open(t, url+"&role="+role), Options{NoWAL: true})
	s := await(t, feed, "why there is no checkup", func(s *State) bool { return s.Health.Reason != "" })
	if !strings.Contains(s.Health.Reason, "permission denied for view pg_replication_slots") {
		t.Errorf("%+v", s.Health)
	}
	if f := judged(t, s, "the rest"); f.Grade != Hidden || f.Why != s.Health.Reason {
		t.Errorf("%+v", f)
	}
	enqueue(t, q, queue.NewJob{})
	s = await(t, feed, "a job", func(s *State) bool { return len(s.Depths.Queues) == 1 })
	if !s.Polling.OK {
		t.Errorf("%+v", s.Polling)
	}
	exec(t, psql, "GRANT SELECT ON pg_replication_slots TO PUBLIC")
	if s = examine(t, feed, "no reason", anything); s.Health.Reason != "" {
		t.Errorf("%+v", s.Health)
	}
}

// On a standby all is told but what a standby does not know.
func TestCheckupOfAStandby(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t)
	url := testdb.On(t, server)
	feed := start(t, open(t, url), Options{NoWAL: true})
	if s := examine(t, feed, "the primary's", anything); s.Health.Rows.Standby {
		t.Errorf("%+v", s.Health.Rows)
	}
	do(t, os.WriteFile(filepath.Join(server.DataDir(), "standby.signal"), nil, 0o644))
	do(t, server.Restart(t.Context(), local.Fast))
	examine(t, feed, "the standby's", func(c *Checkup) bool { return c.Rows.Standby })
	s := await(t, feed, "the standby's poll", func(s *State) bool { return s.Server.ReadOnly })
	if s.Health.Reason != "" || len(s.Health.Parts) != 13 {
		t.Errorf("%+v %+v", s.Server, s.Health)
	}
	if f := judged(t, s, "dead rows"); f.Grade != Hidden || f.Figure != "counted on the primary only" {
		t.Errorf("%+v", f)
	}
	if f := judged(t, s, "indexes"); f.Grade != Fine {
		t.Errorf("%+v", f)
	}
}

func TestCheckupInEveryModeOfPgx(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		f := start(t, open(t, url+"&default_query_exec_mode="+mode), Options{NoWAL: true, Poll: -1})
		s := await(t, f, "a checkup by "+mode, func(s *State) bool { return !s.Health.Read.IsZero() || s.Health.Reason != "" })
		if s.Health.Reason != "" || len(s.Health.Parts) != 13 || s.Health.Rows.VacuumFrom != 5000 {
			t.Errorf("%s: %+v", mode, s.Health)
		}
		f.Close()
	}
}
