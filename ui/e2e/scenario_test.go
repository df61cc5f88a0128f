package e2e

import (
	"strings"
	"syscall"
	"testing"

	"github.com/leasetop/leasetop/ui/term"
)

// crash opens the tab and begins the first scenario.
func (s *session) crash() {
	s.t.Helper()
	s.Press(s.find(`(\d) Scenarios`)[1])
	s.find(`▸ 1 +crash +A worker`)
	s.Press("enter")
	s.Expect("YOUR TURN", "step 1 of")
}

// A scenario is played from step to step to its end, and nothing of it is left.
func TestScenarioIsPlayedFromStepToStep(t *testing.T) {
	t.Parallel()
	s := start(t, 120, 36)
	s.crash()
	for {
		at := s.find(`step \d+ of \d+`)[0]
		s.Press("space")
		var over bool
		s.Until("the step after "+at+", or the end", func(f *term.Frame) bool {
			screen := f.Text()
			over = strings.Contains(screen, "plays it again")
			return over || strings.Contains(screen, "YOUR TURN") && !strings.Contains(screen, at)
		})
		if over {
			break
		}
	}
	s.Expect("PASSED", "✓ crash until pending", "✓ lost 0", "✓ double effects 0")
	s.seesNothingOfCrash()
	s.Press("esc")
	s.find(`▸ 1 +crash .* ✓ \d`)
}

// However the program ends in the middle of a play, its world is taken down first.
func TestQuittingInAPlayLeavesNothingOfIt(t *testing.T) {
	t.Parallel()
	s := start(t, 80, 24)
	for name, quit := range map[string]func() error{
		"q":       func() error { return s.Term.Press("q") },
		"ctrl+c":  func() error { return s.Term.Press("ctrl+c") },
		"SIGTERM": func() error { return s.Signal(syscall.SIGTERM) },
	} {
		s.crash()
		s.Press("space")
		s.Expect("step 2 of", "YOUR TURN")
		if n := query[int](s, `select count(*) from leasetop.jobs where queue like 'crash-%'`); n == 0 {
			t.Fatal("in the middle of the play it has no jobs")
		}
		if err := quit(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if code := s.Exit(); code != 0 {
			t.Errorf("%s: exit status %d", name, code)
		}
		s.conn = nil // it went with the server
		s.open(80, 24)
		s.seesNothingOfCrash()
	}
}

// seesNothingOfCrash looks for what a play left behind.
func (s *session) seesNothingOfCrash() {
	s.t.Helper()
	for what, sql := range map[string]string{
		"jobs":    `select count(*) from leasetop.jobs where queue like 'crash-%'`,
		"effects": `select count(*) from leasetop.scenario_ledger`,
		"plays":   `select count(*) from leasetop.scenario_runs`,
	} {
		if n := query[int](s, sql); n != 0 {
			s.t.Errorf("%d %s are left", n, what)
		}
	}
}
