package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

// startsAt names the database that [TestStartOfAProcess] starts at, in a process of its own.
const startsAt = "LEASETOP_TEST_START"

// TestStartOfAProcess is no test but what every process of an application does at its
// start: it migrates, enqueues and claims.
func TestStartOfAProcess(t *testing.T) {
	url := os.Getenv(startsAt)
	if url == "" {
		t.Skip("run by TestTenProcessesMigrateAtTheirStart")
	}
	q := must[*Queue](t)(Open(t.Context(), url, Options{}))
	defer q.Close()
	ok(t, q.Migrate(t.Context()))
	enqueue(t, q, NewJob{})
	if jobs := must[[]Job](t)(q.Claim(t.Context(), ClaimRequest{Queue: "emails", Owner: fmt.Sprint(os.Getpid()), Lease: 1, Limit: 1})); len(jobs) > 1 {
		t.Error("claimed over the limit")
	}
}

// CASES "Ten processes start on an empty database", from a library.
func TestTenProcessesMigrateAtTheirStart(t *testing.T) {
	t.Parallel()
	url := testdb.Empty(t)
	outputs := make([]bytes.Buffer, 10)
	started := make([]*osexec.Cmd, 10)
	for i := range started {
		started[i] = osexec.Command(os.Args[0], "-test.run=^TestStartOfAProcess$", "-test.v")
		started[i].Env = append(os.Environ(), startsAt+"="+url)
		started[i].Stdout, started[i].Stderr = &outputs[i], &outputs[i]
		ok(t, started[i].Start())
	}
	for i, process := range started {
		if err := process.Wait(); err != nil || !strings.Contains(outputs[i].String(), "--- PASS: TestStartOfAProcess") {
			t.Errorf("%v: %s", err, &outputs[i])
		}
	}
	q := must[*Queue](t)(Open(t.Context(), url, Options{}))
	defer q.Close()
	if n := count(t, q, "select count(*) from leasetop.jobs"); n != 10 {
		t.Errorf("%d jobs", n)
	}
}

// A pool may know its password only when it connects: a token of a cloud, for one.
func TestMigrateConnectsAsThePoolDoes(t *testing.T) {
	t.Parallel()
	config := must[*pgxpool.Config](t)(pgxpool.ParseConfig(testdb.Empty(t)))
	user := config.ConnConfig.User
	config.ConnConfig.User = "nobody"
	config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
		c.User = user
		return nil
	}
	pool := must[*pgxpool.Pool](t)(pgxpool.NewWithConfig(t.Context(), config))
	defer pool.Close()
	q := must[*Queue](t)(New(pool, "elsewhere"))
	ok(t, q.Migrate(t.Context()))
	ok(t, q.Ping(t.Context()))
	ok(t, q.Migrate(t.Context()))
}

func TestMigrateRefusesInWords(t *testing.T) {
	t.Parallel()
	owner := open(t)
	exec(t, owner, "drop schema leasetop cascade")
	q := openAs(t, owner)
	database := q.ConnConfig().Database
	want := fmt.Sprintf("migrate: the role lacks a right: %[1]s may not create schema leasetop in database %[2]s: CREATE SCHEMA leasetop AUTHORIZATION %[1]s, or GRANT CREATE ON DATABASE %[2]s TO %[1]s", q.role(), database)
	if err := q.Migrate(t.Context()); !errors.Is(err, ErrForbidden) || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}

	stranger := must[*Queue](t)(Open(t.Context(), strings.Replace(owner.Pool().Config().ConnString(), "postgres@", "stranger@", 1), Options{}))
	defer stranger.Close()
	if err := stranger.Migrate(t.Context()); !errors.Is(err, ErrRefused) {
		t.Errorf("error %v", err)
	}
}

// CASES "Server not UTF-8", also where somebody brought the schema by other ways.
func TestDatabaseThatIsNotUTF8IsRefused(t *testing.T) {
	t.Parallel()
	owner := open(t)
	name := fmt.Sprintf("test_encoding_%08x", rand.Uint32())
	exec(t, owner, "create database "+name+" template template0 encoding 'LATIN1' locale 'C'")
	t.Cleanup(func() { owner.Pool().Exec(context.Background(), "drop database "+name+" with (force)") })
	url := strings.Replace(owner.Pool().Config().ConnString(), owner.ConnConfig().Database, name, 1)
	q := must[*Queue](t)(Open(t.Context(), url, Options{}))
	defer q.Close()
	conn := must[*pgx.Conn](t)(pgx.Connect(t.Context(), url))
	defer conn.Close(t.Context())
	must[any](t)(conn.Exec(t.Context(), "create schema leasetop; create table leasetop.jobs ()", pgx.QueryExecModeSimpleProtocol))
	for operation, do := range every(q, Lease{1, "x"}, 1) {
		if err := do(t.Context()); !errors.Is(err, ErrEncoding) || !strings.Contains(err.Error(), "stores text as LATIN1") {
			t.Errorf("%s: error %v", operation, err)
		}
	}
}
