package sql_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	leasesql "github.com/leasetop/leasetop/sql"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// interrupter ends a context just before the nth statement is sent.
type interrupter struct {
	left   atomic.Int64
	cancel context.CancelFunc
}

func (i *interrupter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	if i.left.Add(-1) == 0 {
		i.cancel()
	}
	return ctx
}

func (*interrupter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func TestMigrateInterruptedBeforeAnyStatementSaysSo(t *testing.T) {
	t.Parallel()
	url := testdb.Empty(t)
	for n := int64(1); ; n++ {
		ctx, cancel := context.WithCancel(t.Context())
		stop := &interrupter{cancel: cancel}
		stop.left.Store(n)
		config := config(t, url)
		config.Tracer = stop
		_, err := leasesql.Migrate(ctx, config, "")
		cancel()
		if stop.left.Load() > 0 { // it has no more statements
			if err != nil || n < 5 {
				t.Errorf("with %d statements: %v", n-1, err)
			}
			return
		}
		if all := len(migrationFiles(t)); err == nil && n > 5 && applied(t, url) == all {
			return // what was left to send does nothing
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("interrupted before statement %d it ended with %v", n, err)
		}
	}
}
