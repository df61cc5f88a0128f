package queue

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// foreign is a queue whose server speaks a language that nobody here reads, and whose
// statements may run for so long.
func foreign(t *testing.T, q *Queue, timeout string) *Queue {
	t.Helper()
	config := q.Pool().Config().Copy()
	config.ConnConfig.RuntimeParams["statement_timeout"] = timeout
	config.ConnConfig.RuntimeParams["application_name"] = "foreign"
	config.ConnConfig.OnPgError = func(_ *pgconn.PgConn, err *pgconn.PgError) bool {
		err.Message, err.Detail, err.Hint = "ステートメントをキャンセルしています", "", ""
		return err.Severity != "FATAL"
	}
	pool := must[*pgxpool.Pool](t)(pgxpool.NewWithConfig(t.Context(), config))
	t.Cleanup(pool.Close)
	return must[*Queue](t)(New(pool, ""))
}

// A statement that the server ended is told by how long it ran, in whatever language the
// server says so: a cancelled one is no matter of statement_timeout.
func TestWhatEndedAStatementIsToldByItsTime(t *testing.T) {
	t.Parallel()
	q := open(t)
	_, err := begin(t, q).Exec(t.Context(), "lock leasetop.queues in access exclusive mode")
	ok(t, err)
	const timeout, cancel = "it takes longer than this role's statement_timeout of ", "somebody cancelled the statement"
	for name, c := range map[string]struct {
		limit          string
		cancelled      bool
		unmeasured     bool
		want, not      string
		mayBeOfTimeout bool
	}{
		"timeout":                    {limit: "150ms", want: timeout + "150ms", not: cancel, mayBeOfTimeout: true},
		"cancelled":                  {limit: "1min", cancelled: true, want: cancel + " after ", not: "statement_timeout"},
		"cancelled, without a limit": {limit: "0", cancelled: true, want: cancel + " after ", not: "statement_timeout"},
		"unmeasured, no limit":       {limit: "0", cancelled: true, unmeasured: true, want: cancel + ", ", not: "statement_timeout"},
		"unmeasured, with a limit":   {limit: "1min", cancelled: true, unmeasured: true, want: "it was cancelled with pg_cancel_backend, or takes longer", not: cancel, mayBeOfTimeout: true},
	} {
		other := foreign(t, q, c.limit)
		if c.unmeasured {
			other.clocked = nil
		}
		for operation, act := range map[string]func() error{
			"write": func() error {
				_, err := other.Claim(t.Context(), ClaimRequest{Queue: "emails", Owner: "o", Lease: time.Minute, Limit: 1})
				return err
			},
			"read": func() error { _, err := other.Pauses(t.Context()); return err },
		} {
			stop := func() {}
			if c.cancelled {
				stop = cancelling(t, q)
			}
			err := act()
			stop()
			if pg := (*pgconn.PgError)(nil); !errors.As(err, &pg) || pg.Code != queryCanceled || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), c.not) {
				t.Errorf("%s, %s: %v", name, operation, err)
			}
			if errors.Is(err, ErrStatementTimeout) != c.mayBeOfTimeout || other.TookTooLong(err) != c.mayBeOfTimeout {
				t.Errorf("%s, %s: may be of the timeout: %v", name, operation, !c.mayBeOfTimeout)
			}
		}
	}
}

// cancelling cancels, until it is stopped, each statement of [foreign] that waits for a lock.
func cancelling(t *testing.T, q *Queue) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			_, err := q.Pool().Exec(ctx, "select pg_cancel_backend(pid) from pg_stat_activity where application_name = 'foreign' and datname = current_database() and wait_event_type = 'Lock'")
			if err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}
