package filter_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue/filter"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// connect gives the test a database of its own.
func connect(t *testing.T) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), testdb.New(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// testing.T and rapid.T can both end a test.
type ending interface {
	Helper()
	Fatalf(format string, args ...any)
}

// found are the ids of the jobs that PostgreSQL finds, in order. Its indexes are narrowed
// as the filter says they may be.
func found(t ending, conn *pgx.Conn, f filter.Filter) (ids []int64) {
	t.Helper()
	var path *string
	if !f.Empty() {
		p := f.Path()
		path = &p
	}
	rows, err := conn.Query(context.Background(), `
		SELECT id FROM leasetop.jobs
		WHERE ($1::jsonpath IS NULL OR leasetop.facts(jobs, $2) @@ $1::jsonpath)
		  AND ($3::text[] IS NULL OR queue = ANY ($3)) AND ($4::text[] IS NULL OR status = ANY ($4))
		ORDER BY id`, path, f.Wide(), f.Queues(), f.Statuses())
	if err == nil {
		ids, err = pgx.CollectRows(rows, pgx.RowTo[int64])
	}
	if err != nil {
		t.Fatalf("%.200q, which is %.500q: %v", f.String(), f.Path(), err)
	}
	return ids
}
