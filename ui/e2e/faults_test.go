package e2e

import (
	"errors"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leasetop/leasetop/ui/term"
)

// breaks does the nth fault of the catalogue, from the Workers tab.
func (s *session) breaks(n int, title string) {
	s.t.Helper()
	s.Press("4", "B")
	s.Expect("BREAK SOMETHING")
	time.Sleep(400 * time.Millisecond) // until it listens
	for range n - 1 {
		s.Press("j")
	}
	s.Press("enter")
	s.confirm("BREAK: " + title)
}

// spawnsProcess spawns a worker in a process of its own and returns its number.
func (s *session) spawnsProcess() (pid int) {
	s.t.Helper()
	s.Press("4", "n")
	s.Expect("SPAWN A WORKER")
	time.Sleep(400 * time.Millisecond) // until it listens
	s.Press("p", "tab")
	s.find(`▸ +enter y`)
	time.Sleep(50 * time.Millisecond) // y must stand alone
	s.Press("y")
	pid, err := strconv.Atoi(s.find(`spawned p\d+ on .*, process (\d+)\)`)[1])
	if err != nil {
		s.t.Fatal(err)
	}
	s.find(`p\d+ ` + strconv.Itoa(pid) + ` +[●○]`) // it is in the table
	return pid
}

// gone waits until there is no process of that number, not even to be reaped.
func (s *session) gone(pid int) {
	s.t.Helper()
	for end := time.Now().Add(3 * term.Patience); !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("process %d lives", pid)
		}
	}
}

// In a partition the workers stop what they run before it is somebody else's, the screen
// goes on, and when it is healed so do they.
func TestPartitionIsSeenAndHealed(t *testing.T) {
	t.Parallel()
	s := start(t, 160, 40)
	s.exec(`insert into leasetop.jobs (queue, kind, payload) select 'reports', 'monthly_report', '{"month": "2026-10"}' from generate_series(1, 8)`)
	s.Until("reports are worked on", func(*term.Frame) bool {
		return query[int](s, `select count(*) from leasetop.jobs where status = 'processing' and queue = 'reports'`) > 0
	})
	s.breaks(4, "NETWORK PARTITION")
	s.find(`✗ +broken on purpose +network partition \d+s`)
	s.find(`WORKERS 3 · 0/6 slots busy`)
	s.find(`work ! \d+ w\d trust ended`)
	s.exec(`insert into leasetop.jobs (queue, status, last_error) values ('emails', 'dead', 'seen from this side')`)
	s.Press("3")
	s.Expect("seen from this side", "network partition", "H heals")
	s.Until("no lease is renewed", func(*term.Frame) bool {
		return query[int](s, `select count(*) from leasetop.jobs where status = 'processing' and lease_expires_at > now()`) == 0
	})
	s.Press("H")
	s.Expect("healed: network partition")
	s.Gone("broken on purpose")
	s.Until("the reports are done", func(*term.Frame) bool {
		return query[int](s, `select count(*) from leasetop.jobs where queue = 'reports' and status = 'completed'`) >= 3
	})
	s.Press("1")
	s.Expect("✓ lost 0", "✓ double effects 0", "✓ overlap of two runners 0")
}

// K on a worker in a process of its own is a real SIGKILL, and its jobs are another's.
func TestWorkerProcessIsKilledForReal(t *testing.T) {
	t.Parallel()
	s := start(t, 160, 40)
	pid := s.spawnsProcess()
	held := `select coalesce(min(id), 0) from leasetop.jobs where status = 'processing' and locked_by like '%:' || $1 || ':%'`
	s.exec(`insert into leasetop.jobs (queue, kind, payload) select 'emails', 'monthly_report', '{"month": "2026-10"}' from generate_series(1, 12)`)
	s.Press("G")
	s.find(`▸p1 ` + strconv.Itoa(pid) + ` +● busy .*\d+ +monthly_report`)
	s.Press("K")
	s.Expect("SIGKILL to process " + strconv.Itoa(pid))
	s.confirm("KILL -9 WORKER p1")
	s.gone(pid)
	victim := query[int64](s, held, strconv.Itoa(pid))
	if victim == 0 {
		t.Fatal("it had nothing to do, though reports were waiting")
	}
	s.find(`p1 ` + strconv.Itoa(pid) + ` +✗ crashed`)
	if err := s.Wait("the job completed at attempt 2", 3*term.Patience, func(*term.Frame) bool {
		return query[string](s, `select status || attempts from leasetop.jobs where id = $1`, victim) == "completed2"
	}); err != nil {
		t.Fatal(err)
	}
	s.Press("1")
	s.Expect("✓ lost 0", "✓ double effects 0")
	s.Press("q")
	if code := s.Exit(); code != 0 {
		t.Errorf("exit status %d", code)
	}
}

// Worker processes end with their dashboard: in order when it quits, at once when it is
// killed. What it broke and could not heal then is found by the next one.
func TestNothingStaysBrokenSilentlyWhenTheDashboardEnds(t *testing.T) {
	t.Parallel()
	s := start(t, 120, 36)
	const index = `select count(*) from pg_index where indexrelid = to_regclass('leasetop.jobs_ready') and indisvalid`
	s.breaks(16, "MISSING READY INDEX")
	s.Expect("missing ready index")
	if n := query[int](s, index); n != 0 {
		t.Fatal("the index is there")
	}
	killed := s.spawnsProcess()
	s.kill9()
	s.gone(killed)
	s.open(120, 36)
	s.Expect("broken on purpose", "missing ready index")
	ended := s.spawnsProcess()
	s.Press("q")
	if code := s.Exit(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	s.gone(ended)
	s.conn = nil
	s.open(120, 36)
	if n := query[int](s, index); n != 1 {
		t.Error("the index was not built again at the end")
	}
	if text := s.Frame().Text(); strings.Contains(text, "broken on purpose") {
		t.Errorf("something is broken still:\n%s", text)
	}
}

func TestServerIsRestartedUnderTheDashboard(t *testing.T) {
	t.Parallel()
	s := start(t, 120, 36)
	started := query[time.Time](s, `select pg_postmaster_start_time()`)
	s.breaks(13, "SERVER RESTART")
	s.find(`the server was away for \d+\.\d s`)
	s.conn = nil
	if again := query[time.Time](s, `select pg_postmaster_start_time()`); !again.After(started) {
		t.Errorf("the server runs since %v", again)
	}
	done := query[int64](s, `select coalesce(max(id), 0) from leasetop.jobs`)
	s.Until("jobs enqueued since are done", func(*term.Frame) bool {
		return query[bool](s, `select count(*) > 0 from leasetop.jobs where id > $1 and status = 'completed'`, done)
	})
	s.Press("1")
	s.Expect("WAL ✓", "✓ lost 0", "✓ double effects 0")
}
