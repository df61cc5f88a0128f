package e2e

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/ui/term"
)

// workProcess is a running `leasetop work`, whose lines can be waited for.
type workProcess struct {
	*exec.Cmd
	t *testing.T

	mu    sync.Mutex
	lines []string
	came  chan struct{} // closed and replaced with each line
	ended chan struct{}
}

func startWorker(t *testing.T, env []string, argv ...string) *workProcess {
	t.Helper()
	w := &workProcess{t: t, Cmd: exec.Command(argv[0], argv[1:]...), came: make(chan struct{}), ended: make(chan struct{})}
	w.Env = append(term.Environ(), env...)
	out, err := w.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(w.ended)
		for s := bufio.NewScanner(out); s.Scan(); {
			w.mu.Lock()
			w.lines = append(w.lines, s.Text())
			close(w.came)
			w.came = make(chan struct{})
			w.mu.Unlock()
		}
		_, _ = io.Copy(io.Discard, out)
		_ = w.Wait()
	}()
	t.Cleanup(func() {
		_ = w.Process.Kill()
		<-w.ended
	})
	return w
}

// says waits for a line that holds the text.
func (w *workProcess) says(text string) string {
	w.t.Helper()
	timeout := time.After(3 * term.Patience)
	for {
		w.mu.Lock()
		came := w.came
		for _, line := range w.lines {
			if strings.Contains(line, text) {
				w.mu.Unlock()
				return line
			}
		}
		w.mu.Unlock()
		select {
		case <-came:
		case <-timeout:
			w.t.Fatalf("it does not say %q:\n%s", text, strings.Join(w.lines, "\n"))
		}
	}
}

func (w *workProcess) signal(s syscall.Signal) {
	w.t.Helper()
	if err := w.Process.Signal(s); err != nil {
		w.t.Fatalf("%v:\n%s", err, strings.Join(w.lines, "\n"))
	}
}

// exits waits for its end and returns the status; -1 is death by a signal.
func (w *workProcess) exits() int {
	w.t.Helper()
	select {
	case <-w.ended:
	case <-time.After(3 * term.Patience):
		w.t.Fatal("it does not end")
	}
	return w.ProcessState.ExitCode()
}

// leasetop runs another command on the same database.
func (w *workProcess) leasetop(args ...string) string {
	w.t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env = w.Env
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("leasetop %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

// A second process joins the demonstration and is killed for real: the dashboard
// shows its leases run out, and nothing is lost or doubled.
func TestSecondProcessOfTheDemonstrationIsKilledForReal(t *testing.T) {
	t.Parallel()
	s := start(t, 160, 40)
	w := startWorker(t, []string{"LEASETOP_HOME=" + s.home}, binary, "work", "--queue", "reports,images,emails", "--slots", "4")
	w.says("completed in ")
	s.exec(`insert into leasetop.jobs (queue, kind, payload) select 'reports', 'monthly_report', '{"month": "2026-10"}' from generate_series(1, 8)`)
	s.Until("it is busy", func(*term.Frame) bool {
		return query[int](s, `select count(*) from leasetop.jobs where status = 'processing' and locked_by like '%:' || $1 || ':%'`, strconv.Itoa(w.Process.Pid)) > 0
	})
	w.signal(syscall.SIGKILL)
	w.exits()
	s.find(`(reap|wal ) ↩ .*lease of w1`)
	s.Expect("✓ lost 0", "✓ double effects 0")
}

func TestFirstSignalDrainsAndTheSecondForces(t *testing.T) {
	t.Parallel()
	w := startWorker(t, []string{"DATABASE_URL=" + testdb.New(t)}, binary, "work", "--queue", "q", "--grace", "1h",
		"--exec", "sh", "--", "-c", `trap 'echo asked' TERM; echo "at work"; while :; do sleep 1000 & wait; done`)
	w.leasetop("enqueue", "--queue", "q")
	w.says("out   1 at work")
	w.signal(syscall.SIGTERM)
	w.says("draining")
	time.Sleep(600 * time.Millisecond) // what comes sooner counts as the same signal
	w.signal(syscall.SIGTERM)
	w.says("out   1 asked")
	if code := w.exits(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	w.says("released 1,")
	if out := w.leasetop("jobs", "--status", "pending"); !strings.Contains(out, " 0/5 ") {
		t.Errorf("the job was not released:\n%s", out)
	}
}

func TestWorkGoesOnWithoutItsTerminalUnderNohup(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("nohup"); err != nil {
		t.Skip("there is no nohup here")
	}
	w := startWorker(t, []string{"DATABASE_URL=" + testdb.New(t)}, "nohup", binary, "work", "--queue", "q", "--exec", "true")
	w.says("1 worker")
	w.signal(syscall.SIGHUP)
	w.leasetop("enqueue", "--queue", "q")
	w.says("completed in ")
	w.signal(syscall.SIGTERM)
	if code := w.exits(); code != 0 {
		t.Errorf("exit status %d", code)
	}
}

// A pipe that is full and stays so holds up children that print, not the end of the work.
func TestReaderThatStoppedDoesNotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	reads, stderr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reads.Close()
	defer stderr.Close()
	for err == nil { // until it is full
		_ = stderr.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
		_, err = stderr.Write(make([]byte, 1<<10))
	}
	url, file := testdb.New(t), filepath.Join(t.TempDir(), "began")
	w := exec.Command(binary, "work", "--queue", "q", "--grace", "6s",
		"--exec", "sh", "--", "-c", `touch "$1"; while :; do echo it goes on and on; done`, "sh", file)
	w.Env, w.Stderr = append(term.Environ(), "DATABASE_URL="+url), stderr
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = w.Wait()
		close(ended)
	}()
	enqueue := exec.Command(binary, "enqueue", "--queue", "q")
	enqueue.Env = w.Env
	if err := enqueue.Run(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(term.Patience); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the job does not begin")
		}
	}
	if err := w.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(3 * term.Patience):
		_ = w.Process.Kill()
		t.Fatal("it does not end")
	}
	if code := w.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit status %d: the job was not released", code)
	}
}

