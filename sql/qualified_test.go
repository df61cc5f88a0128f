package sql_test

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

var update = flag.Bool("update", false, "qualify the names in the statements")

// What is not read as a name: comments, text, and quoted names.
var quotes = regexp.MustCompile(`(?s)--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"[^"]*"`)

// Names that a search_path may redirect, wherever they are not qualified: functions,
// PostgreSQL's own relations, and collations.
var (
	calls      = regexp.MustCompile(`[a-z_.][a-z0-9_.]*\(`)
	relations  = regexp.MustCompile(`\b((?:FROM|JOIN)\s+)(pg_[a-z_]+)\b([^.(]|$)`)
	collations = regexp.MustCompile(`\bCOLLATE (")`)
)

// The grammar itself qualifies what these call: extract(epoch FROM moment), and unnest of
// several arrays.
var byGrammar = regexp.MustCompile(`^(?:extract\(epoch FROM |substring\(.* FROM |unnest\(\$\d+::[a-z0-9]+\[\], )`)

// qualify puts pg_catalog before each name in a statement that is one of PostgreSQL's.
// functions are the names of its functions.
func qualify(text string, functions map[string]bool) string {
	blank := quotes.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("\x01", len(s)) })
	at := map[int]bool{}
	for _, found := range calls.FindAllStringIndex(blank, -1) {
		if functions[text[found[0]:found[1]-1]] && !byGrammar.MatchString(text[found[0]:]) {
			at[found[0]] = true
		}
	}
	for _, found := range relations.FindAllStringSubmatchIndex(blank, -1) {
		at[found[4]] = true
	}
	for _, found := range collations.FindAllStringSubmatchIndex(text, -1) {
		at[found[2]] = true
	}
	var qualified strings.Builder
	for i := range len(text) {
		if at[i] {
			qualified.WriteString("pg_catalog.")
		}
		qualified.WriteByte(text[i])
	}
	return qualified.String()
}

// A name that is not qualified is whatever somebody with CREATE on a schema of the
// search_path makes of it: a statement runs that with the rights of its own role. -update
// qualifies them.
func TestStatementsQualifyTheirNames(t *testing.T) {
	t.Parallel()
	conn := connect(t, testdb.Empty(t))
	functions := builtIn(t, conn)
	for name, text := range queries(t) {
		qualified := qualify(text, functions)
		if qualified == text {
			continue
		}
		if *update {
			if err := os.WriteFile("queries/"+name+".sql", []byte(qualified), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		for i, line := range strings.Split(qualified, "\n") {
			if was := strings.Split(text, "\n")[i]; was != line {
				t.Errorf("queries/%s.sql: write\n%s\nnot\n%s\nas go test ./sql -run %s -update does", name, line, was, t.Name())
			}
		}
	}
}

// builtIn are the names of PostgreSQL's own functions.
func builtIn(t *testing.T, conn *pgx.Conn) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, name := range values(t, conn, "select distinct proname from pg_proc where pronamespace = 'pg_catalog'::regnamespace") {
		names[name] = true
	}
	return names
}
