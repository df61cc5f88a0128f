package queue

import (
	"context"

	leasesql "github.com/leasetop/leasetop/sql"
)

// Migrate brings the schema up to date, over a connection made as the pool makes
// its own. Any number of processes may call it at once, at every start: one works,
// the others wait for it, and where nothing is missing it only looks. A schema made
// by a newer program is left as it is.
//
// [ErrForbidden]: the role lacks a right; [ErrEncoding]: the database is not UTF-8.
// Nothing was changed then.
func (q *Queue) Migrate(ctx context.Context) error {
	config, err := q.DialConfig(ctx)
	if err != nil {
		return q.failed("migrate", err)
	}
	_, err = leasesql.Migrate(ctx, config, q.schema.Name(), q.prepare)
	return q.failed("migrate", err)
}
