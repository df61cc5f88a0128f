package sql

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// Programs of several versions use one schema while a new one is being deployed.
// The rule that lets them:
//
//   - A step only adds: tables, functions, indexes, and columns that are nullable or
//     have a default. What a program of this release names in a statement is neither
//     renamed, dropped nor retyped until two releases later, and no older program has
//     to write what it does not know. So an older program on a newer schema keeps
//     working; TestFirstLightOnTheNewestSchema of package queue holds the statements of
//     the first release to that.
//   - A newer program on an older schema changes nothing there by itself. Statements
//     that want what is not there yet fail as a whole, and queue.ErrSchemaOld names the
//     cure. So the schema is migrated first, then the programs are replaced.
//   - Steps are taken in order, each in a transaction of its own. One that waits for a
//     table in use holds up the queue for no longer than migration_limits.sql says.
//   - migrate up of an older program finds nothing to do and leaves a newer schema
//     alone; its migrate down refuses to.

// What callers of the migrations tell apart.
var (
	// ErrNoStep says that there is no step to take back.
	ErrNoStep = errors.New("no migration is applied")
	// ErrNewerStep says that the newest step of the schema was taken by a newer program.
	ErrNewerStep = errors.New("the schema is newer than this program")
)

const (
	// lockPatience is how long a process waits for another that migrates.
	lockPatience = 5 * time.Minute
	// stepPatience is how long a step is tried again that another transaction holds up.
	stepPatience = time.Minute
	stepPause    = time.Second // for those whom the waiting step held up
)

// Migrate brings the schema up to date, over connections like config, and returns
// the steps it took: none when nothing was missing, and then it asks for no right
// but to look. Any number of processes may call it at once: one works, the others
// wait for it, and one that is killed leaves no step half done. A database or a role
// with which it cannot be done is refused, by [ErrEncoding], [ErrForbidden] or
// [ErrTableMissing], before anything is changed. schema is as [ForSchema] takes it. prepare is called with each new
// connection, as a pool's AfterConnect is: it may set the role that is to own the schema.
func Migrate(ctx context.Context, config *pgx.ConnConfig, schema string, prepare ...func(context.Context, *pgx.Conn) error) ([]Migration, error) {
	var taken []Migration
	err := migrate(ctx, config, prepare, schema, func(ctx context.Context, m *migrator) error {
		if err := m.whole(ctx); err != nil {
			return err
		}
		if len(m.state.missing()) == 0 {
			return nil
		}
		if err := m.state.mayMigrate(m.schema.name); err != nil {
			return err
		}
		return m.alone(ctx, func() error {
			if err := m.createSchema(ctx); err != nil {
				return err
			}
			return m.patiently(ctx, func() error {
				results, err := m.steps.Up(ctx)
				partly := (*goose.PartialError)(nil)
				if errors.As(err, &partly) {
					results, err = partly.Applied, fmt.Errorf("%s: %w", partly.Failed.Source.Path, partly.Err)
				}
				for _, r := range results {
					taken = append(taken, Migration{Version: r.Source.Version, File: r.Source.Path, Applied: true})
				}
				if len(taken) > 0 {
					taken[len(taken)-1].Warnings = m.warned()
				}
				return err
			})
		})
	})
	return taken, err
}

// MigrateDown takes the newest step back and returns it. It drops what that step
// made, with the data in it. The error wraps [ErrNoStep] when there is none,
// [ErrNewerStep] when it is not known to this program, and [ErrForbidden].
func MigrateDown(ctx context.Context, config *pgx.ConnConfig, schema string) (Migration, error) {
	var step Migration
	err := migrate(ctx, config, nil, schema, func(ctx context.Context, m *migrator) error {
		return m.alone(ctx, func() error {
			if err := m.look(ctx); err != nil {
				return err
			}
			if err := m.state.mayTakeBack(m.schema.name); err != nil {
				return err
			}
			return m.patiently(ctx, func() error {
				r, err := m.steps.Down(ctx)
				partly := (*goose.PartialError)(nil)
				switch {
				case errors.As(err, &partly):
					return fmt.Errorf("%s: %w", partly.Failed.Source.Path, partly.Err)
				case err != nil:
					return err
				}
				step = Migration{Version: r.Source.Version, File: r.Source.Path, Warnings: m.warned()}
				return nil
			})
		})
	})
	return step, err
}

// MigrationStatus lists every step that this program knows, and those of a newer
// program that the schema has, oldest first. It changes nothing, not even where the
// schema does not exist yet. The error wraps [ErrForbidden] when the role may not look, and
// [ErrTableMissing] when the schema lost a table; the steps are returned then too.
func MigrationStatus(ctx context.Context, config *pgx.ConnConfig, schema string) ([]Migration, error) {
	var steps []Migration
	err := migrate(ctx, config, nil, schema, func(ctx context.Context, m *migrator) error {
		steps = m.state.steps
		return m.whole(ctx)
	})
	return steps, err
}

// migrator is at work on one schema of one database.
type migrator struct {
	schema *Schema
	conn   *pgx.Conn // looks, and holds the lock
	db     *sql.DB   // takes the steps
	steps  *goose.Provider
	state  state

	mu       sync.Mutex
	warnings []string // of the server, while steps were taken
}

