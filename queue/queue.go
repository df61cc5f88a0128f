package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	leasesql "github.com/leasetop/leasetop/sql"
)

// Queue is the work queue of one schema. It is safe for concurrent use.
type Queue struct {
	pool   *pgxpool.Pool
	schema *leasesql.Schema
	marks  marks
	// What the server refused to change, for claims and for reclaims.
	passedClaims, passedReclaims passed
	notes                        notes
	wakes                        wakes
	pooler                       *pooler // nil with a pool of the caller's
	// clocked measures statements; nil with a pool that was not made from one of ours.
	clocked *clocked
	owned   bool // the pool is ours to close
}

// Options of [Open]. The zero value works.
type Options struct {
	Schema   string // "" is leasetop
	MaxConns int32  // 0 leaves it to the connection string, then to pgx
	AppName  string // application_name of the connections; "" is leasetop
}

// Open connects to the database at url, a connection string as pgx and libpq
// take it ("" reads the PG* environment); behind a pooler that shares sessions between
// transactions, which it notices, nothing is prepared. It does not wait for the server:
// the first operation meets an unreachable one. Close the Queue to end its pool.
// The error is about a url or a schema's name that makes no sense, and holds no password.
func Open(ctx context.Context, url string, opts Options) (*Queue, error) {
	config, err := parse(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("open queue: %w", err)
	}
	if opts.MaxConns > 0 {
		config.MaxConns = opts.MaxConns
	}
	if opts.AppName == "" {
		opts.AppName = "leasetop"
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = opts.AppName
	}
	// All text here is UTF-8, whatever a role or a database defaults to; under another
	// client encoding it would be stored as something else without an error.
	config.ConnConfig.RuntimeParams["client_encoding"] = "UTF8"
	leasesql.BoundMessages(&config.ConnConfig.Config)
	schema, err := leasesql.ForSchema(opts.Schema)
	if err != nil {
		return nil, fmt.Errorf("open queue: %w", err)
	}
	between := &pooler{statement: schema.Query("backend")}
	between.heed(config)
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if err := unicode(conn); err != nil {
			return err
		}
		return between.ask(ctx, conn)
	}
	clock := &clocked{}
	config.ConnConfig.Tracer = clock
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open queue: %w", err)
	}
	return &Queue{pool: pool, schema: schema, pooler: between, clocked: clock, owned: true}, nil
}

// New uses a pool that the caller keeps and closes, after the Queue. The search_path of its
// connections must not name a schema before pg_catalog: a role that may create in that schema
// could replace PostgreSQL's operators. The server's messages have no limit: pass the
// configuration of the connections to [leasesql.BoundMessages], as Open does. The error wraps
// leasesql.ErrSchemaName when the schema's name is refused.
func New(pool *pgxpool.Pool, schema string) (*Queue, error) {
	s, err := leasesql.ForSchema(schema)
	if err != nil {
		return nil, fmt.Errorf("open queue: %w", err)
	}
	return &Queue{pool: pool, schema: s, clocked: clockOf(pool)}, nil
}

// Close has the workers woken for what was enqueued last and, for a Queue of [Open],
// ends the pool, waiting for the operations that use it.
func (q *Queue) Close() {
	q.flushWakes()
	q.notes.written.Wait()
	if q.owned {
		q.pool.Close()
	}
}

// Pool is the pool of connections in use, also for transactions of one's own.
func (q *Queue) Pool() *pgxpool.Pool { return q.pool }

// Schema is the schema with its statements.
func (q *Queue) Schema() *leasesql.Schema { return q.schema }

// Ping asks the server for a sign of life and checks that the jobs table is
// there. The error wraps [ErrSchemaMissing] when it is not, [ErrRefused] when
// the server lets nobody in, [ErrForbidden] when the role may not read it, and
// [ErrEncoding] when the database does not store text as UTF-8.
func (q *Queue) Ping(ctx context.Context) error {
	conn, err := q.pool.Acquire(ctx)
	if err != nil {
		return q.failed("ping", err)
	}
	defer conn.Release()
	if err := unicode(conn.Conn()); err != nil { // for a pool of the caller's
		return q.failed("ping", err)
	}
	_, err = conn.Exec(ctx, q.schema.Query("table_pages"))
	return q.failed("ping", err, "table_pages")
}

