package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/leasetop/leasetop/ui/term"
)

// CASES "Cancel a running job": from the screen, one that this process runs.
func TestRunningJobIsCancelledFromTheScreen(t *testing.T) {
	t.Parallel()
	s := start(t, 160, 40)
	s.quiet("emails", "images")
	s.Press("tab")
	var id int64
	for asked := false; !asked; { // one takes seconds: on a busy machine it may be over before the answer
		s.exec(`insert into leasetop.jobs (queue, kind, payload) select 'reports', 'monthly_report', '{"month": "2026-10"}' from generate_series(1, 6)`)
		s.find(`▸ *\d+ +reports/\w+ +w\d`)
		s.Press("C")
		id, _ = strconv.ParseInt(s.find(`CANCEL JOB (\d+)`)[1], 10, 64)
		s.confirm(fmt.Sprintf("CANCEL JOB %d", id))
		asked = s.find(fmt.Sprintf(`(✓ asked) job %[1]d's worker to stop|! job %[1]d had completed already`, id))[1] != ""
	}
	s.find(fmt.Sprintf(`⊘ %d cancelled by \S+@\S+ · w\d`, id))
	s.isCancelled(id)
	s.Expect("✓ lost 0", "✓ double effects 0")
	s.Press("3", "tab")
	s.find(fmt.Sprintf(`▸ *\d+s +%d `, id)) // the newest
	s.Press("enter")
	s.Expect(fmt.Sprintf("JOB %d", id), "cancelled  by ", "cancelled by")
	s.find(`status +dead`)
}

// The same of a job that a worker of another process runs, here a program.
func TestJobOfAnotherProcessIsCancelledFromTheScreen(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("it reads /proc to see the program's end")
	}
	s := start(t, 160, 40)
	w := s.work("sleep", "1000")
	id := w.only()
	s.Press("tab", "enter")
	s.find(fmt.Sprintf(`JOB %d`, id))
	s.find(`status +processing`)
	s.Press("C")
	s.confirm(fmt.Sprintf("CANCEL JOB %d", id))
	s.find(fmt.Sprintf(`✓ asked job %d's worker to stop`, id))
	s.find(`status +dead`)
	s.find(`cancelled +by \S+@\S+`)
	s.isCancelled(id)
	s.Until("the program ended", func(*term.Frame) bool { return len(processes(w.mark)) == 1 }) // the worker's own is left
}

// A job that is just finishing when it is cancelled ends in one state, whichever of
// the two comes first, and the screen says which. The program takes no notice of the cancel
// that comes first.
func TestCancelOfAJobThatIsJustFinishing(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("it reads /proc to see the program's end")
	}
	for _, c := range []struct {
		name          string
		cancelFirst   bool
		says          string
		status        string
		wanted, final string
	}{
		{"the outcome comes first", false, `! job %d had completed already`, "completed", "", `status +completed`},
		{"the cancel comes first", true, `✓ asked job %d's worker to stop`, "completed", "somebody", `cancelled +asked by \S+: completed all the same`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, 160, 40)
			folder := t.TempDir()
			w := s.work("sh", "-c", "trap : TERM INT; until [ -e "+folder+"/go ]; do sleep 0.05; done")
			id := w.only()
			s.Press("tab", "enter")
			s.find(fmt.Sprintf(`JOB %d`, id))
			s.find(`status +processing`)

			finish := func() {
				if err := os.WriteFile(filepath.Join(folder, "go"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			dialog := fmt.Sprintf("CANCEL JOB %d", id)
			if c.cancelFirst {
				s.Press("C")
				s.confirm(dialog)
				s.find(fmt.Sprintf(c.says, id))
				finish()
			} else {
				s.Press("C")
				s.Expect(dialog)
				finish()
				s.Until("the job is completed", func(*term.Frame) bool {
					return query[string](s, `select status from leasetop.jobs where id = $1`, id) == "completed"
				})
				s.confirm(dialog)
			}
			if !c.cancelFirst {
				s.find(fmt.Sprintf(c.says, id))
			}
			s.find(c.final)
			status, by := query[string](s, `select status from leasetop.jobs where id = $1`, id), query[string](s, `select coalesce(cancelled_by, '') from leasetop.jobs where id = $1`, id)
			if status != c.status || (by != "") != (c.wanted != "") {
				t.Errorf("the row is %s, cancelled by %q", status, by)
			}
			if n := query[int](s, `select jsonb_array_length(errors) from leasetop.jobs where id = $1`, id); n != 0 {
				t.Errorf("its history holds %d bad ends", n)
			}
			s.Press("esc")
			s.Gone(fmt.Sprintf("JOB %d", id)) // else the next key is one with alt
			s.eventsOf(id)
			s.find(fmt.Sprintf(`✓ completed +%d `, id))
		})
	}
}

