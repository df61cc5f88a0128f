package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	osexec "os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// cutter stands between an executor and its server, and does something at the nth thing
// that it says: before the server hears it, or after the server has answered and before
// the executor hears that.
type cutter struct {
	of       string // the things that count have this in them
	nth      int
	answered bool
	cut      func()

	mu   sync.Mutex
	said int
	done bool
}

func (c *cutter) through(config *pgxpool.Config) {
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &cutConn{Conn: conn, c: c}, nil
	}
}

// now tells whether what is said is the nth that matters: of a statement of the execution.
func (c *cutter) now(said []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done || !bytes.Contains(said, []byte(c.of)) {
		return false
	}
	c.said++
	c.done = c.said == c.nth
	return c.done
}

type cutConn struct {
	net.Conn
	c    *cutter
	last atomic.Bool // what was said last is the last thing that was said
	over atomic.Bool
}

var errCut = errors.New("cut")

// readyAgain tells whether an answer is whole: to a transaction, also to one that failed and
// is not rolled back yet, or to its beginning.
func readyAgain(heard []byte) bool {
	return len(heard) > 0 && bytes.HasSuffix(heard[:len(heard)-1], []byte{'Z', 0, 0, 0, 5})
}

func (c *cutConn) Write(b []byte) (int, error) {
	switch {
	case c.over.Load():
		return 0, errCut
	case !c.c.now(b):
		return c.Conn.Write(b)
	case c.c.answered:
		c.last.Store(true)
		return c.Conn.Write(b)
	}
	return 0, c.end()
}

func (c *cutConn) Read(b []byte) (int, error) {
	if c.over.Load() {
		return 0, errCut
	}
	n, err := c.Conn.Read(b)
	if !c.last.Load() {
		return n, err
	}
	heard := append([]byte{}, b[:n]...)
	for err == nil && !readyAgain(heard) {
		n, err = c.Conn.Read(b)
		heard = append(heard, b[:n]...)
	}
	return 0, c.end()
}

func (c *cutConn) end() error {
	c.over.Store(true)
	c.c.cut()
	c.Conn.Close()
	return errCut
}

// cutOff is a queue whose connections go through a cutter. Its statements are sent whole,
// name and all, each time.
func cutOff(t testing.TB, url string, c *cutter) *Queue {
	t.Helper()
	config := must[*pgxpool.Config](t)(pgxpool.ParseConfig(url + "&default_query_exec_mode=exec"))
	c.through(config)
	pool := must[*pgxpool.Pool](t)(pgxpool.NewWithConfig(context.Background(), config))
	t.Cleanup(pool.Close)
	return must[*Queue](t)(New(pool, ""))
}

// walk executes plans of six jobs in batches of two, redriving or taking back, each cut
// at another point, and has somebody else go on: nothing happens twice, and nothing is lost.
// cutAt executes a plan up to its nth statement, and tells whether there was one.
func walk(t *testing.T, undo bool, cutAt func(q *Queue, id int64, nth int) (cut bool)) (points int) {
	q := open(t)
	keepLedger(t, q)
	for nth := 1; ; nth++ {
		ids := deadLetters(t, q, 6)
		p := started(t, q, NewPlan{IDs: ids})
		what, times := "redriven", p.Total
		if undo {
			executed(t, q, p.ID)
			must[Plan](t)(q.UndoPlan(t.Context(), ann, "", p.ID))
			claim(t, q, time.Minute) // one that cannot be taken back
			what, times = "back", p.Total-1
		}
		if !cutAt(q, p.ID, nth) {
			return nth - 1
		}
		before := must[Plan](t)(q.Plan(t.Context(), p.ID))
		addsUp(t, before)
		if entries, _ := noted(t, q, what, ids); undo && entries != before.Undone || !undo && entries != before.Redriven {
			t.Errorf("cut at %d: %d in the ledger of %+v", nth, entries, before)
		}
		leaseRunsOut(t, q, p.ID)
		p = executed(t, q, p.ID)
		if entries, jobs := noted(t, q, what, ids); entries != times || jobs != times {
			t.Errorf("cut at %d: %d are %s, %d times", nth, jobs, what, entries)
		}
		if !undo && (p.State != PlanDone || p.Redriven != 6) || undo && (p.State != PlanUndone || p.Undone != 5 || p.Redriven != 1) {
			t.Errorf("cut at %d: %+v", nth, p)
		}
		exec(t, q, "truncate leasetop.jobs")
	}
}

// The connection is lost at every statement of an execution, before it arrives and after
// its commit, and with it the executor.
func TestPlanSurvivesACutAtEveryStatement(t *testing.T) {
	t.Parallel()
	for _, undo := range []bool{false, true} {
		for _, answered := range []bool{false, true} {
			t.Run(fmt.Sprintf("undo %v, after the commit %v", undo, answered), func(t *testing.T) {
				t.Parallel()
				points := walk(t, undo, func(q *Queue, id int64, nth int) bool {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					c := &cutter{of: "leasetop plan", nth: nth, answered: answered, cut: cancel}
					e := newExecution(cutOff(t, q.Pool().Config().ConnString(), c), id, nil)
					e.most = 2
					_ = e.run(ctx)
					return c.done
				})
				if points < 10 {
					t.Errorf("it was cut at %d points", points)
				}
			})
		}
	}
}

