package queue

import (
	"cmp"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// whileHeld locks leased jobs and runs a statement on them in the same transaction, in one
// round trip. What was held and the statement did not change, a trigger left as it was. each
// is called for every row of the statement, and means nothing when there is an error.
func (q *Queue) whileHeld(ctx context.Context, conn *pgx.Conn, ids []int64, owners []string, spare []float64, statement string, args []any, each func(pgx.CollectableRow) error) (held map[Lease]bool, err error) {
	batch := &pgx.Batch{}
	batch.Queue("begin isolation level read committed")
	held = make(map[Lease]bool, len(ids))
	batch.Queue(q.schema.Query("hold"), ids, owners, spare).Query(func(rows pgx.Rows) error {
		var l Lease
		_, err := pgx.ForEachRow(rows, []any{&l.ID, &l.Token}, func() error {
			held[l] = true
			return nil
		})
		return err
	})
	batch.Queue(q.schema.Query(statement), args...).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			if err := each(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	batch.Queue("commit")
	err = conn.SendBatch(ctx, batch).Close()
	q.rollBack(ctx, conn, err)
	return held, q.forbid(err, statement)
}

// apart runs a statement once for each list of arguments, each in a transaction of its own,
// all in one round trip. errs are the errors of each; the other one is of the connection,
// and says nothing about any. each is called for every row, and means nothing for a list
// that has an error.
func (q *Queue) apart(ctx context.Context, conn *pgx.Conn, statement string, lists [][]any, each func(list int, row pgx.CollectableRow) error) (errs []error, err error) {
	pipeline := conn.PgConn().StartPipeline(ctx)
	defer func() {
		if closeErr := pipeline.Close(); err == nil {
			err = closeErr
		}
	}()
	text := q.schema.Query(statement)
	types := conn.TypeMap()
	// A commit behind the point up to which an error skips everything ends the transaction either way.
	for _, args := range lists {
		var built pgx.ExtendedQueryBuilder
		if err := built.Build(types, nil, args); err != nil {
			return nil, err
		}
		pipeline.SendQueryParams("begin isolation level read committed", nil, nil, nil, nil)
		pipeline.SendQueryParams(text, built.ParamValues, nil, built.ParamFormats, built.ResultFormats)
		pipeline.SendPipelineSync()
		pipeline.SendQueryParams("commit", nil, nil, nil, nil)
		pipeline.SendPipelineSync()
	}
	if err := pipeline.Flush(); err != nil {
		return nil, err
	}
	errs = make([]error, len(lists))
	for i := range lists {
		for range 2 { // up to each point
			if err := toPoint(pipeline, types, func(row pgx.CollectableRow) error { return each(i, row) }, &errs[i]); err != nil {
				return nil, err
			}
		}
		errs[i] = q.forbid(errs[i], statement)
	}
	return errs, nil
}

// toPoint reads a pipeline's results up to the next point of synchronisation. failed becomes
// the first error of the server's; the error returned is any other.
func toPoint(pipeline *pgconn.Pipeline, types *pgtype.Map, each func(pgx.CollectableRow) error, failed *error) error {
	for {
		result, err := pipeline.GetResults()
		if reader, ok := result.(*pgconn.ResultReader); ok {
			rows := pgx.RowsFromResultReader(types, reader)
			for rows.Next() && err == nil {
				err = each(rows)
			}
			rows.Close()
			err = cmp.Or(err, rows.Err())
		}
		var pg *pgconn.PgError
		switch {
		case errors.As(err, &pg):
			*failed = cmp.Or(*failed, err)
			continue
		case err != nil:
			return err
		}
		switch result.(type) {
		case *pgconn.PipelineSync:
			return nil
		case nil:
			return errors.New("the server's answers end early")
		}
	}
}
