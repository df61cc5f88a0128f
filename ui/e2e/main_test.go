package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/ui/term"
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "leasetop-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "leasetop")
	if out, err := exec.Command("go", "build", "-o", binary, "github.com/leasetop/leasetop").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build leasetop: %v\n%s", err, out)
		return 1
	}
	return testdb.Run(m)
}

// session is a running dashboard with its demonstration on a private server.
type session struct {
	*term.Test
	t    *testing.T
	home string
	conn *pgx.Conn // nil until it is asked for
}

// start runs the dashboard on a private server of the test's own and waits
// until live work is on the screen.
func start(t *testing.T, width, height int) *session {
	t.Helper()
	s := &session{t: t, home: testdb.Home(t)}
	s.open(width, height)
	return s
}

// open starts the program in the session's home, also for a second time.
func (s *session) open(width, height int) {
	s.t.Helper()
	s.Test = term.Open(s.t, term.Options{
		Args: []string{binary}, Env: []string{"LEASETOP_HOME=" + s.home}, Width: width, Height: height,
	})
	// The server's first start competes with the other tests.
	if err := s.Wait("jobs completing", 3*term.Patience, func(f *term.Frame) bool { return strings.Contains(f.Text(), "completed by") }); err != nil {
		s.t.Fatal(err)
	}
}

// confirm answers the dialog in front once it listens.
func (s *session) confirm(title string) {
	s.t.Helper()
	s.Expect(title)
	// A dialog does not listen at first, and each key lengthens that; it says by
	// nothing but its colour when it does.
	time.Sleep(400 * time.Millisecond)
	s.Press("y")
	s.Gone(title)
}

// query reads one value from the session's database, as psql would.
func query[T any](s *session, sql string, args ...any) T {
	s.t.Helper()
	var v T
	if err := s.db().QueryRow(s.t.Context(), sql, args...).Scan(&v); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func (s *session) exec(sql string, args ...any) {
	s.t.Helper()
	if _, err := s.db().Exec(s.t.Context(), sql, args...); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
}

// db is the session's one connection, made when it is first asked for.
func (s *session) db() *pgx.Conn {
	s.t.Helper()
	if s.conn != nil {
		return s.conn
	}
	out, err := s.leasetop("url")
	if err != nil {
		s.t.Fatal(err)
	}
	conn, err := pgx.Connect(s.t.Context(), strings.TrimSpace(out))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close(context.Background()) })
	s.conn = conn
	return conn
}

// leasetop runs another command beside the dashboard.
func (s *session) leasetop(args ...string) (string, error) {
	cmd := exec.Command(binary, args...)
	cmd.Env = append(term.Environ(), "LEASETOP_HOME="+s.home)
	out, err := cmd.Output()
	return string(out), err
}

// find returns the first match of a pattern on the screen, waiting for it.
func (s *session) find(pattern string) []string {
	s.t.Helper()
	re := regexp.MustCompile(pattern)
	var found []string
	s.Until(pattern, func(f *term.Frame) bool {
		found = re.FindStringSubmatch(f.Text())
		return found != nil
	})
	return found
}

func (s *session) kill9() {
	s.t.Helper()
	if err := s.Signal(syscall.SIGKILL); err != nil {
		s.t.Fatal(err)
	}
	s.Exit()
}
