// Package sql holds every statement of the product as a file that reads on its
// own: migrations/*.sql make the schema, queries/*.sql use it. Each names the
// schema literally, leasetop, so that it can be pasted into psql; [ForSchema]
// rewrites that one identifier for installations that chose another.
package sql

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed migrations/*.sql queries/*.sql
var files embed.FS

// DefaultSchema is the schema that the files name.
const DefaultSchema = "leasetop"

// ErrSchemaName is wrapped by the error of [ForSchema] for a name it refuses.
var ErrSchemaName = errors.New("schema name refused")

var schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,39}$`)

// reserved are the words that PostgreSQL (15 to 18) takes as a schema's name
// only in quotes; the statements name it bare.
var reserved = strings.Fields(`all analyse analyze and any array as asc asymmetric authorization binary both
	case cast check collate collation column concurrently constraint create cross current_catalog current_date
	current_role current_schema current_time current_timestamp current_user default deferrable desc distinct do
	else end except false fetch for foreign freeze from full grant group having ilike in initially inner
	intersect into is isnull join lateral leading left like limit localtime localtimestamp natural not notnull
	null offset on only or order outer overlaps placing primary references returning right select session_user
	similar some symmetric system_user table tablesample then to trailing true union unique user using variadic
	verbose when where window with`)

// Schema is a checked schema name with the statements rewritten for it. It is safe for
// concurrent use.
type Schema struct {
	name    string
	queries sync.Map // file name without .sql → text
}

// ForSchema checks a schema name; "" means [DefaultSchema]. Names are lower-case
// identifiers of at most 40 characters, since channel and publication names are
// made from them and PostgreSQL cuts those at 63. The error wraps [ErrSchemaName].
func ForSchema(name string) (*Schema, error) {
	if name == "" {
		name = DefaultSchema
	}
	if !schemaName.MatchString(name) {
		return nil, fmt.Errorf("%w: %q: use at most 40 of a-z, 0-9 and _, not beginning with a digit", ErrSchemaName, name)
	}
	if strings.HasPrefix(name, "pg_") || name == "information_schema" {
		return nil, fmt.Errorf("%w: %q belongs to PostgreSQL itself: choose another", ErrSchemaName, name)
	}
	if slices.Contains(reserved, name) {
		return nil, fmt.Errorf("%w: %q is a reserved word of SQL: choose another", ErrSchemaName, name)
	}
	return &Schema{name: name}, nil
}

// Name is the schema's name, unquoted.
func (s *Schema) Name() string { return s.name }

// Query returns the statement of queries/<file>.sql for this schema. Its opening
// comment is left out and a short one names the statement in pg_stat_activity.
// It panics when there is no such file: the names are constants of the program.
func (s *Schema) Query(file string) string {
	if text, ok := s.queries.Load(file); ok {
		return text.(string)
	}
	text := "/* leasetop " + file + " */ " + s.rewrite(statement(file))
	s.queries.Store(file, text)
	return text
}

// statement is the text of queries/<file>.sql without its opening comment.
func statement(file string) string {
	raw, err := files.ReadFile("queries/" + file + ".sql")
	if err != nil {
		panic(fmt.Sprintf("no statement %q: %v", file, err))
	}
	return withoutOpeningComment(string(raw))
}

// ReadyChannel is the NOTIFY channel that carries the name of a queue which got work.
func (s *Schema) ReadyChannel() string { return s.name + "_ready" }

// DeadChannel is the NOTIFY channel that carries the name of a queue whose dead letters
// changed; "" is any.
func (s *Schema) DeadChannel() string { return s.name + "_dead" }

// ControlChannel is the NOTIFY channel that carries "queue <name>" when a pause begins
// or ends, and "cancel <id>" when a running job is to end.
func (s *Schema) ControlChannel() string { return s.name + "_control" }

// Publication is the publication that the live feed subscribes to.
func (s *Schema) Publication() string { return s.name + "_jobs" }

// rewrite puts the schema's name in place of leasetop, also where that begins
// the name of a channel, publication or setting.
func (s *Schema) rewrite(text string) string {
	return strings.ReplaceAll(text, DefaultSchema, s.name)
}

func withoutOpeningComment(text string) string {
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		if !strings.HasPrefix(text, "--") {
			return strings.TrimRight(text, " \t\r\n;")
		}
		_, text, _ = strings.Cut(text, "\n")
	}
}

// Migrations are the files that make the schema, as they stand (for the default schema).
func Migrations() fs.FS { return sub("migrations") }

// Queries are the files that use it, as they stand.
func Queries() fs.FS { return sub("queries") }

func sub(folder string) fs.FS {
	dir, err := fs.Sub(files, folder)
	if err != nil {
		panic(err) // the folder is embedded: a constant of the program
	}
	return dir
}
