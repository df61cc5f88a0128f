package command

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/workers/demo"
)

// program is a running leasetop whose lines are read.
type program struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string
	seen  bytes.Buffer
	err   complaints
}

// start runs leasetop without a terminal, with these variables.
func start(t *testing.T, env ...string) *program { return startWith(t, nil, env...) }

// startWith runs it with arguments.
func startWith(t *testing.T, args []string, env ...string) *program {
	t.Helper()
	p := &program{t: t, cmd: exec.Command("leasetop", args...), lines: make(chan string, 10_000)}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = &p.err
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill() })
	go p.read(out)
	return p
}

func (p *program) read(out io.Reader) {
	defer close(p.lines)
	for scan := bufio.NewScanner(out); scan.Scan(); {
		p.lines <- scan.Text()
	}
}

// until reads lines up to one that matches.
func (p *program) until(pattern string) string {
	p.t.Helper()
	line := p.within(time.Minute, pattern)
	if line == "" {
		p.t.Fatalf("no line like %q:\n%s\n%s", pattern, p.seen.String(), p.err.String())
	}
	return line
}

// within reads lines up to one that matches; "" when none comes in that time.
func (p *program) within(patience time.Duration, pattern string) string {
	p.t.Helper()
	want, timeout := regexp.MustCompile(pattern), time.After(patience)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("ended without a line like %q:\n%s\n%s", pattern, p.seen.String(), p.err.String())
			}
			p.seen.WriteString(line + "\n")
			if want.MatchString(line) {
				return line
			}
		case <-timeout:
			return ""
		}
	}
}

func (p *program) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// end sends a signal and returns the exit status.
func (p *program) end(s syscall.Signal) int {
	p.t.Helper()
	p.signal(s)
	for line := range p.lines {
		p.seen.WriteString(line + "\n")
	}
	_ = p.cmd.Wait() // the status tells
	return p.cmd.ProcessState.ExitCode()
}

func TestWithoutTerminalEventsAreLines(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t, "wal_level=logical")) // its own: a slot waits for every writer of a server
	q, err := queue.Open(t.Context(), url, queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	p := start(t, "DATABASE_URL="+url)
	p.until(` depth no jobs( \(polled\))?$`)
	if _, err := q.Enqueue(t.Context(), queue.NewJob{Queue: "emails\x1b[2J", Kind: "send"}); err != nil {
		t.Fatal(err)
	}
	p.until(` 1 emails␛\[2J/send enqueued`)
	p.until(` depth emails␛\[2J: ready 1, scheduled 0, processing 0, completed 0, failed 0, dead 0( \(polled\))?$`)
	if status := p.end(syscall.SIGTERM); status != 0 {
		t.Errorf("ended with status %d: %s", status, p.err.String())
	}
	if strings.ContainsRune(p.seen.String()+p.err.String(), 0x1b) {
		t.Errorf("an escape code was printed:\n%q", p.seen.String())
	}
	if lines := strings.Count(p.err.String(), "\n"); lines != 1 || !strings.Contains(p.err.String(), "plain mode") {
		t.Errorf("standard error is %q, want one line about plain mode", p.err.String())
	}
	if depths, err := q.Depth(t.Context(), 0); err != nil || len(depths.Queues) != 1 || depths.Queues[0].Ready != 1 {
		t.Errorf("a named database was worked on: %+v, %v", depths, err)
	}
}

func TestPrivateServerShowsItsWorkToOthers(t *testing.T) {
	t.Parallel()
	home := "LEASETOP_HOME=" + testdb.Home(t)
	p := start(t, home, "DATABASE_URL=")
	p.until(" completed w")
	url := strings.TrimSpace(leasetop(t, home, "url"))
	q, err := queue.Open(t.Context(), url, queue.Options{})
	if err != nil {
		t.Fatalf("url printed %q: %v", url, err)
	}
	defer q.Close()
	if _, err := q.Depth(t.Context(), 0); err != nil {
		t.Error(err)
	}
	var depth struct{ Queues []struct{ Queue string } }
	if err := json.Unmarshal([]byte(leasetop(t, home, "depth", "-o", "json")), &depth); err != nil || len(depth.Queues) == 0 {
		t.Errorf("depth printed %+v, %v", depth, err)
	}
	if status := p.end(syscall.SIGINT); status != 0 {
		t.Errorf("ended with status %d: %s", status, p.err.String())
	}
	if err := q.Ping(t.Context()); err == nil {
		t.Error("the private server outlived the last who used it")
	}
}

// Whoever started the server looks after it; when that one is gone, those who are left do.
func TestPrivateServerThatDiesIsStartedAgainByThoseWhoUseIt(t *testing.T) {
	t.Parallel()
	home := testdb.Home(t)
	dashboard := start(t, "LEASETOP_HOME="+home, "DATABASE_URL=")
	dashboard.until(" completed w")
	killPrivateServer(t, home)
	dashboard.complains("the private server had died and was started again")
	dashboard.until(" completed w") // its workers have come back
	work := startWith(t, []string{"work", "--queue", "emails"}, "LEASETOP_HOME="+home, "DATABASE_URL=")
	work.complains("each job by")
	dashboard.end(syscall.SIGKILL)
	killPrivateServer(t, home)
	work.complains("the private server had died and was started again")
	if status := work.end(syscall.SIGTERM); status != 0 {
		t.Errorf("ended with status %d: %s", status, work.err.String())
	}
}

func killPrivateServer(t *testing.T, home string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(home, "main", "data", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// A kill -9 in mid-work leaves a running server and claimed jobs. The next start
// finds both, and every job is done once.
func TestKilledProgramLosesNothingAndDoublesNothing(t *testing.T) {
	t.Parallel()
	home := "LEASETOP_HOME=" + testdb.Home(t)
	p := start(t, home, "DATABASE_URL=")
	p.until(" claimed w")
	url := strings.TrimSpace(leasetop(t, home, "url"))
	q, err := queue.Open(t.Context(), url, queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	for range 2 {
		p.until(" completed w")
		for { // the kill must find a job in hand, which it looks for while nothing moves
			p.until(" claimed w")
			p.signal(syscall.SIGSTOP)
			if inHand(t, q) {
				break
			}
			p.signal(syscall.SIGCONT)
		}
		p.end(syscall.SIGKILL)
		p = start(t, home, "DATABASE_URL=")
	}
	p.until(" reclaimed,? ")
	p.until(" completed .*attempt 2 of ")
	ledger, err := demo.ReadLedger(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if ledger.Effects == 0 || ledger.Doubled != 0 || ledger.Lost != 0 {
		t.Errorf("ledger is %+v, want some effects, none doubled, none lost", ledger)
	}
	if status := p.end(syscall.SIGTERM); status != 0 {
		t.Errorf("ended with status %d: %s", status, p.err.String())
	}
}

// inHand tells whether somebody holds a job.
func inHand(t *testing.T, q *queue.Queue) bool {
	t.Helper()
	depth, err := q.Depth(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(depth.Queues, func(d queue.QueueDepth) bool { return d.Processing > 0 })
}

// leasetop runs one command and returns what it printed.
func leasetop(t *testing.T, home string, args ...string) string {
	t.Helper()
	cmd := exec.Command("leasetop", args...)
	cmd.Env = append(os.Environ(), home, "DATABASE_URL=")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("leasetop %q: %v: %s", args, err, complaints.String())
	}
	return string(out)
}
