package queue

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

// A completed job that somebody brings back by hand, in the moment of the purge, stays.
func TestPurgeAndARowThatChangesInEveryOrder(t *testing.T) {
	t.Parallel()
	q := open(t)
	sessions := twoSessions(t, q)
	for change, sql := range map[string]string{
		"brought back": "update leasetop.jobs set status = 'pending' where id = 7",
		"done again":   "update leasetop.jobs set updated_at = now() where id = 7",
	} {
		for _, order := range orders(3, 3) {
			exec(t, q, "insert into leasetop.jobs (id, queue, status, updated_at) values (7, 'emails', 'completed', now() - interval '1 day')")
			var changed, purged int64
			purge := []step{run("purge begins", "begin"), {"purges", func(c *pgx.Conn) error {
				var last *string
				return c.QueryRow(t.Context(), q.Schema().Query("purge_completed"), "0", 3600.0, nil, 100).Scan(&last, &purged, nil, nil)
			}}, run("purge commits", "commit")}
			other := []step{run("other begins", "begin"), rows(change, &changed, func() (string, []any) { return sql, nil }), run("other commits", "commit")}
			story := interleave(t, q, sessions, order, purge, other)
			left := count(t, q, "select count(*) from leasetop.jobs")
			if purged+changed != 1 || left != changed {
				t.Errorf("%s: %d purged, %d changed, %d left", story, purged, changed, left)
			}
			exec(t, q, "delete from leasetop.jobs")
		}
	}
}

// And in the middle of its statement: it has seen the job completed long ago, and before
// it takes the row the job is brought back, or done again.
func TestPurgeLooksAgainBeforeItDeletes(t *testing.T) {
	t.Parallel()
	q := openWith(t, 4)
	exec(t, q, `create schema fake;
		create function fake.now() returns timestamptz language plpgsql as $$ begin
			if current_setting('application_name') = 'purger' then perform pg_advisory_xact_lock_shared(1); end if;
			return transaction_timestamp(); end $$`)
	stand(t, q, "now() returns timestamptz", "fake.now()")
	for change, sql := range map[string]string{
		"brought back": "update leasetop.jobs set status = 'pending' where id = 7",
		"done again":   "update leasetop.jobs set updated_at = pg_catalog.now() where id = 7",
	} {
		exec(t, q, "truncate leasetop.jobs")
		exec(t, q, "insert into leasetop.jobs (id, queue, status, updated_at) select n, 'emails', 'completed', pg_catalog.now() - interval '1 day' from generate_series(7, 8) n")
		gate := begin(t, q)
		must[any](t)(gate.Exec(t.Context(), "select pg_advisory_xact_lock(1)"))
		var deleted int64
		purger := newSession(t, q)
		purger.steps = []step{run("named", "set application_name = 'purger'"), {"purges", func(c *pgx.Conn) error {
			return c.QueryRow(t.Context(), q.Schema().Query("purge_completed"), "0", 3600.0, nil, 100).Scan(nil, &deleted, nil, nil)
		}}}
		purger.begin(t, q)
		purger.begin(t, q)
		if !purger.waiting {
			t.Fatal("the purge did not stop after its look")
		}
		exec(t, q, sql)
		ok(t, gate.Commit(t.Context()))
		purger.finish(t)
		if left := count(t, q, "select id from leasetop.jobs"); deleted != 1 || left != 7 {
			t.Errorf("%s: %d deleted, job %d left", change, deleted, left)
		}
	}
}
