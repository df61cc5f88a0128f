package watch

import (
	"testing"
	"time"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

// What a feed missed while it was cut off is seen once it is back: thousands of changes,
// and a pause.
func TestAfterAGapTheCountsAreTrueAgain(t *testing.T) {
	t.Parallel()
	n := &network{app: "leasetop feed"}
	url := testdb.On(t, testdb.Server(t, "autovacuum=off"))
	psql, q := client(t, url), open(t, url)
	exec(t, psql, "INSERT INTO leasetop.jobs (queue) SELECT 'emails' FROM generate_series(1, 2000)")
	f := start(t, across(t, url, n), Options{})
	exact(t, f, psql)
	n.down()
	await(t, f, "every connection down", func(s *State) bool { return !s.WAL.OK && !s.Notify.OK && !s.Polling.OK })

	exec(t, psql, "INSERT INTO leasetop.jobs (queue, run_at) SELECT 'gap' || n % 7, now() + n % 2 * interval '1 day' FROM generate_series(1, 5000) AS n")
	exec(t, psql, "UPDATE leasetop.jobs SET status = 'completed', updated_at = now() WHERE queue = 'emails' AND id % 2 = 0")
	exec(t, psql, "UPDATE leasetop.jobs SET status = 'dead', updated_at = now() WHERE queue = 'gap1'")
	exec(t, psql, "UPDATE leasetop.jobs SET queue = 'renamed' WHERE queue = 'gap2'")
	exec(t, psql, "DELETE FROM leasetop.jobs WHERE queue = 'gap3'")
	for range 3 {
		claim(t, q, time.Hour)
	}
	if _, err := q.Pause(t.Context(), "ann", "mx is down", "emails"); err != nil {
		t.Fatal(err)
	}
	if s := f.State(); attached(s) || s.Depths.Read.After(s.Polling.Since) {
		t.Errorf("cut off since %v, yet the depths are said to be of %v", s.Polling.Since, s.Depths.Read)
	}

	n.up()
	exact(t, f, psql)
	s := await(t, f, "the pause and the dead letters", func(s *State) bool {
		return len(s.Pauses.List) == 1 && s.Dead.Total == int64(number(t, psql, "SELECT count(*)::int FROM leasetop.jobs WHERE status = 'dead'"))
	})
	if p, ok := s.Pauses.Of("emails"); !ok || p.By != "ann" {
		t.Errorf("%+v", s.Pauses)
	}
	toldOnce(t, f)
}
