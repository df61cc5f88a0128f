package e2e

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/ui/term"
)

// program does the jobs of the test. Each attempt appends a line when it starts and
// one when its effect is done; lines appended in one write do not mix.
const program = `#!/bin/sh
tell() { echo "$LEASETOP_JOB_ID $LEASETOP_ATTEMPT $1" >>effects; }
tell start
case "$LEASETOP_KIND" in
  slow) sleep 0.05;;
  stuck) [ "$LEASETOP_ATTEMPT" = 1 ] && { sleep 1000 & sleep 1000; };;
  killer) grep -q leasetop /proc/$PPID/comm && kill -KILL $PPID; sleep 1000;;
  later) [ "$LEASETOP_ATTEMPT" = 1 ] && { echo "busy" >&2; exit 75; };;
  poison) echo "cannot be done" >&2; exit 65;;
esac
tell end
`

// fleet is a number of worker processes, one of which is killed now and then.
type fleet struct {
	t        *testing.T
	dir, url string
	rounds   int
	running  []*crew
}

// crew is one worker process.
type crew struct {
	*exec.Cmd
	round int
	said  bytes.Buffer
	up    chan struct{} // closed when it has said something
	ended chan struct{}
}

func (c *crew) Write(said []byte) (int, error) {
	if c.said.Len() == 0 {
		close(c.up)
	}
	return c.said.Write(said)
}

func (f *fleet) start() *crew {
	f.t.Helper()
	f.rounds++
	c := &crew{round: f.rounds, up: make(chan struct{}), ended: make(chan struct{})}
	c.Cmd = exec.Command(binary, "work", "--queue", "urgent,usual", "--workers", "2", "--slots", "4", "--lease", "1s", "--exec", "./job")
	c.Dir, c.Stderr = f.dir, c
	c.Env = append(term.Environ(), "DATABASE_URL="+f.url, f.mark(c.round))
	if err := c.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.running = append(f.running, c)
	go func() {
		defer close(c.ended)
		_ = c.Wait()
	}()
	return c
}

// replace waits for the end of a crew, and of every process that it started.
func (f *fleet) replace(c *crew) {
	f.t.Helper()
	<-c.ended
	f.running = slices.DeleteFunc(f.running, func(other *crew) bool { return other == c })
	mark := []byte(f.mark(c.round) + "\x00")
	for end := time.Now().Add(term.Patience); ; time.Sleep(5 * time.Millisecond) {
		left := processes(mark)
		if len(left) == 0 {
			break
		}
		if time.Now().After(end) {
			f.t.Fatalf("children outlived the worker process of round %d: %q", c.round, left)
		}
	}
	f.start()
}

// mark is what is in the environment of a worker process and of all that it starts.
func (f *fleet) mark(round int) string { return fmt.Sprintf("TEST_ROUND=%s.%d", f.dir, round) }