// unicode refuses a database that does not store text as UTF-8.
func unicode(conn *pgx.Conn) error {
	if encoding := conn.PgConn().ParameterStatus("server_encoding"); encoding != "UTF8" && encoding != "" { // unless a pooler keeps it
		return fmt.Errorf("%w: it stores text as %s, which cannot hold every payload and error text: make one with CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'", ErrEncoding, encoding)
	}
	return nil
}

// write runs one statement on a connection of the pool; see [Queue.writeOn].
func (q *Queue) write(ctx context.Context, statement string, args []any, each func(pgx.CollectableRow) error) error {
	conn, err := q.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return q.writeOn(ctx, conn.Conn(), statement, args, each)
}

// writeOn runs one statement in a transaction of its own, in one round trip, at
// READ COMMITTED: asked for explicitly, because a role may have a stricter
// default under which concurrent writes fail with 40001 instead of skipping or
// finding nothing. each is called for every row.
func (q *Queue) writeOn(ctx context.Context, conn *pgx.Conn, statement string, args []any, each func(pgx.CollectableRow) error) error {
	return q.transaction(ctx, conn, nil, statement, args, each)
}

// writeQuietly is write for a statement whose inserts are to wake nobody.
func (q *Queue) writeQuietly(ctx context.Context, statement string, args []any, each func(pgx.CollectableRow) error) error {
	conn, err := q.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return q.transaction(ctx, conn.Conn(), []string{"quiet"}, statement, args, each)
}

// transaction is writeOn with statements before, which have no arguments.
func (q *Queue) transaction(ctx context.Context, conn *pgx.Conn, before []string, statement string, args []any, each func(pgx.CollectableRow) error) error {
	first := []string{"begin isolation level read committed"}
	for _, b := range before {
		first = append(first, q.schema.Query(b))
	}
	return q.committed(ctx, conn, first, statement, args, each)
}

// committed runs a statement and a commit, after first, in one round trip.
func (q *Queue) committed(ctx context.Context, conn *pgx.Conn, first []string, statement string, args []any, each func(pgx.CollectableRow) error) error {
	batch := &pgx.Batch{}
	for _, f := range first {
		batch.Queue(f)
	}
	batch.Queue(q.schema.Query(statement), args...)
	batch.Queue("commit")
	err := func() error {
		results := conn.SendBatch(ctx, batch)
		defer results.Close()
		for range first {
			if _, err := results.Exec(); err != nil {
				return err
			}
		}
		rows, err := results.Query()
		if err != nil {
			return err
		}
		for rows.Next() {
			if err := each(rows); err != nil {
				rows.Close()
				return err
			}
		}
		if err := rows.Err(); err != nil {
			return err
		}
		if _, err := results.Exec(); err != nil {
			return err
		}
		return results.Close()
	}()
	q.rollBack(ctx, conn, err)
	return q.forbid(err, statement)
}

// rollBack ends the transaction of a statement that failed.
func (q *Queue) rollBack(ctx context.Context, conn *pgx.Conn, err error) {
	if err != nil && !conn.IsClosed() && conn.PgConn().TxStatus() != 'I' {
		// Keep the connection: without this the pool would throw it away.
		if _, rollbackErr := conn.Exec(ctx, "rollback"); rollbackErr != nil {
			conn.Close(ctx)
		}
	}
}

// failed wraps a database error with what was tried. statement, when given, is the one
// that was run: it tells which right was missing.
func (q *Queue) failed(operation string, err error, statement ...string) error {
	if err == nil {
		return nil
	}
	if e := notConnected(err); e != nil {
		return fmt.Errorf("%s: %w", operation, e)
	}
	for _, s := range statement {
		err = q.forbid(err, s)
	}
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) && !raised(pg) {
		switch pg.Code {
		case "3F000": // invalid_schema_name
			return fmt.Errorf("%s: %w", operation, &schemaMissing{schema: q.schema.Name(), cause: err})
		case "42P01", "42703", "42883": // undefined_table, undefined_column, undefined_function
			if pg.Code == "42P01" && names(pg.Message, q.schema.Name()+".jobs") {
				return fmt.Errorf("%s: %w", operation, &schemaMissing{schema: q.schema.Name(), cause: err})
			}
			return fmt.Errorf("%s: %w", operation, &schemaOld{schema: q.schema.Name(), message: pg.Message, cause: err})
		case "25006": // read_only_sql_transaction
			return fmt.Errorf("%s: the server takes no writes, as a standby or by default_transaction_read_only: %w", operation, err)
		case queryCanceled:
			return fmt.Errorf("%s: %w", operation, q.cut(err))
		}
	}
	return fmt.Errorf("%s: %w", operation, err)
}
