package e2e

import (
	"strings"
	"syscall"
	"testing"

	"github.com/leasetop/leasetop/ui/term"
)

// A busy worker is killed: its lease runs out in sight, the job goes back, and
// another worker finishes it at attempt 2.
func TestKilledWorkersJobIsFinishedByAnother(t *testing.T) {
	t.Parallel()
	s := start(t, 160, 40)
	s.Press("4")
	// Reports are the first choice of w3, and take seconds.
	s.exec(`insert into leasetop.jobs (queue, kind, payload) select 'reports', 'monthly_report', '{"month": "2026-10"}' from generate_series(1, 4)`)
	s.Press("G")
	s.find(`▸w3 +● busy .*\d+ +monthly_report`)
	s.Press("K")
	s.confirm("KILL WORKER w3")
	s.Expect("w3 killed (crashed in process)")
	victim := query[int64](s, `select coalesce(min(id), 0) from leasetop.jobs where status = 'processing' and locked_by like '%/w3#%'`)
	if victim == 0 {
		t.Fatal("w3 had nothing to do, though reports were waiting")
	}
	s.Press("1")
	s.find(`(reap|wal ) ↩ .*lease of w3`)
	// Two workers are left for the work of three, and prefer other queues: it may take a while.
	if err := s.Wait("the job completed at attempt 2", 3*term.Patience, func(*term.Frame) bool {
		return query[string](s, `select status || attempts from leasetop.jobs where id = $1`, victim) == "completed2"
	}); err != nil {
		t.Fatal(err)
	}
	if n := query[int](s, `select count(*) from leasetop.jobs j, jsonb_array_elements(errors) e where id = $1 and e ->> 'outcome' = 'lost'`, victim); n != 1 {
		t.Errorf("the history holds %d lost leases, want 1", n)
	}
	s.Expect("✓ lost 0", "✓ double effects 0", "✓ overlap of two runners 0")
	s.find(`worst recovery \d+\.\d\d s of 6\.0\+0\.25 s`)
}

// A frozen worker's late completion is fenced, the screen says so, and the
// effect happened once.
func TestFrozenWorkerIsFenced(t *testing.T) {
	t.Parallel()
	s := start(t, 160, 40)
	s.Press("4")
	s.exec(`insert into leasetop.jobs (queue, kind, payload) select 'reports', 'monthly_report', '{"month": "2026-10"}' from generate_series(1, 4)`)
	s.Press("G")
	s.find(`▸w3 +● busy .*\d+ +monthly_report`)
	s.Press("F")
	s.confirm("FREEZE WORKER w3")
	s.find(`w3 +.* frozen`)
	s.Press("1")
	s.find(`stale writes fenced [1-9]`)
	s.Expect("✓ double effects 0", "✓ overlap of two runners 0")
}

// A poison job is dead on the screen, is redriven from the keyboard when its
// cause is gone, completes, and keeps its history.
func TestPoisonIsRedriven(t *testing.T) {
	t.Parallel()
	s := start(t, 120, 36)
	s.Press("x")
	dead := s.find(`✗ (\d+) buried by \w+ +send_winback`)[1]
	s.Press("3", "tab")
	s.find(`▸.*\b` + dead + ` +emails/send_winback +dead`)
	// The cause goes by itself: its template is deployed after a while.
	s.Until("the template is deployed", func(*term.Frame) bool {
		return query[bool](s, `select bool_and(deployed_at <= now()) from leasetop.demo_templates`)
	})
	s.Press("r")
	s.confirm("REDRIVE")
	s.Until("the job completed", func(*term.Frame) bool {
		return query[string](s, `select status from leasetop.jobs where id = $1`, dead) == "completed"
	})
	if n := query[int](s, `select jsonb_array_length(errors) from leasetop.jobs where id = $1`, dead); n < 2 {
		t.Errorf("the history holds %d entries, want the burial and the redrive", n)
	}
}

// Dead letters written by anybody, here by plain SQL, come to the screen.
func TestForeignDeadLetterIsShown(t *testing.T) {
	t.Parallel()
	s := start(t, 80, 24)
	s.Press("3")
	s.exec(`insert into leasetop.jobs (queue, status, last_error) values ('emails', 'dead', E'evil \x1b]0;pwned\x07 \u202e text')`)
	s.Expect("evil")
	if title := s.Title(); strings.Contains(title, "pwned") {
		t.Errorf("the error's text set the terminal's title to %q", title)
	}
}

// kill -9 in mid-work and another start: nothing lost, nothing doubled.
func TestKillNineLosesNothing(t *testing.T) {
	t.Parallel()
	s := start(t, 120, 36)
	s.Press("b")
	s.Until("a burst is being worked on", func(*term.Frame) bool {
		return query[int](s, `select count(*) from leasetop.jobs where status = 'processing'`) > 3
	})
	s.kill9()
	s.open(120, 36)
	s.find(`(reap|wal ) ↩ .*lease of`)
	s.Expect("✓ lost 0", "✓ double effects 0")
	s.Press("q")
	if code := s.Exit(); code != 0 {
		t.Errorf("exit status %d", code)
	}
}

// However it ends, the terminal is as it was and the program is gone.
func TestTerminalIsRestored(t *testing.T) {
	t.Parallel()
	s := start(t, 120, 36)
	for _, end := range []struct {
		name string
		do   func() error
	}{
		{"q", func() error { return s.Term.Press("q") }},
		{"ctrl+c", func() error { return s.Term.Press("ctrl+c") }},
		{"SIGTERM", func() error { return s.Signal(syscall.SIGTERM) }},
		{"SIGHUP", func() error { return s.Signal(syscall.SIGHUP) }},
		{"hangup", func() error { return s.Hangup() }},
	} {
		if !s.Alt() {
			t.Fatalf("before %s: not on the alternate screen", end.name)
		}
		if err := end.do(); err != nil {
			t.Fatalf("%s: %v", end.name, err)
		}
		s.Exit()
		if end.name != "hangup" && s.Alt() {
			t.Errorf("%s left the alternate screen on", end.name)
		}
		if end.name != "hangup" {
			s.open(120, 36)
		}
	}
}
