package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	leasesql "github.com/leasetop/leasetop/sql"
)

// step is one migration as JSON.
type step struct {
	Version   int64      `json:"version"`
	File      string     `json:"file"`
	Applied   bool       `json:"applied"`
	AppliedAt *time.Time `json:"applied_at"`
}

// MigrateUp brings the schema up to date and prints each step it took.
func MigrateUp(ctx context.Context, p Printer, d *Database) error {
	taken, err := leasesql.Migrate(ctx, d.url, d.Schema().Name())
	for _, m := range taken {
		if err := printStep(p, m, "applied"); err != nil {
			return err
		}
	}
	if err == nil && len(taken) == 0 && p.Format != JSON {
		fmt.Fprintf(p.Out, "schema %s is up to date\n", d.Schema().Name())
	}
	return err
}

// MigrateDown takes the newest step back, with the data in what it made.
func MigrateDown(ctx context.Context, p Printer, d *Database) error {
	before, err := leasesql.MigrationStatus(ctx, d.url, d.Schema().Name())
	if err != nil {
		return err
	}
	applied := false
	for _, m := range before {
		applied = applied || m.Applied
	}
	if !applied {
		return fmt.Errorf("migrate down: no migration is applied in schema %s, so there is nothing to take back", d.Schema().Name())
	}
	m, err := leasesql.MigrateDown(ctx, d.url, d.Schema().Name())
	if err != nil {
		return err
	}
	return printStep(p, m, "took back")
}

// MigrationStatus prints every step that this program knows. It changes nothing.
func MigrationStatus(ctx context.Context, p Printer, d *Database) error {
	steps, err := leasesql.MigrationStatus(ctx, d.url, d.Schema().Name())
	if err != nil {
		return err
	}
	if p.Format == JSON {
		for _, m := range steps {
			err = errors.Join(err, printStep(p, m, ""))
		}
		return err
	}
	rows := make([][]string, len(steps))
	for i, m := range steps {
		when := "no"
		if m.Applied {
			when = clock(m.AppliedAt)
		}
		rows[i] = []string{strconv.FormatInt(m.Version, 10), m.File, when}
	}
	return table(p.Out, []column{{title: "VERSION", right: true}, {title: "FILE"}, {title: "APPLIED"}}, rows)
}

func printStep(p Printer, m leasesql.Migration, did string) error {
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
