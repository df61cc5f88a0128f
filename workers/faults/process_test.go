package faults

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/workers"
)

// start starts a worker process that ends with the test at the latest.
func start(t testing.TB, o ProcessOptions) *Process {
	t.Helper()
	if o.Queues == nil {
		o.Queues = []string{"q"}
	}
	if o.Slots == 0 {
		o.Slots = 1
	}
	p, err := StartProcess(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// shows waits until the process's worker is as wanted.
func shows(t testing.TB, p *Process, wanted func(workers.Snapshot) bool) workers.Snapshot {
	t.Helper()
	deadline := time.After(patience)
	for {
		changed := p.Changed()
		all := p.Snapshot()
		if len(all) == 1 && wanted(all[0]) {
			return all[0]
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("waited in vain; the process shows %+v", all)
		}
	}
}

func running(n int) func(workers.Snapshot) bool {
	return func(w workers.Snapshot) bool { return len(w.Running) == n }
}

func row(t testing.TB, q *queue.Queue, id int64) string {
	t.Helper()
	return value[string](t, q, "SELECT j::text || xmin::text || ctid::text FROM leasetop.jobs AS j WHERE id = $1", id)
}

func TestProcessReapsTheQueuesItIsToldTo(t *testing.T) {
	t.Parallel()
	q, url := open(t)
	if _, err := q.Pool().Exec(t.Context(), `INSERT INTO leasetop.jobs (queue, status, attempts, locked_by, locked_at, lease_expires_at)
		SELECT queue, 'processing', 1, 'gone#' || queue, now(), now() - interval '1 s' FROM unnest(ARRAY['theirs', 'q']) AS queue`); err != nil {
		t.Fatal(err)
	}
	before := row(t, q, 1)
	p := start(t, ProcessOptions{URL: url, Name: "reaper", Handlers: "waiting", Reaps: []string{"q"}})
	shows(t, p, running(1)) // the job that was taken back
	if after := row(t, q, 1); after != before {
		t.Errorf("the lease of another queue was taken back: %s", after)
	}
}

func TestKilledProcessLeavesItsRowsAsTheyAreUntilTheirLeasesEndAndAnotherFinishesThem(t *testing.T) {
	t.Parallel()
	q, url := open(t)
	const jobs = 5
	ids := enqueue(t, q, make([]queue.NewJob, jobs)...)
	victim := start(t, ProcessOptions{URL: url, Name: "victim", Slots: jobs, Handlers: "waiting", Lease: 2 * time.Second})
	shows(t, victim, running(jobs))
	if err := victim.Kill(); err != nil {
		t.Fatal(err)
	}
	receive(t, "its end", victim.Done())
	ended := (*osexec.ExitError)(nil)
	if err := victim.Err(); !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("it ended with %v", err)
	}
	if all := victim.Snapshot(); len(all) != 1 || all[0].State != workers.Crashed || len(all[0].Running) != jobs {
		t.Errorf("after its death it shows %+v", all)
	}
	before := make([]string, jobs)
	for i, id := range ids {
		before[i] = row(t, q, id)
		job, err := q.Get(t.Context(), id)
		token, ok := queue.ParseToken(job.LockedBy)
		if err != nil || !ok || token.Worker != "victim" || !strings.Contains(token.Process, ":"+strconv.Itoa(victim.Pid())+":") {
			t.Errorf("job %d is owned by %q: %v", id, job.LockedBy, err)
		}
	}
	until(t, q, "SELECT bool_and(lease_expires_at < now()) FROM leasetop.jobs")
	for i, id := range ids {
		if now := row(t, q, id); now != before[i] {
			t.Errorf("after the death of its worker a row changed:\n%s\n%s", before[i], now)
		}
	}
	if n := value[int](t, q, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'leasetop-worker%'"); n != 0 {
		t.Errorf("it left %d sessions", n)
	}
	heir := start(t, ProcessOptions{URL: url, Name: "heir", Slots: jobs, Handlers: "waiting"})
	shows(t, heir, running(jobs))
	letGo(t, heir)
	until(t, q, "SELECT count(*) = $1 FROM leasetop.jobs WHERE status = 'completed' AND attempts = 2", jobs)
}

func TestDrainedProcessFinishesWhatItRunsAndEndsInOrder(t *testing.T) {
	t.Parallel()
	q, url := open(t)
	ids := enqueue(t, q, queue.NewJob{})
	p := start(t, ProcessOptions{URL: url, Name: "drained", Handlers: "stubborn"})
	shows(t, p, running(1))
	if err := p.Drain(); err != nil {
		t.Fatal(err)
	}
	shows(t, p, func(w workers.Snapshot) bool { return w.State == workers.Draining })
	letGo(t, p)
	receive(t, "its end", p.Done())
	if err := p.Err(); err != nil {
		t.Error(err)
	}
	if w := p.Snapshot()[0]; w.State != workers.Stopped || w.Completed != 1 || w.Name != "drained" {
		t.Errorf("at its end it shows %+v", w)
	}
	if job, err := q.Get(t.Context(), ids[0]); err != nil || job.Status != queue.Completed || job.Attempts != 1 {
		t.Errorf("%+v, %v", job, err)
	}
	if err := p.Kill(); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("a signal after its end: %v", err)
	}
}

