package sql

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrEncoding says that the database stores text in another encoding than UTF-8, in
// which not every text of a job can be written.
var ErrEncoding = errors.New("the database is not UTF-8")

// ErrForbidden says that the role lacks a right; the text names the GRANT.
var ErrForbidden = errors.New("the role lacks a right")

// Migration is one step of the schema, and whether and since when a database has it.
type Migration struct {
	Version   int64     `json:"version"`
	File      string    `json:"file"` // "" for a step that only a newer program knows
	Applied   bool      `json:"applied"`
	AppliedAt time.Time `json:"applied_at"` // zero when not applied
	// Warnings are what it found and left alone. Of several steps in one call the last has
	// those of all.
	Warnings []string `json:"warnings,omitempty"`
}

// state is what a schema has, and what a role may do there.
type state struct {
	database, role, encoding      string
	mayCreateSchema               bool
	exists, mayUse, mayCreate     bool
	versioned, mayRead, mayRecord bool
	owner                         string
	mayActAsOwner                 bool
	steps                         []Migration // those known, and those applied; oldest first
}

// look reads the state.
func (m *migrator) look(ctx context.Context) error {
	s := &m.state
	if err := m.conn.QueryRow(ctx, m.schema.Query("migration_state")).Scan(&s.database, &s.role, &s.encoding, &s.mayCreateSchema,
		&s.exists, &s.mayUse, &s.mayCreate, &s.versioned, &s.mayRead, &s.mayRecord, &s.owner, &s.mayActAsOwner); err != nil {
		return fmt.Errorf("look at schema %s: %w", m.schema.name, err)
	}
	s.steps = known()
	if !s.versioned {
		return nil
	}
	if !s.mayUse || !s.mayRead {
		return s.forbidden(fmt.Sprintf("look which migrations schema %s has", m.schema.name),
			fmt.Sprintf("GRANT USAGE ON SCHEMA %[1]s TO %[2]s; GRANT SELECT ON %[1]s.migrations TO %[2]s", m.schema.name, Quoted(s.role)))
	}
	rows, err := m.conn.Query(ctx, m.schema.Query("migrations_applied"))
	if err != nil {
		return fmt.Errorf("look at schema %s: %w", m.schema.name, err)
	}
	var version int64
	var at time.Time
	if _, err := pgx.ForEachRow(rows, []any{&version, &at}, func() error {
		s.apply(version, at)
		return nil
	}); err != nil {
		return fmt.Errorf("look at schema %s: %w", m.schema.name, err)
	}
	return nil
}

// apply notes that the schema has a step. They come oldest first, so those that this
// program does not know end up behind those that it does.
func (s *state) apply(version int64, at time.Time) {
	for i := range s.steps {
		if s.steps[i].Version == version {
			s.steps[i].Applied, s.steps[i].AppliedAt = true, at
			return
		}
	}
	s.steps = append(s.steps, Migration{Version: version, Applied: true, AppliedAt: at})
}

// missing are the steps that this program knows and the schema lacks.
func (s *state) missing() (steps []Migration) {
	for _, step := range s.steps {
		if !step.Applied {
			steps = append(steps, step)
		}
	}
	return steps
}

// newest is the newest step that the schema has; nil when it has none.
func (s *state) newest() *Migration {
	for i := len(s.steps) - 1; i >= 0; i-- {
		if s.steps[i].Applied {
			return &s.steps[i]
		}
	}
	return nil
}

// mayMigrate refuses what could not be done, or not to the end.
func (s *state) mayMigrate(schema string) error {
	newest, first := s.newest(), s.missing()[0]
	grants := ""
	switch {
	case s.encoding != "UTF8":
		return fmt.Errorf("%w: database %s stores text as %s, which cannot hold every payload and error text: make one with CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'",
			ErrEncoding, s.database, s.encoding)
	case newest != nil && newest.Version > first.Version:
		return fmt.Errorf("schema %s has step %d and lacks step %d, %s: it was made by another program than this one and its predecessors, which never leave one out",
			schema, newest.Version, first.Version, first.File)
	case !s.exists && !s.mayCreateSchema:
		return s.forbidden(fmt.Sprintf("create schema %s in database %s", schema, s.database),
			fmt.Sprintf("CREATE SCHEMA %s AUTHORIZATION %s, or GRANT CREATE ON DATABASE %s TO %[2]s", schema, Quoted(s.role), Quoted(s.database)))
	case s.exists && !(s.mayUse && s.mayCreate):
		grants = fmt.Sprintf("GRANT USAGE, CREATE ON SCHEMA %s TO %s", schema, Quoted(s.role))
	case !s.mayActAsOwner:
		grants = fmt.Sprintf("GRANT %s TO %s, or migrate as %[1]s", s.owner, Quoted(s.role))
	case s.versioned && !s.mayRecord:
		grants = fmt.Sprintf("GRANT SELECT, INSERT, DELETE ON %s.migrations TO %s", schema, Quoted(s.role))
	default:
		return nil
	}
	return s.forbidden("change schema "+schema, grants)
}

// mayTakeBack refuses to take back what is not there, or not known.
func (s *state) mayTakeBack(schema string) error {
	switch newest := s.newest(); {
	case newest == nil:
		return fmt.Errorf("%w in schema %s, so there is nothing to take back", ErrNoStep, schema)
	case newest.File == "":
		return fmt.Errorf("%w: schema %s is at step %d, and this program knows them up to %d: use the program that took it",
			ErrNewerStep, schema, newest.Version, known()[len(known())-1].Version)
	case !s.mayActAsOwner:
		return s.forbidden("change schema "+schema, fmt.Sprintf("GRANT %s TO %s, or migrate as %[1]s", s.owner, Quoted(s.role)))
	}
	return nil
}

func (s *state) forbidden(what, grant string) error {
	return fmt.Errorf("%w: %s may not %s: %s", ErrForbidden, Quoted(s.role), what, grant)
}

// Quoted is a name as an SQL statement takes it.
func Quoted(name string) string {
	if schemaName.MatchString(name) && !slices.Contains(reserved, name) {
		return name
	}
	return pgx.Identifier{name}.Sanitize()
}

// known are the steps of this program, oldest first.
func known() (steps []Migration) {
	names, err := fs.Glob(Migrations(), "*.sql")
	if err != nil {
		panic(err) // the pattern is a constant of the program
	}
	for _, name := range names { // in order: their numbers are padded with zeros
		number, _, _ := strings.Cut(name, "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			panic(err) // the files are embedded: constants of the program
		}
		steps = append(steps, Migration{Version: version, File: name})
	}
	return steps
}