// Jobs may be left, and a supervisor that starts again what failed must hear of it.
func TestWorkFailsWhenNobodyReadsItsJSONAnyMore(t *testing.T) {
	t.Parallel()
	w := startWorker(t, []string{"DATABASE_URL=" + testdb.New(t)}, "sh", "-c",
		`{ "$1" work --queue q --exec true -o json; echo "exit status $?" >&2; } | head -n 1`, "sh", binary)
	w.leasetop("enqueue", "--queue", "q", "--count", "3")
	w.says("leasetop: nobody reads standard output any more")
	w.says("exit status 1")
	w.exits()
}

// A worker that is stopped as a whole cannot end what it runs; its guard does, before
// the job is somebody else's.
func TestProgramOfAWorkerThatIsStoppedEndsBeforeItsLease(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("its guard keeps no time here")
	}
	file := filepath.Join(t.TempDir(), "first")
	argv := []string{
		binary, "work", "--queue", "q", "--lease", "2s", "--exec", "sh", "--", "-c", `
			if [ -e "$1" ]; then
				case "$(cat "/proc/$(cat "$1")/stat")" in *") Z "*) ;; *) echo "two at once";; esac
				echo "it begins"; exit 0
			fi
			trap '' TERM; echo $$ >"$1"; echo "at work"; sleep 1000`, "sh", file,
	}
	env := []string{"DATABASE_URL=" + testdb.New(t)}
	first := startWorker(t, env, argv...)
	first.leasetop("enqueue", "--queue", "q")
	first.says("out   1 at work")
	first.signal(syscall.SIGSTOP)
	second := startWorker(t, env, argv...)
	second.says("out   1 it begins")
	second.says("1 q w1 completed in ")
	first.signal(syscall.SIGCONT)
	for _, w := range []*workProcess{first, second} {
		w.signal(syscall.SIGTERM)
		// The first may not know yet that its job is another's, and count it as left.
		if code := w.exits(); code != 0 && (w != first || code != 1) {
			t.Errorf("exit status %d", code)
		}
	}
	if out := strings.Join(second.lines, "\n"); strings.Contains(out, "out   1 two at once") {
		t.Errorf("the first one's program still ran:\n%s", out)
	}
	if out := first.leasetop("jobs", "--status", "completed"); !strings.Contains(out, " 2/5 ") {
		t.Errorf("the job did not end at its second attempt:\n%s", out)
	}
}

// Nobody replaced it: the job is tried again, for its program was killed for no fault of its own.
func TestProgramThatTheGuardEndedIsTriedAgain(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("its guard keeps no time here")
	}
	w := startWorker(t, []string{"DATABASE_URL=" + testdb.New(t)}, binary, "work", "--queue", "q", "--lease", "2s",
		"--exec", "sh", "--", "-c", `echo "at work $$"; exec sleep 1000`)
	w.leasetop("enqueue", "--queue", "q")
	_, pid, _ := strings.Cut(w.says("out   1 at work"), "at work ")
	w.signal(syscall.SIGSTOP)
	for end := time.Now().Add(term.Patience); ; time.Sleep(5 * time.Millisecond) {
		if stat, _ := os.ReadFile("/proc/" + pid + "/stat"); strings.Contains(string(stat), ") Z ") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the program lives on")
		}
	}
	w.signal(syscall.SIGCONT)
	for end := time.Now().Add(term.Patience); ; time.Sleep(50 * time.Millisecond) {
		out := w.leasetop("jobs")
		if strings.Contains(out, "dead") || time.Now().After(end) {
			t.Fatalf("the job is not to be tried again:\n%s", out)
		}
		if strings.Contains(out, " pending ") || strings.Contains(out, " 2/5 ") {
			break
		}
	}
}
