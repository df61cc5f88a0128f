// Package testdb gives tests databases on a real PostgreSQL.
//
// All test binaries of `go test ./...` share one server, which the first
// starts and the last stops. A test gets a database of its own there, copied
// from a template that is migrated once per version of the schema, and dropped
// at the test's end. What killed runs left is dropped by the next.
package testdb

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	leasesql "github.com/leasetop/leasetop/sql"
	"github.com/leasetop/leasetop/sql/local"
)

// New gives the test a migrated database of its own, with the default schema,
// and drops it at the end. It returns the connection string.
func New(t testing.TB) string {
	t.Helper()
	server := hold(t)
	name := uniqueName("test")
	if err := migrated(t.Context(), server, name); err != nil {
		t.Fatalf("testdb: %v", err)
	}
	dropAtEnd(t, server, name)
	return server.URL(name)
}

// Empty gives the test a database without the schema.
func Empty(t testing.TB) string {
	t.Helper()
	server := hold(t)
	name := uniqueName("test")
	if err := create(t.Context(), server, name, "template0"); err != nil {
		t.Fatalf("testdb: %v", err)
	}
	dropAtEnd(t, server, name)
	return server.URL(name)
}

// Server gives the test a server to itself, for tests that restart it, stop it
// or create replication slots, which wait for every writer of the server.
// Settings are like "wal_level=replica".
func Server(t testing.TB, settings ...string) *local.Server {
	t.Helper()
	dir, err := local.ScratchFolder()
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	sweepServers(dir)
	o := local.Options{Dir: dir, Name: uniqueName("own"), Unsafe: true, Settings: map[string]string{
		// Tests that share a server have feeds side by side, each with two connections or more.
		"max_wal_senders": "64", "max_replication_slots": "64",
	}}
	for _, setting := range settings {
		key, value, ok := strings.Cut(setting, "=")
		if !ok {
			t.Fatalf("testdb: server setting %q is not like name=value", setting)
		}
		o.Settings[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	server, err := local.Start(t.Context(), o)
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	endWithTest(t, server, o)
	return server
}

// endWithTest removes a server at the test's end.
func endWithTest(t testing.TB, server *local.Server, o local.Options) {
	t.Cleanup(func() {
		ctx, cancel := afterwards()
		defer cancel()
		if t.Failed() {
			showLog(t, server)
		}
		if err := server.Stop(ctx); err != nil {
			t.Errorf("testdb: %v", err)
		}
		if err := local.Remove(ctx, o); err != nil {
			t.Errorf("testdb: %v", err)
		}
	})
}

// On gives the test a migrated database on a server of its own and returns the
// connection string. It goes with the server.
func On(t testing.TB, server *local.Server) string {
	t.Helper()
	url, err := server.Database(t.Context(), uniqueName("test"))
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	config, err := pgx.ParseConfig(url)
	if err == nil {
		_, err = leasesql.Migrate(t.Context(), config, "")
	}
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	return url
}

// Main runs a package's tests and holds the shared server from the first use to
// the end. Call it from TestMain, or the server is started and stopped whenever
// no test of the process uses it.
func Main(m *testing.M) { os.Exit(Run(m)) }

// abreast is how many tests a processor runs at a time: most of them wait, for a lease
// to run out or for another process.
const abreast = 6

// runAbreast sets -parallel, which is one test a processor, unless the command line does.
func runAbreast() {
	if !flag.Parsed() {
		flag.Parse()
	}
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(abreast*runtime.GOMAXPROCS(0))); err != nil {
		panic(err) // there is no such flag: this is no test
	}
}

// heedSignals has the programs under test begin with the signals that a terminal sends as
// they are by default. Under nohup, or behind a shell's &, the tests were told to ignore
// some, and would hand that on.
func heedSignals() {
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s) // nobody reads it: it is ignored as before
		}
	}
}

