package sql_test

import (
	"strings"
	"testing"

	leasesql "github.com/leasetop/leasetop/sql"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// The article's INSERT, word for word.
const articleInsert = `INSERT INTO jobs (queue, payload, status, run_at, max_attempts)
VALUES ('emails', '{"to":"user@example.com","template":"welcome"}', 'pending', now(), 5);`

func TestDefaultsMakeTheArticlesInsertWork(t *testing.T) {
	t.Parallel()
	conn := connect(t, testdb.New(t))
	exec(t, conn, "set search_path = leasetop")
	exec(t, conn, articleInsert)
	exec(t, conn, "insert into jobs (queue) values ('emails')")
	if n := value[int](t, conn, `select count(*) from jobs where status = 'pending' and attempts = 0 and max_attempts = 5 and run_at = created_at and created_at = updated_at
		and num_nulls(locked_at, locked_by, lease_expires_at, last_error, idempotency_key, fingerprint, died_at) = 7 and kind = '' and errors = '[]'`); n != 2 {
		t.Errorf("%d of 2 jobs are as they should be", n)
	}
}

// The table refuses what makes no sense, by the name of the rule, and nothing else.
func TestTableRefusesNonsense(t *testing.T) {
	t.Parallel()
	conn := connect(t, testdb.New(t))
	for _, c := range []struct{ columns, values, refusedBy string }{
		{"queue", "''", "jobs_queue_named"},
		{"queue", "repeat('é', 128)", "jobs_queue_named"},
		{"queue", "repeat('q', 255)", ""},
		{"queue", "null", "null value in column \"queue\""},
		{"queue, status", "'q', 'done'", "jobs_status_known"},
		{"queue, status", "'q', ''", "jobs_status_known"},
		{"queue, status", "'q', null", "null value in column \"status\""},
		{"queue, attempts", "'q', -1", "jobs_attempts_counted"},
		{"queue, max_attempts", "'q', 0", "jobs_max_attempts_some"},
		{"queue, max_attempts", "'q', -1", "jobs_max_attempts_some"},
		{"queue, max_attempts", "'q', 2147483647", ""},
		{"queue, attempts, max_attempts", "'q', 7, 3", ""},
		{"queue, kind", "'q', repeat('k', 256)", "jobs_kind_short"},
		{"queue, idempotency_key", "'q', ''", "jobs_key_short"},
		{"queue, idempotency_key", "'q', repeat('k', 1025)", "jobs_key_short"},
		{"queue, errors", "'q', '{}'", "jobs_errors_listed"},
		{"queue, errors", "'q', '[1, null]'", ""},
		{"queue, payload", "'q', '1'", ""},
		{"queue, status", "'q', 'processing'", "jobs_processing_leased"},
		{"queue, status, locked_by", "'q', 'processing', 'x'", "jobs_processing_leased"},
		{"queue, status, lease_expires_at", "'q', 'processing', now()", "jobs_processing_leased"},
		{"queue, status, locked_by, lease_expires_at", "'q', 'processing', 'x', 'infinity'", "jobs_times_finite"},
		{"queue, status, locked_by, lease_expires_at", "'q', 'processing', 'x', '-infinity'", "jobs_times_finite"},
		{"queue, status, locked_by, lease_expires_at", "'q', 'processing', 'x', now()", ""},
		{"queue, created_at", "'q', '-infinity'", "jobs_times_finite"},
		{"queue, updated_at", "'q', 'infinity'", "jobs_times_finite"},
		{"queue, run_at", "'q', 'infinity'", ""},
		{"queue, run_at", "'q', '-infinity'", ""},
		{"queue, run_at", "'q', null", "null value in column \"run_at\""},
		// What an article-style worker leaves behind is no nonsense.
		{"queue, status, locked_by, locked_at, lease_expires_at", "'q', 'completed', 'x', now(), now()", ""},
	} {
		_, err := conn.Exec(t.Context(), "insert into leasetop.jobs ("+c.columns+") values ("+c.values+")")
		switch {
		case c.refusedBy == "" && err != nil:
			t.Errorf("(%s): %v", c.values, err)
		case c.refusedBy != "" && (err == nil || !strings.Contains(err.Error(), c.refusedBy)):
			t.Errorf("(%s): error %v, want one of %s", c.values, err, c.refusedBy)
		}
	}
}

// One live job for each key of a queue.
func TestIdempotencyIndex(t *testing.T) {
	t.Parallel()
	conn := connect(t, testdb.New(t))
	insert := func(queue, status string) string {
		_, err := conn.Exec(t.Context(), `insert into leasetop.jobs (queue, idempotency_key, status, locked_by, lease_expires_at) values ($1, 'k', $2, 'x', now())`, queue, status)
		return code(err)
	}
	for _, c := range []struct{ queue, status, want string }{
		{"a", "completed", ""},
		{"a", "dead", ""},
		{"a", "failed", ""},
		{"a", "dead", ""},
		{"a", "pending", ""},
		{"a", "pending", "23505"},
		{"a", "processing", "23505"},
		{"a", "completed", ""},
		{"b", "processing", ""},
		{"b", "pending", "23505"},
	} {
		if got := insert(c.queue, c.status); got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.status, c.queue, got, c.want)
		}
	}
	if _, err := conn.Exec(t.Context(), "update leasetop.jobs set status = 'pending' where queue = 'a' and status = 'dead'"); code(err) != "23505" {
		t.Errorf("a dead job beside its live twin came back: %v", err)
	}
}

