package testdb_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

func TestEachExamplesDatabaseGoesWhenTheNextComes(t *testing.T) {
	first := testdb.Example()
	exec(t, first, "INSERT INTO leasetop.jobs (queue, payload) VALUES ('emails', '{}')")
	second := testdb.Example()
	if n := count(t, second, "SELECT count(*) FROM leasetop.jobs"); n != 0 {
		t.Errorf("the second example finds %d jobs, want none", n)
	}
	config, err := pgx.ParseConfig(first)
	if err != nil {
		t.Fatal(err)
	}
	if n := count(t, second, "SELECT count(*) FROM pg_database WHERE datname = '"+config.Database+"'"); n != 0 {
		t.Errorf("the first example's database is left")
	}
}
