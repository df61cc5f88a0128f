package sql_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	leasesql "github.com/leasetop/leasetop/sql"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// migrateAsAProcess is the whole life of a process that migrates: it prints the
// steps it took.
func migrateAsAProcess(url string) (status int) {
	config, err := pgx.ParseConfig(url)
	var taken []leasesql.Migration
	if err == nil {
		taken, err = leasesql.Migrate(context.Background(), config, "")
	}
	for _, step := range taken {
		fmt.Println(step.File)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// process is this binary, migrating.
type process struct {
	*osexec.Cmd
	out, err bytes.Buffer
}

func startMigrating(t *testing.T, url string) *process {
	t.Helper()
	p := &process{Cmd: osexec.Command(os.Args[0])}
	p.Env = append(os.Environ(), migrateInstead+"="+url)
	p.Stdout, p.Stderr = &p.out, &p.err
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// until waits for another session to make a query true.
func until(t *testing.T, conn *pgx.Conn, query string) {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for !value[bool](t, conn, query) {
		<-look.C
	}
}

// CASES "Ten processes start on an empty database": all come up, the schema is whole,
// and each step was taken once. Also where the role's default isolation is strict.
func TestTenProcessesMigrateAtOnce(t *testing.T) {
	t.Parallel()
	whole := objects(t, connect(t, testdb.New(t)))
	for _, level := range []string{"read committed", "serializable"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			url := testdb.Empty(t)
			conn := connect(t, url)
			exec(t, conn, `do $$ begin execute format('alter database %I set default_transaction_isolation = %L', current_database(), '`+level+`'); end $$`)
			var started []*process
			for range 10 {
				started = append(started, startMigrating(t, url))
			}
			allCameUp(t, url, started)
			if got := objects(t, conn); got != whole {
				t.Errorf("they made\n%s\nnot\n%s", got, whole)
			}
		})
	}
}

// allCameUp waits for processes, none of which may have failed, and returns how many
// steps they took together.
func allCameUp(t *testing.T, url string, started []*process) (steps int) {
	t.Helper()
	for i, p := range started {
		if err := p.Wait(); err != nil {
			t.Errorf("process %d: %v: %s", i, err, &p.err)
		}
		steps += strings.Count(p.out.String(), "\n")
	}
	if n := applied(t, url); n == 0 || n != value[int](t, connect(t, url), "select count(*) from leasetop.migrations where version_id > 0") {
		t.Errorf("%d steps are noted, some twice", n)
	}
	return steps
}

// waitsForObstacle is true while a process of the same database waits in its second step.
const waitsForObstacle = `select exists (select from pg_locks where relation = 'pg_publication'::regclass and not granted
	and database = (select oid from pg_database where datname = current_database()))`

// A process that is killed in the middle of a step leaves nothing half done, and
// nothing that the others wait for.
func TestMigratingProcessIsKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	whole := objects(t, connect(t, testdb.New(t)))
	url := testdb.Empty(t)
	conn, obstacle := connect(t, url), connect(t, url)
	exec(t, obstacle, "begin; lock table pg_publication in share mode") // the second step makes one

	victim := startMigrating(t, url)
	until(t, conn, waitsForObstacle)
	if n := applied(t, url); n != 1 {
		t.Errorf("%d steps were done before the kill, want 1", n)
	}
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = victim.Wait() // it was killed

	var started []*process
	for range 9 {
		started = append(started, startMigrating(t, url))
	}
	until(t, conn, waitsForObstacle)
	exec(t, obstacle, "commit")
	if steps := allCameUp(t, url, started); steps != applied(t, url)-1 {
		t.Errorf("the others took %d steps of %d", steps, applied(t, url))
	}
	if got := objects(t, conn); got != whole {
		t.Errorf("they made\n%s\nnot\n%s", got, whole)
	}
}

// Who waits says for whom, when it has to give up.
func TestMigrateNamesWhomItWaitsFor(t *testing.T) {
	t.Parallel()
	url := testdb.Empty(t)
	conn, obstacle := connect(t, url), connect(t, url)
	exec(t, obstacle, "begin; lock table pg_publication in share mode")
	first, gaveUp := context.WithCancel(t.Context())
	var migrating sync.WaitGroup
	migrating.Go(func() {
		if _, err := leasesql.Migrate(first, config(t, url), ""); !errors.Is(err, context.Canceled) {
			t.Errorf("the first ended with %v", err)
		}
	})
	until(t, conn, waitsForObstacle)

	named := false
	for within := 100 * time.Millisecond; !named && within < time.Minute; within *= 2 { // until it suffices to connect and look
		ctx, cancel := context.WithTimeout(t.Context(), within)
		_, err := leasesql.Migrate(ctx, config(t, url), "")
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("error %v", err)
		}
		named = strings.Contains(err.Error(), `("leasetop migrate", user "postgres") is migrating`)
	}
	if !named {
		t.Error("it does not say who is migrating")
	}
	gaveUp()
	migrating.Wait()
	exec(t, obstacle, "rollback")
	if _, err := leasesql.Migrate(t.Context(), config(t, url), ""); err != nil {
		t.Error(err)
	}
}
