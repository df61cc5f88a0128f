package sql

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// ErrTableMissing says that a table is gone that a step of the schema made. No step makes it
// again; the text names it and the cure.
var ErrTableMissing = errors.New("a table is missing")

var made = regexp.MustCompile(`(?m)^CREATE TABLE ` + DefaultSchema + `\.([a-z_]+)`)

// dropped returns the tables that steps of the schema made, and that it has no more.
func (m *migrator) dropped(ctx context.Context) ([]string, error) {
	rows, err := m.conn.Query(ctx, m.schema.Query("migration_tables"))
	if err != nil {
		return nil, err
	}
	there, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	var gone []string
	for _, step := range m.state.steps {
		if !step.Applied || step.File == "" {
			continue
		}
		text, err := fs.ReadFile(Migrations(), step.File)
		if err != nil {
			return nil, err
		}
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		for _, table := range made.FindAllStringSubmatch(up, -1) {
			if !slices.Contains(there, table[1]) {
				gone = append(gone, table[1])
			}
		}
	}
	return gone, nil
}

// whole refuses to call a schema up to date, or to bring it up to date, that lost a table.
func (m *migrator) whole(ctx context.Context) error {
	gone, err := m.dropped(ctx)
	if err != nil {
		return fmt.Errorf("look at schema %s: %w", m.schema.name, err)
	}
	if len(gone) == 0 {
		return nil
	}
	for i, table := range gone {
		gone[i] = m.schema.name + "." + table
	}
	return fmt.Errorf("%w: %s was dropped after a migration had made it, and none makes it again: restore it from a backup, or, to begin without any jobs, run DROP SCHEMA %s CASCADE and migrate anew",
		ErrTableMissing, strings.Join(gone, ", "), m.schema.name)
}