// A job that waits is dead at once, and never runs.
func TestWaitingJobIsCancelledFromItsDetail(t *testing.T) {
	t.Parallel()
	s := start(t, 160, 40)
	s.quiet("emails", "images", "reports")
	id := query[int64](s, `insert into leasetop.jobs (queue) values ('nobody takes these') returning id`)
	s.eventsOf(id)
	s.find(fmt.Sprintf(`▸\d.*\+ enqueued +%d `, id))
	s.Press("enter")
	s.find(`status +pending`)
	s.Press("C")
	s.confirm(fmt.Sprintf("CANCEL JOB %d", id))
	s.find(fmt.Sprintf(`✓ job %d is dead: cancelled`, id))
	s.find(`status +dead`)
	s.isCancelled(id)
	if n := query[int](s, `select attempts from leasetop.jobs where id = $1`, id); n != 0 {
		t.Errorf("it ran %d times", n)
	}
	s.Press("C") // and there is nothing more to cancel
	s.Expect("cancel: nothing to stop: dead")
}

// eventsOf shows the events of one job, which no newer ones push out of sight.
func (s *session) eventsOf(id int64) {
	s.t.Helper()
	s.Press(s.find(`(\d) Events`)[1])
	s.Expect("following")
	s.Press("/")
	for _, letter := range fmt.Sprintf("job:%d", id) {
		s.Press(string(letter))
	}
	s.Press("enter")
	s.Expect(fmt.Sprintf("/ job:%d", id), "esc clear")
}

// quiet pauses queues of the demonstration, so that nothing else is on the screen.
func (s *session) quiet(queues ...string) {
	s.t.Helper()
	s.exec(`insert into leasetop.queues (queue, paused_at, paused_by) select unnest($1::text[]), now(), 'the test'`, queues)
	s.Until("nothing of the paused queues running", func(*term.Frame) bool {
		return query[int](s, `select count(*) from leasetop.jobs where status = 'processing' and queue = any($1::text[])`, queues) == 0
	})
}

// isCancelled fails the test unless the row says so, in all its places.
func (s *session) isCancelled(id int64) {
	s.t.Helper()
	got := query[string](s, `select concat_ws('|', status, last_error = 'cancelled by ' || cancelled_by, errors -> -1 ->> 'outcome', locked_by) from leasetop.jobs where id = $1`, id)
	if got != "dead|t|cancelled" {
		s.t.Errorf("the row says %q", got)
	}
}

// worker is a process that runs a program for each job of a queue of its own.
type worker struct {
	s    *session
	mark []byte // of its environment, and of its children's
}

// work starts one beside the dashboard.
func (s *session) work(program string, args ...string) *worker {
	s.t.Helper()
	mark := "TEST_MARK=" + filepath.Base(s.home)
	cmd := exec.Command(binary, append([]string{"work", "--queue", "slow", "--exec", program, "--"}, args...)...)
	cmd.Env = append(term.Environ(), "LEASETOP_HOME="+s.home, mark)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		forced := time.AfterFunc(term.Patience, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		forced.Stop()
	})
	return &worker{s, []byte(mark + "\x00")}
}

// only has the worker run a job and nobody anything else, and returns the job.
func (w *worker) only() (id int64) {
	w.s.t.Helper()
	w.s.quiet("emails", "images", "reports")
	id = query[int64](w.s, `insert into leasetop.jobs (queue) values ('slow') returning id`)
	w.s.find(fmt.Sprintf(`LEASES 1 [^\n]*\n(?s:.*) %d +slow`, id))
	return id
}