// Jobs that are locked at their turn change places with others: cut anywhere in that, each is redriven once, or
// was locked still when it was the last.
func TestPlanWithLockedJobsSurvivesACutAtEveryStatement(t *testing.T) {
	t.Parallel()
	for _, answered := range []bool{false, true} {
		t.Run(fmt.Sprintf("after the commit %v", answered), func(t *testing.T) {
			t.Parallel()
			q := open(t)
			keepLedger(t, q)
			for nth, cut := 1, true; cut; nth++ {
				ids := deadLetters(t, q, 6)
				p := started(t, q, NewPlan{IDs: ids})
				tx := begin(t, q)
				_, err := tx.Exec(t.Context(), "select from leasetop.jobs where id = any($1) for update", ids[1:3])
				ok(t, err)
				ctx, cancel := context.WithCancel(t.Context())
				c := &cutter{of: "leasetop plan_", nth: nth, answered: answered, cut: cancel}
				e := newExecution(cutOff(t, q.Pool().Config().ConnString(), c), p.ID, nil)
				e.most, e.size, e.stuck = 1, 1, planStuck
				_ = e.run(ctx)
				cancel()
				ok(t, tx.Rollback(t.Context()))
				leaseRunsOut(t, q, p.ID)
				p = executed(t, q, p.ID)
				entries, jobs := noted(t, q, "redriven", ids)
				if p.State != PlanDone || p.Redriven+p.Skipped != 6 || p.Redriven < 4 || entries != p.Redriven || jobs != p.Redriven {
					t.Errorf("cut at %d: %d redrives of %d jobs: %+v", nth, entries, jobs, p)
				}
				if listed := count(t, q, "select count(distinct job_id) from leasetop.redrive_jobs where plan = $1 and job_id = any($2)", p.ID, ids); listed != 6 {
					t.Errorf("cut at %d: %d jobs are in the plan", nth, listed)
				}
				if cut = c.done; !cut && nth < 10 {
					t.Errorf("it was cut at %d points", nth-1)
				}
			}
		})
	}
}

// The same executor goes on by itself when only its connection was lost.
func TestExecutorOutlivesItsConnection(t *testing.T) {
	t.Parallel()
	q := open(t)
	keepLedger(t, q)
	for nth := 1; ; nth++ {
		for _, answered := range []bool{false, true} {
			ids := deadLetters(t, q, 6)
			p := started(t, q, NewPlan{IDs: ids})
			c := &cutter{of: "leasetop plan", nth: nth, answered: answered, cut: func() {}}
			e := newExecution(cutOff(t, q.Pool().Config().ConnString(), c), p.ID, nil)
			e.most = 2
			ok(t, e.run(t.Context()))
			p = must[Plan](t)(q.Plan(t.Context(), p.ID))
			if entries, jobs := noted(t, q, "redriven", ids); entries != 6 || jobs != 6 || p.State != PlanDone || p.Redriven != 6 {
				t.Errorf("cut at %d: %d redrives of %d jobs: %+v", nth, entries, jobs, p)
			}
			if !c.done {
				return
			}
		}
	}
}

// executes names the database, the plan and where [TestExecutorToKill] is to kill itself.
const executes = "LEASETOP_TEST_EXECUTE"

// TestExecutorToKill is no test but a process that executes a plan and is killed in its course.
func TestExecutorToKill(t *testing.T) {
	said := os.Getenv(executes)
	if said == "" {
		t.Skip("run by TestPlanSurvivesKillNineAtEveryBatch")
	}
	var id int64
	c := cutter{of: "leasetop plan_"} // a statement that moves it on
	var url string
	must[int](t)(fmt.Sscan(said, &id, &c.nth, &c.answered, &url))
	c.cut = func() {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	e := newExecution(cutOff(t, url, &c), id, nil)
	e.most = 2
	ok(t, e.run(t.Context()))
}

// A process that executes a plan is killed at every batch of it, before the batch and after
// its commit.
func TestPlanSurvivesKillNineAtEveryBatch(t *testing.T) {
	t.Parallel()
	for _, undo := range []bool{false, true} {
		for _, answered := range []bool{false, true} {
			t.Run(fmt.Sprintf("undo %v, after the commit %v", undo, answered), func(t *testing.T) {
				t.Parallel()
				points := walk(t, undo, func(q *Queue, id int64, nth int) bool {
					process := osexec.Command(os.Args[0], "-test.run=^TestExecutorToKill$", "-test.v")
					process.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %v %s", executes, id, nth, answered, q.Pool().Config().ConnString()))
					output, err := process.CombinedOutput()
					killed := err != nil && process.ProcessState.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
					if !killed && !strings.Contains(string(output), "--- PASS: TestExecutorToKill") {
						t.Fatalf("%v: %s", err, output)
					}
					return killed
				})
				if points < 5 {
					t.Errorf("it was killed at %d points", points)
				}
			})
		}
	}
}
