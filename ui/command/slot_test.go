package command

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/ui/term"
)

// full asks for the large versions of the tests of faults, as in package watch.
var full = os.Getenv("LEASETOP_TEST_FULL") != ""

// slotServer is a server of the test's own, for a slot waits for every writer of one.
type slotServer struct {
	*testing.T
	url  string
	psql *pgx.Conn
}

func newSlotServer(t *testing.T) *slotServer {
	s := &slotServer{T: t, url: testdb.On(t, testdb.Server(t, "autovacuum=off", "max_replication_slots=20", "max_wal_senders=20"))}
	s.psql = s.connect()
	return s
}

func (s *slotServer) connect() *pgx.Conn {
	s.Helper()
	conn, err := pgx.Connect(s.Context(), s.url)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func (s *slotServer) exec(conn *pgx.Conn, sql string) {
	s.Helper()
	if _, err := conn.Exec(s.Context(), sql); err != nil {
		s.Fatal(err)
	}
}

// slots is how many replication slots there are, and how many of them stream.
func (s *slotServer) slots() (all, streaming int) {
	s.Helper()
	if err := s.psql.QueryRow(s.Context(), `SELECT count(*), count(*) FILTER (WHERE state = 'streaming')
		FROM pg_replication_slots LEFT JOIN pg_stat_replication ON pid = active_pid`).Scan(&all, &streaming); err != nil {
		s.Fatal(err)
	}
	return all, streaming
}

// until waits for so many slots.
func (s *slotServer) until(what string, ok func(all, streaming int) bool) {
	s.Helper()
	for giveUp := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		all, streaming := s.slots()
		if ok(all, streaming) {
			return
		}
		if time.Now().After(giveUp) {
			s.Fatalf("not within a minute: %s; there are %d slots, %d of them stream", what, all, streaming)
		}
	}
}

func none(all, _ int) bool { return all == 0 }

// kill -9 at any moment, while it connects, makes its slot, waits for one behind a
// transaction, reads what there is, or streams: the server lets go of the slot, also
// when the transaction goes on. Five dashboards at a time.
func TestKilledDashboardsLeaveNoSlot(t *testing.T) {
	t.Parallel()
	s := newSlotServer(t)
	s.exec(s.psql, "INSERT INTO leasetop.jobs (queue) SELECT 'emails' FROM generate_series(1, 20000)") // to be read
	began := time.Now()
	first := s.dashboard()
	s.until("a stream", func(_, streaming int) bool { return streaming == 1 })
	attaches := time.Since(began)
	kill(first)
	s.until("no slot", none)

	rounds, withSlot := 3, 0
	if full {
		rounds = 20
	}
	for round := range rounds {
		somebody := s.connect()
		if round%2 == 1 {
			s.exec(somebody, "BEGIN")
			s.exec(somebody, "INSERT INTO leasetop.jobs (queue) VALUES ('emails')")
		}
		done := make(chan struct{}, 5)
		for range 5 {
			go func() {
				defer func() { done <- struct{}{} }()
				p := s.dashboard()
				time.Sleep(rand.N(5 * attaches))
				kill(p)
			}()
		}
		for left := 5; left > 0; {
			select {
			case <-done:
				left--
			case <-time.After(time.Millisecond):
				all, _ := s.slots()
				withSlot = max(withSlot, all)
			}
		}
		s.until("no slot", none)
		if round%2 == 1 {
			s.exec(somebody, "ROLLBACK")
		}
	}
	t.Logf("%d dashboards were killed within %v of their start; there were up to %d slots", 5*rounds, 5*attaches, withSlot)
	if withSlot == 0 {
		t.Error("none was killed while it had a slot")
	}
}

// dashboard starts one without a terminal.
func (s *slotServer) dashboard() *exec.Cmd {
	cmd := exec.Command("leasetop")
	cmd.Env = append(os.Environ(), "DATABASE_URL="+s.url)
	if err := cmd.Start(); err != nil {
		s.Error(err)
	}
	s.Cleanup(func() { kill(cmd) })
	return cmd
}

func kill(p *exec.Cmd) {
	_ = p.Process.Kill() // or it has ended
	_ = p.Wait()
}

// However a dashboard ends in order, its slot is gone before it is.
func TestDashboardThatEndsLeavesNoSlot(t *testing.T) {
	t.Parallel()
	s := newSlotServer(t)
	for name, end := range map[string]func(tm *term.Test) error{
		"q":       func(tm *term.Test) error { return tm.Term.Press("q") },
		"ctrl+c":  func(tm *term.Test) error { return tm.Term.Press("ctrl+c") },
		"SIGTERM": func(tm *term.Test) error { return tm.Signal(syscall.SIGTERM) },
		"hangup":  func(tm *term.Test) error { return tm.Hangup() },
	} {
		// Again within the second, and beside another that stays.
		stays := s.dashboard()
		for range 2 {
			tm := term.Open(t, term.Options{Args: []string{"leasetop"}, Env: []string{"DATABASE_URL=" + s.url, "GORACE=atexit_sleep_ms=0"}, Width: 120, Height: 36})
			s.until("two streams", func(_, streaming int) bool { return streaming == 2 })
			tm.Expect("QUEUES")
			if err := end(tm); err != nil {
				t.Fatal(err)
			}
			tm.Exit()
			if all, _ := s.slots(); all != 1 {
				t.Errorf("%s: %d slots, want the other dashboard's alone", name, all)
			}
		}
		kill(stays)
		s.until("no slot", none)
	}
}
