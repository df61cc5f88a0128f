package sql

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// Migration is one step of the schema and whether a database has it.
type Migration struct {
	Version   int64     `json:"version"`
	File      string    `json:"file"`
	Applied   bool      `json:"applied"`
	AppliedAt time.Time `json:"applied_at"` // zero when not applied
}

// Migrate brings the schema of the database at url up to date and returns the
// steps it took, none when nothing was missing. Any number of processes may call
// it at once: one works, the others wait for it.
func Migrate(ctx context.Context, url, schema string) ([]Migration, error) {
	var steps []Migration
	err := migrations(ctx, url, schema, func(ctx context.Context, p *goose.Provider) error {
		results, err := p.Up(ctx)
		for _, r := range results {
			steps = append(steps, Migration{Version: r.Source.Version, File: r.Source.Path, Applied: true})
		}
		return err
	})
	if err != nil {
		return steps, fmt.Errorf("migrate up: %w", err)
	}
	return steps, nil
}

// MigrateDown takes the newest step back and returns it. It drops what that step
// made, with the data in it. Without any step left it returns an error that
// wraps goose.ErrNoNextVersion.
func MigrateDown(ctx context.Context, url, schema string) (Migration, error) {
	var step Migration
	err := migrations(ctx, url, schema, func(ctx context.Context, p *goose.Provider) error {
		r, err := p.Down(ctx)
		if r != nil {
			step = Migration{Version: r.Source.Version, File: r.Source.Path}
		}
		return err
	})
	if err != nil {
		return step, fmt.Errorf("migrate down: %w", err)
	}
	return step, nil
}

// MigrationStatus lists every step that this program knows, oldest first. It
// changes nothing, not even where the schema does not exist yet.
func MigrationStatus(ctx context.Context, url, schema string) ([]Migration, error) {
	s, err := ForSchema(schema)
	if err != nil {
		return nil, err
	}
	db, err := open(url)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	provider, err := newProvider(db, s)
	if err != nil {
		return nil, err
	}
	var exists bool
	if err := db.QueryRowContext(ctx, s.Query("migrations_exist")).Scan(&exists); err != nil {
		return nil, fmt.Errorf("migration status: %w", err)
	}
	var steps []Migration
	if !exists {
		for _, source := range provider.ListSources() {
			steps = append(steps, Migration{Version: source.Version, File: source.Path})
		}
		return steps, nil
	}
	status, err := provider.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("migration status: %w", err)
	}
	for _, st := range status {
		steps = append(steps, Migration{
			Version: st.Source.Version, File: st.Source.Path,
			Applied: st.State == goose.StateApplied, AppliedAt: st.AppliedAt,
		})
	}
	return steps, nil
}

// migrations runs do on the schema, which it creates first: goose keeps its
// version table inside it.
func migrations(ctx context.Context, url, schema string, do func(context.Context, *goose.Provider) error) error {
	s, err := ForSchema(schema)
	if err != nil {
		return err
	}
	db, err := open(url)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, s.Query("create_schema")); err != nil {
		return fmt.Errorf("create schema %s: %w", s.name, err)
	}
	provider, err := newProvider(db, s)
	if err != nil {
		return err
	}
	return do(ctx, provider)
}

func open(url string) (*sql.DB, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err // pgx leaves the password out
	}
	// Statements of several commands need the simple protocol.
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	// The files are UTF-8, and the simple protocol takes nothing else.
	config.RuntimeParams["client_encoding"] = "UTF8"
	config.RuntimeParams["application_name"] = "leasetop migrate"
	// goose notes when it took a step as a timestamp without its zone.
	config.RuntimeParams["timezone"] = "UTC"
	return stdlib.OpenDB(*config), nil
}

func newProvider(db *sql.DB, s *Schema) (*goose.Provider, error) {
	// Waiting by trying, once a second for five minutes, rather than inside one
	// statement: a waiting statement holds a snapshot, and CREATE INDEX
	// CONCURRENTLY in another process would wait for it in turn.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, db, rewritten{Migrations(), s},
		goose.WithTableName(s.name+".migrations"),
		goose.WithSessionLocker(locker),
		goose.WithDisableGlobalRegistry(true),
		goose.WithSlog(slog.New(slog.DiscardHandler)))
}

// rewritten shows the migrations to goose with the schema's name in them.
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
	return &rewrittenFile{Reader: bytes.NewReader([]byte(r.schema.rewrite(string(text)))), info: info}, nil
}

type rewrittenFile struct {
	*bytes.Reader
	info fs.FileInfo
}

func (f *rewrittenFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *rewrittenFile) Close() error               { return nil }
