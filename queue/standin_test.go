package queue

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

// stand puts a function in the place of one of PostgreSQL's, in the database of q alone:
// the statements qualify their names, so nothing on a search_path would be called. declared
// is the function as CREATE FUNCTION takes it, and body an expression: PostgreSQL calls its
// own by their numbers, so this one has to be inlined.
func stand(t testing.TB, q *Queue, declared, body string) {
	t.Helper()
	exec(t, q, "create or replace function pg_catalog."+declared+" language sql as $$ select "+body+" $$", pgx.QueryExecModeSimpleProtocol)
}
