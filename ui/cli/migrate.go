package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	leasesql "github.com/leasetop/leasetop/sql"
	"github.com/leasetop/leasetop/ui/safe"
)

// step is one migration as JSON.
type step struct {
	Version   int64      `json:"version"`
	File      string     `json:"file"`
	Applied   bool       `json:"applied"`
	AppliedAt *time.Time `json:"applied_at"`
}

// MigrateUp brings the schema up to date and prints each step it took. A schema that
// is newer than this program is left as it is, and said to be.
func MigrateUp(ctx context.Context, p Printer, d *Database) error {
	taken, err := leasesql.Migrate(ctx, d.ConnConfig(), d.Schema().Name())
	for _, m := range taken {
		if err := printStep(p, m, "applied"); err != nil {
			return err
		}
	}
	if err != nil {
		return fmt.Errorf("migrate up: %w", err)
	}
	if len(taken) > 0 {
		return nil
	}
	steps, err := leasesql.MigrationStatus(ctx, d.ConnConfig(), d.Schema().Name())
	if err != nil {
		return fmt.Errorf("migrate up: %w", err)
	}
	if newer := newerThanUs(d.Schema().Name(), steps); newer != "" {
		fmt.Fprintf(p.Err, "leasetop: %s: nothing to do\n", newer)
	} else if p.Format != JSON {
		fmt.Fprintf(p.Out, "schema %s is up to date\n", d.Schema().Name())
	}
	return nil
}

// MigrateDown takes the newest step back, with the data in what it made.
func MigrateDown(ctx context.Context, p Printer, d *Database) error {
	m, err := leasesql.MigrateDown(ctx, d.ConnConfig(), d.Schema().Name())
	if err != nil {
		return fmt.Errorf("migrate down: %w", err)
	}
	return printStep(p, m, "took back")
}

// MigrationStatus prints every step that this program knows and those of newer
// programs that the schema has. It changes nothing.
func MigrationStatus(ctx context.Context, p Printer, d *Database) error {
	steps, err := leasesql.MigrationStatus(ctx, d.ConnConfig(), d.Schema().Name())
	if err != nil && !errors.Is(err, leasesql.ErrTableMissing) {
		return fmt.Errorf("migrate status: %w", err)
	}
	missing := err // said after the steps
	if missing != nil {
		missing = fmt.Errorf("migrate status: %w", missing)
	}
	if newer := newerThanUs(d.Schema().Name(), steps); newer != "" {
		fmt.Fprintf(p.Err, "leasetop: %s\n", newer)
	}
	if p.Format == JSON {
		err = nil
		for _, m := range steps {
			err = errors.Join(err, printStep(p, m, ""))
		}
		return errors.Join(err, missing)
	}
	rows := make([][]string, len(steps))
	for i, m := range steps {
		file, when := m.File, "no"
		if file == "" {
			file = "(of a newer program)"
		}
		if m.Applied {
			when = clock(m.AppliedAt)
		}
		rows[i] = []string{strconv.FormatInt(m.Version, 10), file, when}
	}
	return errors.Join(table(p.Out, []column{{title: "VERSION", right: true}, {title: "FILE", holds: names}, {title: "APPLIED"}}, rows), missing)
}

// newerThanUs says that the schema has steps which this program does not know; "" when it has none.
func newerThanUs(schema string, steps []leasesql.Migration) string {
	known := int64(0)
	for _, m := range steps {
		if m.File != "" {
			known = m.Version
		}
	}
	if newest := steps[len(steps)-1]; newest.File == "" {
		return fmt.Sprintf("schema %s is at step %d, newer than this program, which knows them up to %d", schema, newest.Version, known)
	}
	return ""
}

func printStep(p Printer, m leasesql.Migration, did string) error {
	for _, warning := range m.Warnings {
		fmt.Fprintf(p.Err, "leasetop: %s\n", safe.Text(warning))
	}
	if p.Format == JSON {
		out := step{Version: m.Version, File: m.File, Applied: m.Applied}
		if !m.AppliedAt.IsZero() {
			out.AppliedAt = &m.AppliedAt
		}
		return line(p.Out, out)
	}
	_, err := fmt.Fprintf(p.Out, "%s %s\n", did, m.File)
	return err
}
