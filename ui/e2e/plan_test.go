package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/leasetop/leasetop/ui/term"
)

// broken makes 300 dead letters of one cause of what the demonstration begins with, and
// sees to it that the cause stays until mended.
func (s *session) broken() {
	s.t.Helper()
	s.exec(`insert into leasetop.demo_templates (name, deployed_at) values ('winback-autumn', now() + interval '1 day')`)
	s.exec(`insert into leasetop.jobs (queue, kind, payload, status, attempts, max_attempts, last_error, updated_at)
		select queue, kind, payload, status, attempts, max_attempts, last_error, now() - make_interval(secs => n)
		from leasetop.jobs, generate_series(1, 4) n where kind = 'send_winback' and status = 'dead'`)
}

func (s *session) mended() {
	s.t.Helper()
	s.exec(`update leasetop.demo_templates set deployed_at = now()`)
}

// until waits until the database says so.
func (s *session) until(what, sql string, args ...any) {
	s.t.Helper()
	s.Until(what, func(*term.Frame) bool { return query[bool](s, sql, args...) })
}

// plans the redrive of the largest group, as it is proposed: a few first, then it waits.
func (s *session) plan() {
	s.t.Helper()
	s.Press("3")
	s.find(`▸ +300 .*send_winback`)
	s.Press("R")
	s.Expect("REDRIVE 300 DEAD LETTERS", "✓ dry run: all of them can be redriven now", "5 first. When all of them have ended")
	time.Sleep(400 * time.Millisecond) // see confirm
	s.Press("y")
	s.Expect("enter y  start")
	s.answer("y")
	s.Expect("PLAN 1 ", "300 jobs")
}

// addsUp fails the test unless the jobs are what the plan says of them, and none was
// redriven twice.
func (s *session) addsUp() {
	s.t.Helper()
	if wrong := query[int](s, `select count(*) from leasetop.redrive_jobs r join leasetop.jobs j on j.id = r.job_id
		where r.state in ('undone', 'waiting') and j.status not in ('failed', 'dead')`); wrong != 0 {
		s.t.Errorf("%d jobs are alive that the plan took back or did not reach", wrong)
	}
	if twice := query[int](s, `select count(*) from leasetop.jobs where
		jsonb_array_length(jsonb_path_query_array(errors, '$[*] ? (@.outcome == "redriven")')) > 1`); twice != 0 {
		s.t.Errorf("%d jobs were redriven twice", twice)
	}
	if twice := query[int](s, `select count(*) - count(distinct job_id) from leasetop.demo_ledger`); twice != 0 {
		s.t.Errorf("%d effects happened twice", twice)
	}
}

// The whole story, by keyboard alone: find the group, read it, try five, see them complete,
// the rest at 50 a second, pause, go on, undo the remainder.
func TestHeapIsRedrivenByKeyboardAlone(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 36}, {80, 24}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			s := start(t, size[0], size[1])
			s.broken()
			s.Press("3")
			s.find(`▸ +300 .*send_winback`)
			s.Press("enter")
			s.find(`▸ .*\d+ .*no template "winback-autu`)
			s.Press("enter")
			s.find(`JOB \d+`)
			s.Expect(`no template "winback-autumn" yet`, "PAYLOAD")
			s.Press("esc")
			s.find(`▸ .*\d+ .*no template "winback-autu`)
			s.Press("esc")
			s.find(`▸ +300 .*send_winback`)
			s.mended()

			s.plan()
			s.Expect("waits for you", "completed 5", "waiting 295")
			if got := query[string](s, `select concat_ws(' ', state, canary, reached, redriven, pace) from leasetop.redrive_plans`); got != "held 5 5 5 50" {
				t.Errorf("the plan is %q", got)
			}
			if n := query[int](s, `select count(*) from leasetop.jobs j join leasetop.redrive_jobs r on r.job_id = j.id and position <= 5 where j.status = 'completed'`); n != 5 {
				t.Errorf("%d of the first five completed", n)
			}

			s.Press("c")
			s.until("the rest getting on", `select reached > 40 from leasetop.redrive_plans`)
			s.Press("space")
			s.Expect("paused", "c resume")
			reached := query[int](s, `select reached from leasetop.redrive_plans where state = 'paused'`)
			if reached >= 300 {
				t.Fatal("it was over before it was paused")
			}
			s.until("jobs completing meanwhile", `select count(*) > 8 from leasetop.jobs j join leasetop.redrive_jobs r on r.job_id = j.id where j.status = 'completed'`)
			if now := query[int](s, `select reached from leasetop.redrive_plans`); now != reached {
				t.Errorf("the paused plan went on from %d to %d", reached, now)
			}

			s.Press("c")
			s.until("the rest getting on again", `select reached > $1 + 20 from leasetop.redrive_plans`, reached)
			s.Press("u")
			s.confirm("UNDO PLAN 1")
			s.Expect("undone", "taken back")
			s.find(`took back \d+ jobs|NOT TAKEN BACK`)
			if got := query[string](s, `select state || case when undone > 0 and redriven > undone then ' in part' else ' or not' end from leasetop.redrive_plans`); got != "undone in part" {
				t.Errorf("the plan is %q", got)
			}
			s.addsUp()
		})
	}
}

// Two dashboards at one plan: one acts and the other is told; the one that executes it is
// killed, and the other takes over.
func TestPlanIsSharedByTwoDashboards(t *testing.T) {
	t.Parallel()
	s := start(t, 120, 36)
	s.broken()
	s.mended()
	other := &session{t: t, home: s.home, conn: s.db()}
	other.open(80, 24)

	s.plan()
	s.Expect("waits for you", "completed 5")
	other.Press("3", "l")
	other.find(`▸ +1 +waits for`)
	other.Press("enter")
	other.Expect("PLAN 1 ", "waits for you")
	other.Press("c")
	s.find(`executed +by \S+@\S+`)
	s.until("the other executing it", `select state = 'running' and reached > 20 from leasetop.redrive_plans`)
	s.Press("c")
	s.find(`! go on: \S+@\S+( pid \d+)? executes it`)

	other.kill9()
	s.Expect("! by nobody: c takes it over")
	reached := query[int](s, `select reached from leasetop.redrive_plans where state = 'running'`)
	if reached >= 300 {
		t.Fatal("it was over before its executor was killed")
	}
	s.Press("c")
	s.Expect("redrove 300 of 300 (plan 1)")
	s.addsUp()
}