// died_at is the moment of death, and stays while nothing but the screen's reading
// goes on.
func TestDiedAt(t *testing.T) {
	t.Parallel()
	conn := connect(t, testdb.New(t))
	exec(t, conn, "insert into leasetop.jobs (queue, status) select 'q', unnest('{pending,completed,failed,dead}'::text[])")
	if got := value[string](t, conn, "select string_agg(status, ' ' order by status) from leasetop.jobs where died_at = updated_at"); got != "dead failed" {
		t.Errorf("died: %s", got)
	}
	exec(t, conn, "update leasetop.jobs set status = 'pending'")
	if n := value[int](t, conn, "select count(died_at) from leasetop.jobs"); n != 0 {
		t.Errorf("%d pending jobs died", n)
	}
}

// Payloads and histories stay out of the live feed's stream.
func TestPublicationLeavesOutWhatIsLarge(t *testing.T) {
	t.Parallel()
	conn := connect(t, testdb.New(t))
	if value[int](t, conn, "select current_setting('server_version_num')::int") < 150000 {
		t.Skip("column lists came with PostgreSQL 15")
	}
	got := value[string](t, conn, "select array_to_string(attnames, ' ') from pg_publication_tables where pubname = 'leasetop_jobs' and schemaname = 'leasetop' and tablename = 'jobs'")
	for column := range strings.FieldsSeq("id queue kind status attempts max_attempts run_at locked_at locked_by lease_expires_at created_at updated_at") {
		if !strings.Contains(" "+got+" ", " "+column+" ") {
			t.Errorf("%s is not published", column)
		}
	}
	for column := range strings.FieldsSeq("payload errors last_error") {
		if strings.Contains(" "+got+" ", " "+column+" ") {
			t.Errorf("%s is published", column)
		}
	}
}

// Most heartbeats are HOT updates: they touch no index. An index that holds
// lease_expires_at or updated_at, or a full page, would end that.
func TestHeartbeatsAreHOT(t *testing.T) {
	t.Parallel()
	// On a server of its own: a long transaction in any database keeps all from
	// learning that old versions can go.
	conn := connect(t, testdb.On(t, testdb.Server(t)))
	if value[int](t, conn, "select current_setting('server_version_num')::int") < 150000 {
		t.Skip("only since PostgreSQL 15 can a session's statistics be had at once")
	}
	schema, err := leasesql.ForSchema("")
	if err != nil {
		t.Fatal(err)
	}
	exec(t, conn, "alter table leasetop.jobs set (autovacuum_enabled = off)") // pruning must do
	exec(t, conn, `insert into leasetop.jobs (queue, payload, status, attempts, locked_by, locked_at, lease_expires_at, idempotency_key)
		select 'emails', '{"to": "user@example.com", "template": "welcome"}', 'processing', 1, 'host:1:boot/w1#' || n, now(), now(), 'k' || n from generate_series(1, 1000) n`)
	ids, owners, seconds := make([]int64, 1000), make([]string, 1000), make([]float64, 1000)
	rows, err := conn.Query(t.Context(), "select id, locked_by from leasetop.jobs order by id")
	if err != nil {
		t.Fatal(err)
	}
	for i := range ids {
		if !rows.Next() || rows.Scan(&ids[i], &owners[i]) != nil {
			t.Fatal(rows.Err())
		}
		seconds[i] = 30
	}
	rows.Close()
	for range 20 {
		tag, err := conn.Exec(t.Context(), schema.Query("heartbeat"), ids, owners, seconds, make([]float64, 1000))
		if err != nil || tag.RowsAffected() != 1000 {
			t.Fatal(tag, err)
		}
	}
	exec(t, conn, "select pg_stat_force_next_flush()")
	updates := value[int](t, conn, "select n_tup_upd from pg_stat_all_tables where relid = 'leasetop.jobs'::regclass")
	hot := value[int](t, conn, "select n_tup_hot_upd from pg_stat_all_tables where relid = 'leasetop.jobs'::regclass")
	if updates != 20000 || hot < updates*9/10 {
		t.Errorf("%d of %d heartbeats were HOT", hot, updates)
	}
	t.Logf("%d of %d heartbeats were HOT", hot, updates)
}
