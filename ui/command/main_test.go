package command

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/workers/faults"
)

// race is for the programs that tests run: built with the race detector, each would wait for a
// second at its end, for races of goroutines that go on. There are hundreds of them.
const race = "atexit_sleep_ms=10"

// The scripts in testdata run the real command line against a real database.
// TestMain makes this binary be leasetop when a script calls it so.
func TestMain(m *testing.M) {
	os.Setenv("GORACE", race)
	faults.ChildMain() // whatever it is called
	testscript.Main(withDatabases{m}, map[string]func(){"leasetop": func() { os.Exit(Main("test")) }})
}

type withDatabases struct{ *testing.M }

func (m withDatabases) Run() int { return testdb.Run(m.M) }

func TestCommandLine(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txtar"), func(t *testing.T) {
			t.Parallel()
			testscript.Run(t, testscript.Params{
				Files:              []string{script},
				RequireUniqueNames: true,
				Setup: func(e *testscript.Env) error {
					e.Setenv("GORACE", race)
					for _, name := range []string{"DATABASE_URL", "PGHOST", "PGPORT", "PGDATABASE", "PGUSER", "PGSERVICE", "PGPASSWORD"} {
						e.Setenv(name, "")
					}
					return nil
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					// database [empty]: DATABASE_URL is a new database, with or without the schema.
					"database": func(ts *testscript.TestScript, _ bool, args []string) {
						url := ""
						if len(args) > 0 && args[0] == "empty" {
							url = testdb.Empty(t)
						} else {
							url = testdb.New(t)
						}
						ts.Setenv("DATABASE_URL", url)
						parts, err := pgx.ParseConfig(url)
						ts.Check(err)
						ts.Setenv("SOCKET", parts.Host)
						ts.Setenv("DATABASE", parts.Database)
					},
					// exits CODE COMMAND… runs a command that must end with that status.
					"exits": func(ts *testscript.TestScript, _ bool, args []string) {
						code := 0
						if err := ts.Exec(args[1], args[2:]...); err != nil {
							var exit *exec.ExitError
							if !errors.As(err, &exit) {
								ts.Fatalf("%v", err)
							}
							code = exit.ExitCode()
						}
						if want, _ := strconv.Atoi(args[0]); code != want {
							ts.Fatalf("%q ended with status %d, want %d", args[1:], code, want)
						}
					},
					// sql FILE runs the file's statements in that database.
					"sql": func(ts *testscript.TestScript, _ bool, args []string) {
						conn, err := pgx.Connect(t.Context(), ts.Getenv("DATABASE_URL"))
						ts.Check(err)
						defer conn.Close(t.Context())
						_, err = conn.Exec(t.Context(), ts.ReadFile(args[0]))
						ts.Check(err)
					},
					// until FILE waits until the file's query in that database says true.
					"until": func(ts *testscript.TestScript, _ bool, args []string) {
						conn, err := pgx.Connect(t.Context(), ts.Getenv("DATABASE_URL"))
						ts.Check(err)
						defer conn.Close(t.Context())
						for end, done := time.Now().Add(time.Minute), false; !done; time.Sleep(10 * time.Millisecond) {
							ts.Check(conn.QueryRow(t.Context(), ts.ReadFile(args[0])).Scan(&done))
							if time.Now().After(end) {
								ts.Fatalf("%s does not become true", args[0])
							}
						}
					},
					// prints FILE PATTERN waits until the file that a program writes matches.
					"prints": func(ts *testscript.TestScript, _ bool, args []string) {
						want := regexp.MustCompile(args[1])
						for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
							text, err := os.ReadFile(ts.MkAbs(args[0]))
							if want.Match(text) {
								return
							}
							if time.Now().After(end) {
								ts.Fatalf("%s does not say %q: %v\n%s", args[0], args[1], err, text)
							}
						}
					},
					// private: no database is named, and the private server is one of the script's own.
					"private": func(ts *testscript.TestScript, _ bool, _ []string) {
						home := testdb.Home(t)
						ts.Setenv("LEASETOP_HOME", home)
						ts.Setenv("DATABASE_URL", "")
					},
				},
			})
		})
	}
}