func TestSuspendedProcessIsAZombieThatIsFencedWhenItResumes(t *testing.T) {
	t.Parallel()
	q, url := open(t)
	enqueue(t, q, queue.NewJob{})
	var fenced sync.Once
	stale := make(chan struct{})
	zombie := start(t, ProcessOptions{
		URL: url, Name: "zombie", Handlers: "stubborn", Lease: time.Second,
		Events: func(e workers.Event) {
			if e.What == workers.StaleFenced || e.What == workers.LeaseLost || e.What == workers.TrustEnded {
				fenced.Do(func() { close(stale) })
			}
		},
	})
	shows(t, zombie, running(1))
	if err := zombie.Suspend(); err != nil {
		t.Fatal(err)
	}
	shows(t, zombie, func(w workers.Snapshot) bool { return w.State == workers.Frozen })
	heir := start(t, ProcessOptions{URL: url, Name: "heir", Handlers: "waiting"})
	shows(t, heir, running(1))
	if err := zombie.Resume(); err != nil {
		t.Fatal(err)
	}
	receive(t, "the zombie to learn of it", stale)
	letGo(t, zombie)
	letGo(t, heir)
	until(t, q, "SELECT count(*) = 1 FROM leasetop.jobs WHERE status = 'completed' AND attempts = 2")
	shows(t, zombie, func(w workers.Snapshot) bool { return w.State == workers.Idle && w.Completed == 0 })
}

// The database's password could be read off the arguments and the environment.
func TestProcessHasANameAndAGroupOfItsOwnAndItsAddressIsNowhereToBeSeen(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	p := start(t, ProcessOptions{URL: url + "&password=geheim", Name: "shy", Handlers: "waiting"})
	out, err := osexec.Command("ps", "-o", "args=", "-p", strconv.Itoa(p.Pid())).Output()
	if got := strings.TrimSpace(string(out)); err != nil || got != "leasetop-worker shy" {
		t.Errorf("ps calls it %q: %v", got, err)
	}
	if group, err := syscall.Getpgid(p.Pid()); err != nil || group != p.Pid() {
		t.Errorf("its group is %d: %v", group, err)
	}
	if environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.Pid())); err == nil && strings.Contains(string(environ), "geheim") {
		t.Error("the environment holds the password")
	}
}

func TestProcessThatCannotWorkSaysWhy(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	for what, o := range map[string]ProcessOptions{
		`no handlers are registered as "none"`: {URL: url, Name: "x", Queues: []string{"q"}, Slots: 1, Handlers: "none"},
		"0 slots":                              {URL: url, Name: "x", Queues: []string{"q"}, Handlers: "waiting"},
		"not a valid connection string":        {URL: "postgres://u:geheim@h:port/", Name: "x", Queues: []string{"q"}, Slots: 1, Handlers: "waiting"},
	} {
		p, err := StartProcess(t.Context(), o)
		if err == nil {
			p.Close()
		}
		if err == nil || !strings.Contains(err.Error(), what) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("want %q, got %v", what, err)
		}
	}
}

