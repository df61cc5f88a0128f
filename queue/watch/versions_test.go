package watch

import (
	"os"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

// othersVariable names folders with the server programs of other PostgreSQL versions,
// separated as in PATH. `LEASETOP_PG_BIN=… go test ./...` runs everything on one of them.
const othersVariable = "LEASETOP_OTHER_PG_BINS"

// The stream, the poll and the signals work on each PostgreSQL version named.
func TestOtherServers(t *testing.T) {
	others := os.Getenv(othersVariable)
	if others == "" {
		t.Skipf("%s names no other PostgreSQL's bin folder", othersVariable)
	}
	for _, bin := range strings.Split(others, string(os.PathListSeparator)) {
		t.Run(bin, func(t *testing.T) {
			t.Setenv("LEASETOP_PG_BIN", bin)
			url := testdb.On(t, testdb.Server(t))
			psql := client(t, url)
			exec(t, psql, many, 21)
			f := start(t, open(t, url), Options{})
			follows(t, f)
			s := await(t, f, "every connection up", attached)
			t.Logf("PostgreSQL %s", s.Server.Version)
			exec(t, psql, "DELETE FROM leasetop.jobs WHERE status = 'dead'")
			await(t, f, "the change", func(s *State) bool { return sum(s).Dead == 0 && s.Dead.Total == 21 && s.Depths.Source == FromWAL })
			if drift, err := f.Reconcile(t.Context()); err != nil || drift.Off != 0 {
				t.Errorf("%+v, %v", drift, err)
			}
			f.Close()
			exec(t, psql, "ALTER TABLE leasetop.jobs DISABLE TRIGGER USER")
			exec(t, psql, "DELETE FROM leasetop.jobs")
			exec(t, psql, many, 21)
			polled := start(t, open(t, url), Options{NoWAL: true})
			await(t, polled, "the same by polls", func(s *State) bool { return s.Depths.Source == Polled && sum(s) == crowd && s.Dead.Total == 42 })
		})
	}
}
