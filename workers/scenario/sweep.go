package scenario

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	leasesql "github.com/leasetop/leasetop/sql"
)

// sweepRuns removes the jobs of plays that were killed.
func (s *Stage) sweepRuns(ctx context.Context) error {
	rows, _ := s.lock.Query(ctx, s.Q.Schema().Query("scenario_runs"))
	runs, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("look for what killed plays left: %w", err)
	}
	return s.sweep(ctx, runs, func(run string) error {
		if stale, err := s.stale(ctx, s.Q.Schema(), run); err != nil || !stale {
			return err
		}
		return clean(ctx, s.lock, s.Q.Schema(), run)
	})
}

// sweepSchemas drops the schemas of plays that were killed.
func (s *Stage) sweepSchemas(ctx context.Context) error {
	rows, _ := s.lock.Query(ctx, s.Q.Schema().Query("scenario_schemas"), schemaPrefix)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("look for what killed plays left: %w", err)
	}
	runs := make([]string, len(names))
	for i, name := range names {
		runs[i] = strings.ReplaceAll(strings.TrimPrefix(name, schemaPrefix), "_", "-")
	}
	return s.sweep(ctx, runs, func(run string) error {
		schema, err := leasesql.ForSchema(schemaName(run))
		if err != nil {
			return nil // none of ours
		}
		if stale, err := s.stale(ctx, schema, run); err != nil || !stale {
			return err
		}
		return dropSchema(ctx, s.lock, schema)
	})
}

// schemaName is the schema that a play makes.
func schemaName(run string) string { return schemaPrefix + strings.ReplaceAll(run, "-", "_") }

// stale tells whether a play has shown no sign of life for a while. Who has its lock may
// rely on that: without it the play shows none.
func (s *Stage) stale(ctx context.Context, schema *leasesql.Schema, run string) (stale bool, err error) {
	while := deadAfter
	if came := s.play.ground.AloneSince; !came.IsZero() { // whoever was here before is gone
		while = min(while, time.Since(came))
	}
	err = s.lock.QueryRow(ctx, schema.Query("scenario_stale"), run, while.Seconds()).Scan(&stale)
	pg := (*pgconn.PgError)(nil)
	if errors.As(err, &pg) && (pg.Code == "42P01" || pg.Code == "42703" || pg.Code == "3F000") {
		return true, nil // killed before it was entered
	}
	return stale, err
}

// sweep calls remove for each play whose lock is free, and holds it meanwhile. What cannot
// be removed, since it is somebody else's or somebody has locked it, is left for the next
// play, and said: it is no reason not to play. Nor is it one to wait for long: where several
// are locked, most of them are left.
func (s *Stage) sweep(ctx context.Context, runs []string, remove func(run string) error) error {
	began := time.Now()
	for i, run := range runs {
		if run == s.run {
			continue
		}
		if time.Since(began) > 2*lockTakes {
			s.Note("", fmt.Sprintf("what %d other plays may have left stays for now", len(runs)-i))
			return nil
		}
		got, err := s.tryLock(ctx, run)
		if err != nil {
			return err
		}
		if !got {
			continue
		}
		err = remove(run)
		if err != nil && answered(err) {
			s.Note("", fmt.Sprintf("what the killed play %s left stays for now: %v", run, err))
			err = nil
		}
		if err := errors.Join(err, s.unlock(ctx, run)); err != nil {
			return fmt.Errorf("remove what the killed play %s left: %w", run, err)
		}
	}
	return nil
}