// migrate connects, looks, and does. When ctx ended meanwhile the error says so,
// whatever the step under way made of it.
func migrate(ctx context.Context, config *pgx.ConnConfig, prepare []func(context.Context, *pgx.Conn) error, schema string, do func(context.Context, *migrator) error) (err error) {
	defer func() {
		if err != nil && ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
			err = fmt.Errorf("%w (%w)", err, ctx.Err())
		}
	}()
	s, err := ForSchema(schema)
	if err != nil {
		return err
	}
	config = config.Copy()
	// Statements of several commands need the simple protocol.
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	// The files are UTF-8, and the simple protocol takes nothing else.
	config.RuntimeParams["client_encoding"] = "UTF8"
	// It also quotes and reads text by these, which a database may have set otherwise.
	config.RuntimeParams["standard_conforming_strings"] = "on"
	config.RuntimeParams["datestyle"] = "ISO"
	config.RuntimeParams["application_name"] = "leasetop migrate"
	// goose notes when it took a step as a timestamp without its zone.
	config.RuntimeParams["timezone"] = "UTC"
	BoundMessages(&config.Config)
	m := &migrator{schema: s}
	config.OnNotice = m.warn
	if m.conn, err = pgx.ConnectConfig(ctx, config); err != nil {
		return err // pgx leaves the password out
	}
	defer func() { _ = m.conn.Close(context.WithoutCancel(ctx)) }() // its lock goes with it
	ready := func(ctx context.Context, conn *pgx.Conn) error { return s.ready(ctx, conn, prepare) }
	if err := ready(ctx, m.conn); err != nil {
		return err
	}
	m.db = stdlib.OpenDB(*config, stdlib.OptionAfterConnect(ready))
	defer m.db.Close()
	m.steps, err = goose.NewProvider(goose.DialectPostgres, m.db, rewritten{Migrations(), s},
		goose.WithTableName(s.name+".migrations"),
		goose.WithDisableGlobalRegistry(true),
		goose.WithSlog(slog.New(slog.DiscardHandler)))
	if err != nil {
		return err
	}
	if err := m.look(ctx); err != nil {
		return err
	}
	return do(ctx, m)
}

// ready prepares a new connection as the caller wants it, and for what a step needs.
func (s *Schema) ready(ctx context.Context, conn *pgx.Conn, prepare []func(context.Context, *pgx.Conn) error) error {
	for _, prepare := range prepare {
		if err := prepare(ctx, conn); err != nil {
			return fmt.Errorf("prepare a connection for the migration: %w", err)
		}
	}
	if _, err := conn.Exec(ctx, s.Query("migration_session")); err != nil {
		return err
	}
	told := int64(conn.PgConn().PID())
	if _, err := conn.Exec(ctx, s.Query("own_path"), told); err != nil {
		return err
	}
	// One waits for others, or holds the lock while the other works.
	_, err := conn.Exec(ctx, s.Query("stay"), told)
	return err
}

// warn keeps a warning that a step raises. The server's own, as of a wal_level, are none of
// those: the dashboard has them with their cures.
func (m *migrator) warn(_ *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" && n.Code == "01000" { // of RAISE WARNING
		m.mu.Lock()
		defer m.mu.Unlock()
		m.warnings = append(m.warnings, n.Message)
	}
}

func (m *migrator) warned() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.warnings
}

// createSchema makes the schema first: goose keeps its table of steps inside it.
func (m *migrator) createSchema(ctx context.Context) error {
	if _, err := m.db.ExecContext(ctx, m.schema.Query("create_schema")); err != nil {
		return fmt.Errorf("create schema %s: %w", m.schema.name, err)
	}
	return nil
}

// patiently takes a step again that gave up waiting for a table.
func (m *migrator) patiently(ctx context.Context, take func() error) error {
	began := time.Now()
	for held := false; ; {
		err := take()
		server := (*pgconn.PgError)(nil)
		gaveUp := errors.As(err, &server) && server.Code == "55P03" // lock_not_available
		held = held || gaveUp
		if calledOff := held && err != nil && ctx.Err() != nil; !gaveUp && !calledOff {
			return err
		}
		if time.Since(began) > stepPatience || !sleep(ctx, stepPause) {
			return fmt.Errorf("%w: %s holds a table of schema %s: end its transaction, or try again when it has ended",
				err, m.who("migration_blocker"), m.schema.name)
		}
	}
}

// rewritten shows the migrations to goose with the schema's name in them, and with
// limits on how long they wait for others.
type rewritten struct {
	fs.FS
	schema *Schema
}

func (r rewritten) Open(name string) (fs.File, error) {
	f, err := r.FS.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil || info.IsDir() {
		return f, err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	return &rewrittenFile{Reader: bytes.NewReader([]byte(r.rewrite(string(text)))), info: info}, nil
}

func (r rewritten) rewrite(text string) string {
	text = r.schema.rewrite(text)
	for _, part := range []string{"-- +goose Up\n", "-- +goose Down\n"} {
		text = strings.Replace(text, part, part+r.schema.Query("migration_limits")+";\n", 1)
	}
	return text
}

type rewrittenFile struct {
	*bytes.Reader
	info fs.FileInfo
}

func (f *rewrittenFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *rewrittenFile) Close() error               { return nil }