// processes are the command lines of those that have this in their environment.
func processes(mark []byte) (found []string) {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environs {
		if environ, err := os.ReadFile(path); err == nil && bytes.Contains(environ, mark) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			found = append(found, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return found
}

// done is a job as it ended.
type done struct {
	kind, status, lastError string
	attempts                int
	history                 map[int]string // outcome of each attempt but one that completed
}

// effect is one line of the program's.
type effect struct {
	job, attempt int
	what         string
}

// A thousand jobs by a program, in worker processes that are killed at random
// moments: each ends for a stated reason, and each effect belongs to an attempt that
// the job's history knows.
func TestThousandJobsThroughKilledWorkerProcesses(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("it reads /proc to find what outlives a worker")
	}
	f := &fleet{t: t, dir: t.TempDir(), url: testdb.New(t)}
	if err := os.WriteFile(filepath.Join(f.dir, "job"), []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), f.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), `
		INSERT INTO leasetop.jobs (queue, kind, max_attempts)
		SELECT CASE WHEN n % 10 = 0 THEN 'urgent' ELSE 'usual' END,
			CASE WHEN n % 97 = 0 THEN 'stuck' WHEN n % 331 = 0 THEN 'killer' WHEN n % 50 = 1 THEN 'later'
				WHEN n % 50 = 2 THEN 'poison' WHEN n % 3 = 0 THEN 'slow' ELSE 'quick' END,
			CASE WHEN n % 331 = 0 THEN 3 WHEN n % 100 = 1 THEN 1 ELSE 5 END
		FROM generate_series(1, 1000) AS n`); err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	defer func() {
		for _, c := range f.running {
			_ = c.Process.Kill()
			<-c.ended
			if t.Failed() {
				t.Logf("round %d:\n%s", c.round, c.said.String()[max(0, c.said.Len()-4000):])
			}
		}
	}()
	kills := 0
	f.start()
	f.start()
	for open := 1000; open > 0; {
		victim := f.running[random.IntN(len(f.running))]
		select {
		case <-victim.ended: // by one of its jobs
		case <-time.After(time.Duration(200+random.IntN(600)) * time.Millisecond):
			_ = victim.Process.Kill()
		}
		kills++
		f.replace(victim)
		// Backoff takes minutes: here they have gone by.
		if _, err := conn.Exec(t.Context(), `UPDATE leasetop.jobs SET run_at = now() WHERE status = 'pending' AND run_at > now()`); err != nil {
			t.Fatal(err)
		}
		if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM leasetop.jobs WHERE status IN ('pending', 'processing')`).Scan(&open); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range f.running {
		select {
		case <-c.up: // it hears signals by now
		case <-c.ended:
		}
		terminated := c.Process.Signal(syscall.SIGTERM) == nil // else one of the last jobs killed it
		<-c.ended
		if code := c.ProcessState.ExitCode(); terminated && (code != 0 || !strings.Contains(c.said.String(), " left 0\n")) {
			t.Errorf("round %d ended with status %d:\n%s", c.round, code, c.said.String())
		}
	}
	f.running = nil
	jobs, effects := readJobs(t, conn), readEffects(t, f.dir)
	account(t, jobs, effects)
	if kills < 5 {
		t.Errorf("only %d worker processes were killed", kills)
	}
}

func readJobs(t *testing.T, conn *pgx.Conn) map[int]*done {
	t.Helper()
	jobs := map[int]*done{}
	rows, err := conn.Query(t.Context(), `
		SELECT id, kind, status, coalesce(last_error, ''), attempts, coalesce(e.attempt, 0), coalesce(e.outcome, '')
		FROM leasetop.jobs LEFT JOIN LATERAL jsonb_to_recordset(errors) AS e(attempt int, outcome text) ON true`)
	if err != nil {
		t.Fatal(err)
	}
	var id, attempt int
	var d done
	var outcome string
	if _, err := pgx.ForEachRow(rows, []any{&id, &d.kind, &d.status, &d.lastError, &d.attempts, &attempt, &outcome}, func() error {
		if jobs[id] == nil {
			one := d
			one.history = map[int]string{}
			jobs[id] = &one
		}
		if attempt > 0 {
			if before, twice := jobs[id].history[attempt]; twice {
				t.Errorf("job %d: attempt %d ended twice: %s and %s", id, attempt, before, outcome)
			}
			jobs[id].history[attempt] = outcome
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return jobs
}

func readEffects(t *testing.T, dir string) (effects []effect) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "effects"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var e effect
		if _, err := fmt.Sscanf(line, "%d %d %s\n", &e.job, &e.attempt, &e.what); err != nil {
			t.Fatalf("a torn line %q: %v", line, err)
		}
		effects = append(effects, e)
	}
	return effects
}

// account has every job and every effect explain itself.
func account(t *testing.T, jobs map[int]*done, effects []effect) {
	t.Helper()
	if len(jobs) != 1000 {
		t.Errorf("%d jobs, want 1000", len(jobs))
	}
	ends, latest := map[int]int{}, map[int]int{}
	lost, repeated := 0, 0
	for _, e := range effects {
		d := jobs[e.job]
		if e.attempt < latest[e.job] {
			t.Errorf("job %d: attempt %d still ran when attempt %d had begun", e.job, e.attempt, latest[e.job])
		}
		latest[e.job] = e.attempt
		how := d.history[e.attempt]
		if e.attempt == d.attempts && d.status == "completed" {
			how = "completed"
		}
		switch {
		case how == "":
			t.Errorf("job %d: attempt %d ran, and nothing tells how it ended", e.job, e.attempt)
		case e.what == "end" && how != "completed" && how != "lost":
			t.Errorf("job %d: attempt %d had its effect, but ended as %s", e.job, e.attempt, how)
		case e.what == "end":
			ends[e.job]++
		}
	}
	statuses := map[string]int{}
	for id, d := range jobs {
		statuses[d.status]++
		losses := 0
		for _, outcome := range d.history {
			if outcome == "lost" {
				losses++
			}
		}
		lost += losses
		repeated += max(ends[id]-1, 0)
		worn := losses > 0 && d.attempts >= 3 && strings.HasPrefix(d.lastError, "worker lost "+strconv.Itoa(losses)+" times: ")
		good := false
		switch d.status {
		case "completed":
			good = ends[id] >= 1 && ends[id]-1 <= losses
		case "dead":
			good = worn || d.kind == "poison" && d.lastError == "exit status 65: cannot be done" ||
				losses == 1 && d.attempts == 1 && strings.HasPrefix(d.lastError, "worker lost once: ")
		case "failed":
			good = d.kind == "later" && d.lastError == "exit status 75: busy"
		}
		if !good || d.kind == "killer" && !worn {
			t.Errorf("job %d (%s) is %s after attempt %d with error %q, history %v, %d effects", id, d.kind, d.status, d.attempts, d.lastError, d.history, ends[id])
		}
	}
	t.Logf("%v; %d attempts lost with their workers, %d effects repeated", statuses, lost, repeated)
	if lost < 20 {
		t.Errorf("only %d attempts were lost: this proved little", lost)
	}
}
