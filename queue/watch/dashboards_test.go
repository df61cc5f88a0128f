package watch

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

// sizeVariable makes the table of the next test larger: with 5,000,000 it is that of CASES.
const sizeVariable = "LEASETOP_TEST_COMPLETED"

// CASES "Counting on big tables": five dashboards where a statement may take half a
// second, some streaming and some polling, have one query in flight each at most, and
// none once they are closed.
func TestManyDashboardsOfABigTable(t *testing.T) {
	t.Parallel()
	completed := 150_000
	if n, err := strconv.Atoi(os.Getenv(sizeVariable)); err == nil {
		completed = n
	}
	url := testdb.On(t, testdb.Server(t, "statement_timeout=500ms"))
	psql := client(t, url)
	for _, sql := range []string{
		"SET statement_timeout = 0",
		"SET session_replication_role = replica", // no triggers
		"INSERT INTO leasetop.jobs (queue, status) SELECT 'q' || n % 4, 'completed' FROM generate_series(1, $1) AS n",
		"INSERT INTO leasetop.jobs (queue, status, updated_at) SELECT 'q' || n % 4, 'dead', now() - n * interval '1 ms' FROM generate_series(1, $1 / 5) AS n",
		"INSERT INTO leasetop.jobs (queue) SELECT 'q' || n % 4 FROM generate_series(1, $1 / 100) AS n",
	} {
		if strings.Contains(sql, "$1") {
			exec(t, psql, strings.ReplaceAll(sql, "$1", strconv.Itoa(completed)))
		} else {
			exec(t, psql, sql)
		}
	}
	var feeds []*Feed
	for i := range 5 {
		role := fmt.Sprintf("watcher%d", i)
		exec(t, psql, "CREATE ROLE "+role+" LOGIN REPLICATION")
		exec(t, psql, "GRANT USAGE ON SCHEMA leasetop TO "+role)
		exec(t, psql, "GRANT SELECT ON ALL TABLES IN SCHEMA leasetop TO "+role)
		feeds = append(feeds, start(t, open(t, strings.Replace(url, "postgres@", role+"@", 1)), Options{NoWAL: i%2 == 0}))
	}
	// What reads no table, like LISTEN and the slot's snapshot, costs nothing.
	busy := `SELECT string_agg(queries, E'\n') FROM (SELECT string_agg(application_name || ': ' || query, E'\n') AS queries FROM pg_stat_activity
		WHERE state = 'active' AND application_name LIKE 'leasetop feed%' AND backend_type = 'client backend' AND query LIKE '%FROM leasetop.%' GROUP BY usename HAVING count(*) > 1) AS each`
	polls := make([]int, len(feeds))
	for done := false; !done; {
		var together *string
		if do(t, psql.QueryRow(t.Context(), busy).Scan(&together)); together != nil {
			t.Fatalf("one of them has these in flight at once: %s", *together)
		}
		done = true
		for i, f := range feeds {
			s := f.State()
			if i%2 == 0 && s.Depths.Source == Polled || s.Depths.Source == FromWAL {
				polls[i]++
			}
			done = done && polls[i] >= 20 && s.Dead.Total > 0
		}
	}
	for _, f := range feeds {
		s := f.State()
		got := sum(s)
		if s.Depths.Source == FromWAL && (got.Dead != int64(completed/5) || got.Ready != int64(completed/100)) || got.Dead == 0 {
			t.Errorf("%s: %+v", s.Depths.Source, got)
		}
	}

	// In the middle of readings that wait.
	locker := client(t, url)
	exec(t, locker, "BEGIN")
	exec(t, locker, "LOCK TABLE leasetop.jobs")
	reading := "SELECT count(*)::int FROM pg_stat_activity WHERE application_name LIKE 'leasetop feed%' AND backend_type = 'client backend'"
	for number(t, psql, reading+" AND wait_event_type = 'Lock'") == 0 {
		for _, f := range feeds {
			f.Refresh()
		}
	}
	for _, f := range feeds {
		f.Close()
	}
	for giveUp := time.Now().Add(time.Minute); number(t, psql, reading) != 0; {
		if time.Now().After(giveUp) {
			t.Fatal("connections are left")
		}
	}
	exec(t, locker, "COMMIT")
}