// A program that does not call ChildMain would be started again by each one started.
func TestProgramThatDoesNotCallChildMainDoesNotStartItselfForEver(t *testing.T) {
	t.Setenv(childVariable, "1")
	if p, err := StartProcess(t.Context(), ProcessOptions{Name: "x"}); err == nil || !strings.Contains(err.Error(), "ChildMain") {
		t.Errorf("%v, %v", p, err)
	}
}

func TestWhatAProcessPrintsIsHeardLineByLine(t *testing.T) {
	t.Parallel()
	q, url := open(t)
	id := enqueue(t, q, queue.NewJob{})[0]
	heard := make(chan string, 100)
	start(t, ProcessOptions{URL: url, Name: "loud", Handlers: "waiting", Output: func(line string) { heard <- line }})
	for line := range heard {
		if line == fmt.Sprintf("began %d", id) {
			break
		}
	}
}

func TestKillerOfItsProcessIsClaimedThreeTimesThenDead(t *testing.T) {
	t.Parallel()
	q, url := open(t)
	killer := enqueue(t, q, queue.NewJob{Kind: PoisonKiller, MaxAttempts: 3})[0]
	for n := range 3 {
		p := start(t, ProcessOptions{URL: url, Name: fmt.Sprintf("victim-%d", n), Handlers: "poisoned", Lease: time.Second})
		receive(t, "its end", p.Done())
		if w := p.Snapshot()[0]; w.State != workers.Crashed {
			t.Errorf("it shows %+v", w)
		}
	}
	start(t, ProcessOptions{URL: url, Name: "survivor", Handlers: "poisoned"})
	until(t, q, "SELECT status = 'dead' AND attempts = 3 AND last_error LIKE 'worker lost 3 times%' FROM leasetop.jobs WHERE id = $1", killer)
}

// parentVariable is set for this binary run as the parent of a worker process, whose
// number it prints before it dies.
const parentVariable = "LEASETOP_TEST_PARENT"

func TestProcessDoesNotOutliveItsParent(t *testing.T) {
	if url := os.Getenv(parentVariable); url != "" {
		p, err := StartProcess(context.Background(), ProcessOptions{URL: url, Name: "orphan", Queues: []string{"q"}, Slots: 1, Handlers: "waiting"})
		if err == nil && os.Getenv(parentVariable+"_SUSPENDS") != "" {
			err = p.Suspend()
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("child", p.Pid())
		die()
	}
	t.Parallel()
	for _, suspends := range []string{"", "1"} {
		cmd := osexec.Command(os.Args[0], "-test.run=^TestProcessDoesNotOutliveItsParent$")
		cmd.Env = append(os.Environ(), parentVariable+"="+testdb.New(t), parentVariable+"_SUSPENDS="+suspends)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for scan := bufio.NewScanner(out); scan.Scan(); {
			said = append(said, scan.Text())
		}
		_ = cmd.Wait()
		i := slices.IndexFunc(said, func(line string) bool { return strings.HasPrefix(line, "child ") })
		if i < 0 {
			t.Fatalf("it said %q", said)
		}
		pid, err := strconv.Atoi(strings.TrimPrefix(said[i], "child "))
		if err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(patience); alive(pid); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("process %d lives on", pid)
			}
		}
	}
}

// On systems whose kernel does not see to it, this is how it learns of its parent's end.
func TestProcessWhoseStandardInputEndsKillsItself(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	p := start(t, ProcessOptions{URL: url, Name: "orphan", Handlers: "waiting"})
	if err := p.input.Close(); err != nil {
		t.Fatal(err)
	}
	receive(t, "its end", p.Done())
	ended := (*osexec.ExitError)(nil)
	if err := p.Err(); !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("it ended with %v", err)
	}
}

// alive tells whether a process runs; where nobody reaps orphans, zombies do not count.
func alive(pid int) bool {
	state, err := osexec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(state)), "Z")
}

// Or its jobs would look as if nobody trusted their leases any more.
func TestProcessReportsEachHeartbeat(t *testing.T) {
	t.Parallel()
	q, url := open(t)
	enqueue(t, q, queue.NewJob{})
	p := start(t, ProcessOptions{URL: url, Name: "w", Handlers: "waiting", Lease: time.Second})
	first := shows(t, p, running(1)).Running[0]
	shows(t, p, func(w workers.Snapshot) bool {
		return len(w.Running) == 1 && w.Running[0].Trust.Sub(first.Trust) > time.Second
	})
}
