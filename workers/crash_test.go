package workers

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// The job takes down every process that claims it, and somebody always starts another.
func TestKillerOfWorkerProcessesIsDeadAfterItsAttempts(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"kill -9", "exit", "panic"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			url := testdb.New(t)
			q := openAt(t, url, nil)
			l := newLedger(t, q)
			killer := enqueue(t, q, queue.NewJob{Kind: way, MaxAttempts: 3})[0]
			enqueue(t, q, many(30, queue.NewJob{})...)
			c := newCrew(t, url, "mortal", 3)
			until(t, q, 1, "SELECT count(*) FROM leasetop.jobs WHERE id = $1 AND status = 'dead'", killer)
			enqueue(t, q, many(10, queue.NewJob{})...) // the workers live on
			until(t, q, 40, "SELECT count(*) FROM leasetop.jobs WHERE status = 'completed'")
			lost := c.stop()
			job := get(t, q, killer)
			if n := l.effects(t, killer); n != 3 || lost != 3 || job.Attempts != 3 {
				t.Errorf("it was claimed %d times and took down %d processes, attempts %d; want 3", n, lost, job.Attempts)
			}
			if job.Status != queue.Dead || !strings.HasPrefix(job.LastError, "worker lost 3 times") || len(job.Errors) != 3 {
				t.Errorf("it is %s: %q, history %+v", job.Status, job.LastError, job.Errors)
			}
			for _, attempt := range job.Errors {
				if attempt.Outcome != "lost" {
					t.Errorf("history: %+v", attempt)
				}
			}
		})
	}
}

// crew is some worker processes, each of which is started again when it ends.
type crew struct {
	t       *testing.T
	mu      sync.Mutex
	running map[*process]bool
	over    bool
	lost    int // processes that ended before stop
	members sync.WaitGroup
}

func newCrew(t *testing.T, url, role string, processes int) *crew {
	c := &crew{t: t, running: map[*process]bool{}}
	t.Cleanup(func() { c.stop() })
	for range processes {
		c.members.Go(func() {
			for c.serve(url, role) {
			}
		})
	}
	return c
}

// serve runs one process to its end and tells whether another is wanted.
func (c *crew) serve(url, role string) bool {
	c.mu.Lock()
	if c.over {
		c.mu.Unlock()
		return false
	}
	p, err := startProcess(url, role)
	if err != nil {
		c.mu.Unlock()
		c.t.Error(err)
		return false
	}
	c.running[p] = true
	c.mu.Unlock()
	for line := range p.lines {
		p.said = append(p.said, line)
	}
	_ = p.cmd.Wait() // however it ended
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, p)
	if !c.over {
		c.lost++
	}
	return !c.over
}

// stop has all processes drain and returns how many were lost before.
func (c *crew) stop() int {
	c.mu.Lock()
	c.over = true
	for p := range c.running {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
	}
	c.mu.Unlock()
	c.members.Wait()
	return c.lost
}

// Nothing but the job's own row knows of a worker, and nothing else is needed to
// take the job back: its process is dead, its sessions are gone.
func TestJobOfAProcessOfWhichNothingIsLeftComesBackByItsOwnLease(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	q := openAt(t, url, nil)
	id := enqueue(t, q, queue.NewJob{})[0]
	victim := runProcess(t, url, "brief")
	victim.hear(t, "began")
	owner, ok := queue.ParseToken(get(t, q, id).LockedBy)
	if !ok || !strings.Contains(owner.Process, fmt.Sprintf(":%d:", victim.cmd.Process.Pid)) {
		t.Fatalf("the job is owned by %+v, not by process %d", owner, victim.cmd.Process.Pid)
	}
	rows, err := q.Pool().Query(t.Context(), "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')")
	if err != nil {
		t.Fatal(err)
	}
	var tables []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		n := count(t, q, "SELECT count(*) FROM "+table+" AS r WHERE strpos(r::text, $1) > 0", owner.Process)
		if want := map[string]int{"leasetop.jobs": 1}[table]; n != want {
			t.Errorf("%d rows of %s name the process, want %d", n, table, want)
		}
	}
	victim.signal(t, syscall.SIGKILL)
	if status, _ := victim.end(t); status.Signal() != syscall.SIGKILL {
		t.Fatalf("it ended with %#x", status)
	}
	exec(t, q, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")

	next := startPool(t, openAt(t, url, nil), on(nothing), Options{}, 1)
	e := waitFor(t, next, ReapedBack)
	t.Logf("reclaimed %v after expiry", e.Late)
	if e.JobID != id || !strings.HasPrefix(e.Owner, owner.Process) {
		t.Errorf("the reclaim is told as %+v", e)
	}
	if job := waitStatus(t, next, id, queue.Completed); job.Attempts != 2 || len(job.Errors) != 1 || job.Errors[0].Outcome != "lost" {
		t.Errorf("attempts %d, history %+v; want 2 and one lost", job.Attempts, job.Errors)
	}
}
