package queue

import (
	"context"
	"fmt"

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
	config := q.ConnConfig()
	if prepare := q.pool.Config().BeforeConnect; prepare != nil { // it may be what knows the password
		if err := prepare(ctx, config); err != nil {
			return fmt.Errorf("migrate: %w", err)
		}
	}
	_, err := leasesql.Migrate(ctx, config, q.schema.Name())
	return q.failed("migrate", err)
}