// Run is Main for those who do more at the end than exit: it returns the code.
func Run(m *testing.M) int {
	runAbreast()
	heedSignals()
	shared.Lock()
	shared.kept = true
	shared.Unlock()
	code := m.Run()
	if err := lastExample(); err != nil {
		fmt.Fprintln(os.Stderr, "testdb:", err)
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.server != nil && shared.held == 0 {
		ctx, cancel := afterwards()
		defer cancel()
		if err := shared.server.Stop(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "testdb:", err)
		}
		shared.server = nil
	}
	return code
}

// shared is this process's hold on the shared server.
var shared struct {
	sync.Mutex
	server *local.Server
	held   int  // by tests
	kept   bool // by Main
	swept  bool
}

// hold returns the shared server, which stays up until the test's end.
func hold(t testing.TB) *local.Server {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	server, err := take()
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	shared.held++
	t.Cleanup(func() {
		shared.Lock()
		defer shared.Unlock()
		shared.held--
		if shared.held > 0 || shared.kept {
			return
		}
		ctx, cancel := afterwards()
		defer cancel()
		if err := shared.server.Stop(ctx); err != nil {
			t.Errorf("testdb: %v", err)
		}
		shared.server = nil
	})
	return server
}

// take returns the shared server, started and swept at its first use. The lock is held.
func take() (*local.Server, error) {
	// Not a test's context: the server outlives it.
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if shared.server == nil {
		dir, err := local.ScratchFolder()
		if err != nil {
			return nil, err
		}
		shared.server, err = local.Start(ctx, local.Options{
			Dir: dir, Name: sharedName(), Unsafe: true,
			Settings: map[string]string{"max_connections": "800"}, // of all tests that run at the same time
		})
		if err != nil {
			shared.server = nil
			return nil, err
		}
	}
	if !shared.swept {
		shared.swept = true
		if err := sweepDatabases(ctx, shared.server); err != nil {
			fmt.Fprintln(os.Stderr, "testdb: drop what earlier runs left:", err)
		}
	}
	return shared.server, nil
}

// sharedName keeps the servers of several PostgreSQL versions apart, which may be
// tested at the same time.
func sharedName() string {
	bin := os.Getenv("LEASETOP_PG_BIN")
	if bin == "" {
		return "shared"
	}
	return fmt.Sprintf("shared_%08x", crc32.ChecksumIEEE([]byte(bin)))
}

// migrated makes a database with the default schema.
func migrated(ctx context.Context, server *local.Server, name string) error {
	for {
		template, err := ensureTemplate(ctx, server)
		if err != nil {
			return err
		}
		err = create(ctx, server, name, template)
		var failed *pgconn.PgError
		if errors.As(err, &failed) && failed.Code == "3D000" { // another checkout replaced the template
			continue
		}
		return err
	}
}

// create makes a database.
func create(ctx context.Context, server *local.Server, name, template string) error {
	conn, err := pgx.Connect(ctx, server.URL("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+template+strategy(conn)); err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	return nil
}

func dropAtEnd(t testing.TB, server *local.Server, name string) {
	t.Cleanup(func() {
		ctx, cancel := afterwards()
		defer cancel()
		if err := drop(ctx, server, name); err != nil {
			t.Errorf("testdb: %v", err)
		}
	})
}

// strategy is how a database is copied. Copying its files took 42 ms, through
// the WAL (the default since PostgreSQL 15 brought it) 81 ms; four at a time,
// 31 ms and 57 ms a database.
func strategy(conn *pgx.Conn) string {
	major, _, _ := strings.Cut(conn.PgConn().ParameterStatus("server_version"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < 15 {
		return ""
	}
	return " STRATEGY file_copy"
}

func drop(ctx context.Context, server *local.Server, name string) error {
	conn, err := pgx.Connect(ctx, server.URL("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
		return fmt.Errorf("drop database %s: %w", name, err)
	}
	return nil
}

func showLog(t testing.TB, server *local.Server) {
	if text, err := os.ReadFile(server.LogFile()); err == nil {
		t.Logf("end of the server's log:\n%s", text[max(0, len(text)-4000):])
	}
}

// afterwards is a context for cleaning up, when the test's own has ended.
func afterwards() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), time.Minute)
}
