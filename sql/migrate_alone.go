package sql

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
)

// alone does something while no other process migrates the schema. The lock is a
// transaction of its own, in which nothing else happens: it ends with the
// connection, however the process ends.
func (m *migrator) alone(ctx context.Context, do func() error) error {
	waiting, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		// The wait may also end in the middle of a statement.
		tx, err := m.tryLock(waiting)
		switch {
		case tx != nil:
			return errors.Join(do(), tx.Rollback(context.WithoutCancel(ctx)))
		case err != nil && waiting.Err() == nil:
			return err
		case waiting.Err() != nil || !sleep(waiting, rand.N(pause)+pause/2):
			return fmt.Errorf("%s is migrating: %w", m.who("migration_holder"), waiting.Err())
		}
	}
}

// tryLock returns the transaction that has the lock, or nil where another has it.
func (m *migrator) tryLock(ctx context.Context) (pgx.Tx, error) {
	tx, err := m.conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return nil, err
	}
	ours := false
	if _, err = tx.Exec(ctx, m.schema.Query("migration_limits")); err == nil {
		err = tx.QueryRow(ctx, m.schema.Query("migration_lock")).Scan(&ours)
	}
	if err != nil || !ours {
		return nil, errors.Join(err, tx.Rollback(context.WithoutCancel(ctx)))
	}
	return tx, nil
}

// who names the process that a statement finds. It is for the text of an error, so
// it never fails.
func (m *migrator) who(statement string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var pid int64
	var name, user string
	if m.db.QueryRowContext(ctx, m.schema.Query(statement)).Scan(&pid, &name, &user) != nil {
		return "another process"
	}
	return fmt.Sprintf("the session with process id %d (%q, user %q)", pid, name, user)
}

// sleep reports whether the time went by before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
