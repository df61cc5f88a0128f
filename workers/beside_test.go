package workers

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// loginOnly makes a role that may log in and act as the owner, but has no right of its
// own, and returns the connection string with it.
func loginOnly(t *testing.T, url string) string {
	t.Helper()
	owner := openAt(t, url, nil)
	role := "login_" + owner.ConnConfig().Database
	exec(t, owner, "CREATE ROLE "+role+" LOGIN NOINHERIT IN ROLE postgres")
	t.Cleanup(func() { exec(t, owner, "DROP ROLE "+role) })
	return strings.Replace(url, "postgres@", role+"@", 1)
}

// A program's hook may give each connection of the pool its rights. Heartbeats and LISTEN
// have connections of their own, which need them as much.
func TestHooksOfThePoolPrepareItsCompanionsToo(t *testing.T) {
	t.Parallel()
	for name, hook := range map[string]func(*pgxpool.Config, func(context.Context, *pgx.Conn) error){
		"AfterConnect": func(c *pgxpool.Config, set func(context.Context, *pgx.Conn) error) { c.AfterConnect = set },
		"PrepareConn": func(c *pgxpool.Config, set func(context.Context, *pgx.Conn) error) {
			c.PrepareConn = func(ctx context.Context, conn *pgx.Conn) (bool, error) { return true, set(ctx, conn) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := testdb.New(t)
			var mu sync.Mutex
			prepared := map[uint32]bool{}
			q := openAt(t, loginOnly(t, url), func(c *pgxpool.Config) {
				hook(c, func(ctx context.Context, conn *pgx.Conn) error {
					mu.Lock()
					prepared[conn.PgConn().PID()] = true
					mu.Unlock()
					_, err := conn.Exec(ctx, "SET ROLE postgres")
					return err
				})
			})
			beats := make(chan struct{})
			p := newPool(t, q, on(func(ctx context.Context, _ *queue.Job) error {
				select {
				case <-beats:
					return nil
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}), Options{Lease: 3 * time.Second})
			renewed := p.signals.beat.listen()
			start(t, p)
			spawn(t, p, 1, "q")
			id := enqueue(t, q, queue.NewJob{})[0]
			if err := receive(t, "a heartbeat", renewed); err != nil {
				t.Errorf("the first heartbeat: %v", err)
			}
			close(beats)
			if job := waitStatus(t, p, id, queue.Completed); job.Attempts != 1 {
				t.Errorf("it took %d attempts", job.Attempts)
			}
			waitUntil(t, p, "the LISTEN session", func() bool {
				return count(t, q, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '% listen'") == 1
			})
			rows, err := q.Pool().Query(t.Context(), "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND usename = session_user")
			if err != nil {
				t.Fatal(err)
			}
			pids, err := pgx.CollectRows(rows, pgx.RowTo[uint32])
			if err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, pid := range pids {
				if !prepared[pid] {
					t.Errorf("session %d was not prepared as the pool's are", pid)
				}
			}
		})
	}
}

// refuseHeartbeats has the server refuse every heartbeat, for each statement or for each row.
func refuseHeartbeats(t *testing.T, q *queue.Queue, each string) (accept func()) {
	t.Helper()
	exec(t, q, `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF current_query() LIKE '%leasetop heartbeat%' THEN RAISE 'no heartbeats today' USING ERRCODE = '42501'; END IF;
		RETURN NEW; END $$`)
	exec(t, q, "CREATE TRIGGER refuse BEFORE UPDATE ON leasetop.jobs FOR EACH "+each+" EXECUTE FUNCTION refuse()")
	return func() { exec(t, q, "DROP TRIGGER refuse ON leasetop.jobs") }
}

func TestNothingIsClaimedWhileHeartbeatsAreRefused(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	accept := refuseHeartbeats(t, q, "STATEMENT")
	p := newPool(t, q, on(nothing), Options{Lease: time.Second})
	refused := p.signals.beat.listen()
	id := enqueue(t, q, queue.NewJob{})[0]
	start(t, p)
	spawn(t, p, 1, "q")
	for range 3 {
		if err := receive(t, "a refused heartbeat", refused); err == nil || !strings.Contains(err.Error(), "no heartbeats today") {
			t.Fatalf("a heartbeat came back with: %v", err)
		}
	}
	if job := get(t, q, id); job.Attempts != 0 {
		t.Errorf("it was claimed %d times", job.Attempts)
	}
	told := waitFor(t, p, DBTrouble).Text
	if !strings.HasPrefix(told, "heartbeats fail: ") || !strings.HasSuffix(told, "; nothing is claimed until they work") {
		t.Errorf("told: %s", told)
	}
	accept()
	waitStatus(t, p, id, queue.Completed)
	waitFor(t, p, DBTrouble, func(e Event) bool { return e.Text == "heartbeats work again" })
}

// A heartbeat for no job shows nothing where each row is refused, so from the second job on
// the next claims wait longer and longer.
func TestClaimsWaitLongerWhileTheHeartbeatOfEveryJobIsRefused(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	refuseHeartbeats(t, q, "ROW")
	p, err := New(q, on(func(ctx context.Context, _ *queue.Job) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}), Options{Lease: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop(context.Background()) }) // whose error names a job
	p.heart.shy = pace{min: never, max: never}
	shy := p.signals.shy.listen()
	enqueue(t, q, many(20, queue.NewJob{})...)
	start(t, p)
	spawn(t, p, 1, "q")
	waitFor(t, p, TrustEnded)
	waitFor(t, p, DBTrouble, func(e Event) bool { return strings.HasPrefix(e.Text, "heartbeats fail: ") })
	waitUntil(t, p, "its slot to be free", func() bool { return len(p.Workers()[0].Running) == 0 })
	receive(t, "the heart to hold back", shy)
	if n := count(t, q, "SELECT count(*) FROM leasetop.jobs WHERE attempts > 0"); n != 2 {
		t.Errorf("%d jobs were claimed", n)
	}
	events, _ := p.Events(0)
	for _, e := range events {
		if e.Text == "heartbeats work again" {
			t.Error("told that heartbeats work again")
		}
	}
}

// A role may end sessions that are idle. The pool's own ones are, for most of their lives.
func TestIdleSessionsOfThePoolStand(t *testing.T) {
	t.Parallel()
	const limit = "200ms"
	q := openAt(t, testdb.New(t), func(c *pgxpool.Config) {
		c.ConnConfig.RuntimeParams["idle_session_timeout"] = limit
		c.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return true } // its own it replaces
	})
	p := startPool(t, q, on(nothing), Options{}, 1)
	until(t, q, 2, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle'
		AND state_change < clock_timestamp() - 4 * interval '`+limit+`'`)
	if has(p, DBTrouble) {
		t.Error("told of trouble with the database")
	}
}
