package scenario

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	leasesql "github.com/leasetop/leasetop/sql"
)

// Names of what plays make, by which leftovers are known.
const (
	schemaPrefix = "leasetop_play_"
	serverPrefix = "play-"
	lockPrefix   = "leasetop scenario " // of advisory locks, which are the database's
)

// occupy makes what the play needs in the database, and sweeps away what killed plays left.
// From then on others know that it lives: see live.
func (s *Stage) occupy(ctx context.Context) error {
	s.sweepServers(ctx)
	needs := s.play.scenario.Needs
	if needs != Server { // nobody else comes there
		if err := s.takeLock(ctx); err != nil {
			return err
		}
		s.Later("let go of the play's lock", s.letGo)
		if ok, _, err := s.play.ground.Queue.Demonstration(ctx); err == nil && ok {
			if err := s.sweepSchemas(ctx); err != nil {
				return err
			}
		}
	}
	if needs == Schema {
		s.Later("drop the schema", s.dropOwn)
		s.Note("", "making schema "+s.Q.Schema().Name())
		if err := s.makeSchema(ctx); err != nil {
			return forbid(err, s.Q)
		}
	}
	if needs != Queue {
		if err := s.Q.Migrate(ctx); err != nil {
			return err
		}
	}
	if err := s.makeTables(ctx); err != nil {
		return fmt.Errorf("make the scenarios' ledger in schema %s: %w", s.Q.Schema().Name(), err)
	}
	if needs == Queue {
		if err := s.mayPlay(ctx); err != nil {
			return err
		}
		if err := s.sweepRuns(ctx); err != nil {
			return err
		}
	}
	if _, err := s.Q.Pool().Exec(ctx, s.Q.Schema().Query("scenario_run"), s.run); err != nil {
		return err
	}
	if needs == Queue { // else it goes with the schema or the server
		s.Later("remove the play's jobs", s.cleanOwn)
	}
	if needs != Server {
		s.live()
	}
	return nil
}

// makeSchema makes the play's schema, and marks it as such.
func (s *Stage) makeSchema(ctx context.Context) error {
	return pgx.BeginFunc(ctx, s.Q.Pool(), func(tx pgx.Tx) error {
		for _, statement := range []string{"scenario_make_schema", "scenario_mark_schema"} {
			if _, err := tx.Exec(ctx, s.Q.Schema().Query(statement)); err != nil {
				return err
			}
		}
		return nil
	})
}

// makeTables makes the scenarios' own tables where they are missing.
func (s *Stage) makeTables(ctx context.Context) error {
	var missing bool
	if err := s.Q.Pool().QueryRow(ctx, s.Q.Schema().Query("scenario_missing")).Scan(&missing); err != nil || !missing {
		return forbid(err, s.Q)
	}
	_, err := s.Q.Pool().Exec(ctx, s.Q.Schema().Query("scenario_tables"), pgx.QueryExecModeSimpleProtocol)
	return forbid(err, s.Q)
}

// tryLock takes the lock of a play.
func (s *Stage) tryLock(ctx context.Context, run string) (got bool, err error) {
	err = s.lock.QueryRow(ctx, s.Q.Schema().Query("life_lock"), lockPrefix+run).Scan(&got)
	return got, err
}

// unlock gives back the lock of a dead play.
func (s *Stage) unlock(ctx context.Context, run string) error {
	_, err := s.lock.Exec(ctx, s.Q.Schema().Query("life_unlock"), lockPrefix+run)
	return err
}

// session is a connection, or a pool of them.
type session interface {
	Exec(ctx context.Context, statement string, arguments ...any) (pgconn.CommandTag, error)
}

// clean removes all jobs of a play: those whose queue is the run's name, or begins with it and a dash.
func clean(ctx context.Context, db session, schema *leasesql.Schema, run string) error {
	_, err := db.Exec(ctx, schema.Query("scenario_clean"), run)
	return err
}

// cleanOwn removes all jobs of this play.
func (s *Stage) cleanOwn(ctx context.Context) error {
	err := surely(ctx, func(ctx context.Context) error { return clean(ctx, s.Q.Pool(), s.Q.Schema(), s.run) })
	if err != nil {
		return fmt.Errorf("%w; left are the jobs in queues %s and %s-…: the next play in schema %s removes them", err, s.run, s.run, s.Q.Schema().Name())
	}
	return nil
}

// dropOwn drops the play's own schema.
func (s *Stage) dropOwn(ctx context.Context) error {
	schema := s.Q.Schema()
	err := surely(ctx, func(ctx context.Context) error { return dropSchema(ctx, s.Q.Pool(), schema) })
	if err != nil {
		var cure []string
		for _, file := range schemaDrops {
			_, statement, _ := strings.Cut(schema.Query(file), "*/ ")
			cure = append(cure, statement)
		}
		return fmt.Errorf("%w; left is schema %s, which the next play in this database removes, or run %s", err, schema.Name(), strings.Join(cure, "; "))
	}
	return nil
}

// schemaDrops are the statements that remove a play's schema.
var schemaDrops = []string{"scenario_drop_publication", "scenario_drop_schema"}

func dropSchema(ctx context.Context, db session, schema *leasesql.Schema) error {
	for _, statement := range schemaDrops {
		if _, err := db.Exec(ctx, schema.Query(statement)); err != nil {
			return err
		}
	}
	return nil
}

// surely does something that must be done, on another connection where one broke, while
// the server is away for a moment: all but an answer of the server's is tried again.
func surely(ctx context.Context, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, surelyTakes)
	defer cancel()
	for {
		err := do(ctx)
		if err == nil || answered(err) || !pause(ctx, backEvery) {
			return err
		}
	}
}

// answered tells whether an error is the server's answer to a statement, and not that it
// is going, or coming up.
func answered(err error) bool {
	pg := (*pgconn.PgError)(nil)
	return errors.As(err, &pg) && !strings.HasPrefix(pg.Code, "57P") && !strings.HasPrefix(pg.Code, "08")
}
