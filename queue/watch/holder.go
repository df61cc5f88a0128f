package watch

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// elsewhereError names the relations that hold rows of the jobs table instead of itself.
type elsewhereError string

func (e elsewhereError) Error() string {
	return "rows of the jobs table lie in " + string(e) + ", whose changes the stream does not have: counts are polled"
}

// holders asks on the stream's own connection whether the table holds its rows itself.
func (s *stream) holders(ctx context.Context) error {
	results, err := s.conn.Exec(ctx, s.feed.q.Schema().Query("watch_holder")).ReadAll()
	if err != nil {
		return err
	}
	if len(results) == 1 && len(results[0].Rows) == 1 && len(results[0].Rows[0][0]) > 0 {
		return elsewhereError(results[0].Rows[0][0])
	}
	return nil
}

// stillHolds ends a stream whose table turns out to hold its rows elsewhere: an empty one
// does not tell yet.
func (f *Feed) stillHolds(ctx context.Context) error {
	if f.current.Load() == nil {
		return nil
	}
	var where string
	err := f.reader.Pool().QueryRow(ctx, f.q.Schema().Query("watch_holder")).Scan(&where)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if where != "" {
		f.abandon(elsewhereError(where))
	}
	return nil
}
