package queue

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

// hooked is a queue on a pool with the hooks that a test gives it.
func hooked(t *testing.T, url string, change func(*pgxpool.Config)) *Queue {
	t.Helper()
	config := must[*pgxpool.Config](t)(pgxpool.ParseConfig(url))
	change(config)
	pool := must[*pgxpool.Pool](t)(pgxpool.NewWithConfig(t.Context(), config))
	t.Cleanup(pool.Close)
	return must[*Queue](t)(New(pool, ""))
}

func TestConnectionBesideThePoolGoesThroughItsHooks(t *testing.T) {
	t.Parallel()
	var calls []string
	unfit := 2 // connections that PrepareConn throws away
	q := hooked(t, testdb.New(t), func(c *pgxpool.Config) {
		c.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
			calls = append(calls, "before")
			c.RuntimeParams["application_name"] = "before"
			return nil
		}
		c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
			calls = append(calls, "after")
			_, err := conn.Exec(ctx, "SET search_path = after")
			return err
		}
		c.PrepareConn = func(context.Context, *pgx.Conn) (bool, error) {
			calls = append(calls, "prepare")
			unfit--
			return unfit < 0, nil
		}
	})
	conn, _, err := q.Connect(t.Context(), func(c *pgx.ConnConfig) { c.RuntimeParams["application_name"] += " shaped" })
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var name, path string
	if err := conn.QueryRow(t.Context(), "SELECT current_setting('application_name'), current_setting('search_path')").Scan(&name, &path); err != nil {
		t.Fatal(err)
	}
	if name != "before shaped" || path != "after" {
		t.Errorf("the session is called %q and has the search_path %q", name, path)
	}
	if want := slices.Repeat([]string{"before", "after", "prepare"}, 3); !slices.Equal(calls, want) {
		t.Errorf("called %q, want %q", calls, want)
	}
	unfit = 100
	if _, _, err := q.Connect(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "PrepareConn") {
		t.Errorf("no connection is taken: %v", err)
	}
}

func TestConnectionBesideThePoolTellsWhichHookFailed(t *testing.T) {
	t.Parallel()
	url, broken := testdb.New(t), errors.New("broken")
	for hook, change := range map[string]func(*pgxpool.Config){
		"AfterConnect": func(c *pgxpool.Config) { c.AfterConnect = func(context.Context, *pgx.Conn) error { return broken } },
		"PrepareConn": func(c *pgxpool.Config) {
			c.PrepareConn = func(context.Context, *pgx.Conn) (bool, error) { return true, broken }
		},
	} {
		if _, _, err := hooked(t, url, change).Connect(t.Context(), nil); !errors.Is(err, broken) || !strings.Contains(err.Error(), hook) {
			t.Errorf("%s: %v", hook, err)
		}
	}
}

// The program's hook says as whom it works: the schema is made by that role.
func TestMigrationsGoThroughThePoolsHook(t *testing.T) {
	t.Parallel()
	url := testdb.Empty(t)
	admin := hooked(t, url, func(*pgxpool.Config) {})
	if _, err := admin.Pool().Exec(t.Context(), "GRANT CREATE ON DATABASE "+admin.ConnConfig().Database+" TO pg_database_owner"); err != nil {
		t.Fatal(err)
	}
	q := hooked(t, url, func(c *pgxpool.Config) {
		c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "SET ROLE pg_database_owner")
			return errors.Join(err, conn.PgConn().Exec(ctx, "SET timezone = 'Asia/Kathmandu'").Close())
		}
	})
	if err := q.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	var owner string
	var skew time.Duration
	if err := q.Pool().QueryRow(t.Context(), `SELECT relowner::regrole::text, (SELECT clock_timestamp() AT TIME ZONE 'UTC' - max(tstamp) FROM leasetop.migrations)
		FROM pg_class WHERE oid = 'leasetop.jobs'::regclass`).Scan(&owner, &skew); err != nil {
		t.Fatal(err)
	}
	if owner != "pg_database_owner" || skew < 0 || skew > time.Hour {
		t.Errorf("the table is %s's, migrated %v ago", owner, skew)
	}
}

func TestConnectionBesideThePoolMayBeIdle(t *testing.T) {
	t.Parallel()
	q := hooked(t, testdb.New(t), func(c *pgxpool.Config) {
		c.ConnConfig.RuntimeParams["idle_session_timeout"] = "20min"
	})
	conn, idle, err := q.Connect(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var now string
	if err := conn.QueryRow(t.Context(), "SHOW idle_session_timeout").Scan(&now); err != nil || now != "0" || idle != 0 {
		t.Errorf("idle_session_timeout is %s, may be silent for %v: %v", now, idle, err)
	}
	// As a pooler would tell another process id.
	rows, err := conn.Query(t.Context(), "SET idle_session_timeout = '20min'")
	if err != nil {
		t.Fatal(err)
	}
	rows.Close()
	if err := conn.QueryRow(t.Context(), q.Schema().Query("stay"), int64(1)).Scan(&now); err != nil || now != "1200000" {
		t.Errorf("behind a pooler: %s ms: %v", now, err)
	}
}
