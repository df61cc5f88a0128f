package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
	leasesql "github.com/leasetop/leasetop/sql"
	"github.com/leasetop/leasetop/sql/local"
)

// Names of what plays make, by which leftovers are known.
const (
	schemaPrefix = "leasetop_play_"
	serverPrefix = "play-"
	lockPrefix   = "leasetop scenario " // of advisory locks, which are the database's
)

// occupy makes what the play needs in the database, and sweeps away what killed plays left.
// A play holds an advisory lock for as long as it lives, by which others know that it does.
func (s *Stage) occupy(ctx context.Context) error {
	config, err := s.Q.DialConfig(ctx)
	if err != nil {
		return err
	}
	config.RuntimeParams["application_name"] = "leasetop audience"
	if s.lock, err = pgx.ConnectConfig(ctx, config); err != nil {
		return err
	}
	s.Later("let go of the play's lock", func(ctx context.Context) error { return s.lock.Close(ctx) })
	if got, err := s.tryLock(ctx, s.run); err != nil || !got {
		return errors.Join(err, fmt.Errorf("lock %s", s.run))
	}
	home := s.play.ground.Queue
	if s.play.scenario.Needs == Server {
		s.sweepServers(ctx)
	} else if ok, _, err := home.Demonstration(ctx); err == nil && ok {
		if err := s.sweepSchemas(ctx); err != nil {
			return fmt.Errorf("sweep away what killed plays left: %w", err)
		}
	}
	if name := s.Q.Schema().Name(); s.play.scenario.Needs == Schema {
		s.Later("drop the schema", func(ctx context.Context) error { return s.dropSchema(ctx, s.Q.Schema()) })
		s.Note("", "making schema "+name)
	}
	if s.play.scenario.Needs != Queue {
		if err := s.Q.Migrate(ctx); err != nil {
			return err
		}
	}
	if _, err := s.Q.Pool().Exec(ctx, s.Q.Schema().Query("scenario_tables"), pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("make the scenarios' ledger in schema %s: %w", s.Q.Schema().Name(), err)
	}
	if s.play.scenario.Needs != Queue {
		return nil // it goes with the schema or the server
	}
	if err := s.sweepRuns(ctx); err != nil {
		return fmt.Errorf("sweep away what killed plays left: %w", err)
	}
	if _, err := s.lock.Exec(ctx, s.Q.Schema().Query("scenario_run"), s.run); err != nil {
		return err
	}
	s.Later("remove the play's jobs", func(ctx context.Context) error { return clean(ctx, s.Q, s.run) })
	return nil
}

// tryLock takes the lock of a play.
func (s *Stage) tryLock(ctx context.Context, run string) (got bool, err error) {
	err = s.lock.QueryRow(ctx, s.Q.Schema().Query("scenario_lock"), lockPrefix+run).Scan(&got)
	return got, err
}

// unlock gives back the lock of a dead play.
func (s *Stage) unlock(ctx context.Context, run string) error {
	_, err := s.lock.Exec(ctx, s.Q.Schema().Query("scenario_unlock"), lockPrefix+run)
	return err
}

// clean removes all jobs of a play: those whose queue is the run's name, or begins with it and a dash.
func clean(ctx context.Context, q *queue.Queue, run string) error {
	_, err := q.Pool().Exec(ctx, q.Schema().Query("scenario_clean"), run)
	return err
}

// sweepRuns removes the jobs of plays that were killed.
func (s *Stage) sweepRuns(ctx context.Context) error {
	rows, _ := s.lock.Query(ctx, s.Q.Schema().Query("scenario_runs"))
	runs, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	return s.sweep(ctx, runs, func(run string) error { return clean(ctx, s.Q, run) })
}

// sweepSchemas drops the schemas of plays that were killed.
func (s *Stage) sweepSchemas(ctx context.Context) error {
	rows, _ := s.lock.Query(ctx, s.Q.Schema().Query("scenario_schemas"), schemaPrefix)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	runs := make([]string, len(names))
	for i, name := range names {
		runs[i] = strings.ReplaceAll(strings.TrimPrefix(name, schemaPrefix), "_", "-")
	}
	return s.sweep(ctx, runs, func(run string) error {
		schema, err := leasesql.ForSchema(schemaPrefix + strings.ReplaceAll(run, "-", "_"))
		if err != nil {
			return nil // none of ours
		}
		return s.dropSchema(ctx, schema)
	})
}

// sweep calls remove for each play that does not live.
func (s *Stage) sweep(ctx context.Context, runs []string, remove func(run string) error) error {
	for _, run := range runs {
		if run == s.run {
			continue
		}
		got, err := s.tryLock(ctx, run)
		if err != nil {
			return err
		}
		if !got {
			continue
		}
		if err := errors.Join(remove(run), s.unlock(ctx, run)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Stage) dropSchema(ctx context.Context, schema *leasesql.Schema) error {
	for _, statement := range []string{"scenario_drop_publication", "scenario_drop_schema"} {
		if _, err := s.lock.Exec(ctx, schema.Query(statement)); err != nil {
			return err
		}
	}
	return nil
}

// sweepServers removes the servers of plays that were killed, which nobody holds any more.
// What cannot be removed now is tried again by the next play.
func (s *Stage) sweepServers(ctx context.Context) {
	folders, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(s.Server.DataDir())), serverPrefix+"*"))
	slices.Sort(folders)
	for _, folder := range folders {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			continue
		}
		_ = local.Remove(ctx, local.Options{Dir: filepath.Dir(folder), Name: filepath.Base(folder)}) // ErrInUse: it lives
	}
}
