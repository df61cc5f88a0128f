package languages

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// What becomes of a job, told by what its handler does.
func TestOutcomes(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		q, url := open(t)
		ids := map[string]int64{}
		cases := []struct {
			do       string
			most     int
			status   queue.Status
			attempts int
			history  string
			error    string // how last_error ends
		}{
			{"nothing", 5, queue.Completed, 1, "", ""},
			{"fail once", 5, queue.Completed, 2, "retry", "503"},
			{"fail", 3, queue.Failed, 3, "retry retry failed", "503"},
			{"fail", 1, queue.Failed, 1, "failed", "503"},
			{"poison", 5, queue.Dead, 1, "buried", "bad schema"},
			{"snooze", 5, queue.Completed, 1, "", ""},
			{"unwritable", 1, queue.Failed, 1, "failed", "boom\uFFFDtail \uFFFD"},
			{"no error", 1, queue.Failed, 1, "failed", ""},
		}
		for _, c := range cases {
			ids[fmt.Sprint(c.do, c.most)] = enqueue(t, q, queue.NewJob{MaxAttempts: c.most}, c.do)
		}
		p := start(t, l, options{URL: url, Slots: 3})
		for _, c := range cases {
			job := until(t, q, ids[fmt.Sprint(c.do, c.most)], c.status)
			var history []string
			for _, e := range job.Errors {
				history = append(history, e.Outcome)
				if token, ok := queue.ParseToken(e.Worker); !ok || token.Worker != l.name {
					t.Errorf("%s: its worker is %q", c.do, e.Worker)
				}
			}
			if got := strings.Join(history, " "); job.Attempts != c.attempts || got != c.history || !strings.HasSuffix(job.LastError, c.error) {
				t.Errorf("%s, at most %d: attempt %d, history %q, error %q", c.do, c.most, job.Attempts, got, job.LastError)
			}
		}
		if n := p.count("job .*"); n != 0 {
			t.Errorf("%d complaints", n)
		}
	})
}

// Ids that no double holds and numbers that few languages hold come and go unchanged.
func TestNumbersStayExact(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		q, url := open(t)
		const big = 9007199254740993
		conn := connect(t, url)
		text := value[string](t, conn, `insert into leasetop.jobs (id, queue, payload) values ($1, 'emails',
			'{"numbers": [1970670598291982290, 1e400, -0, -1970670598291982291, 7], "text": "\" 1970670598291982290"}') returning payload::text`, big)
		do(t, conn, `insert into leasetop.jobs (id, queue) values ($1, 'emails')`, big-1)
		p := start(t, l, options{URL: url})
		until(t, q, big, queue.Completed)
		until(t, q, big-1, queue.Completed)
		if got := p.says(`began 9007199254740993 1 (.*)`)[0]; got != text {
			t.Errorf("the handler got %s\nthe table has   %s", got, text)
		}
		want := fmt.Sprintf("1970670598291982290 1%s 0 -1970670598291982291 7", strings.Repeat("0", 400))
		if got := p.says(`numbers 9007199254740993 (.*)`)[0]; got != want {
			t.Errorf("the handler read %s\nwant             %s", got, want)
		}
		if after := value[string](t, conn, `select payload::text from leasetop.jobs where id = $1`, big); after != text {
			t.Errorf("the payload is %s now", after)
		}
	})
}

// A worker in each language and one in Go share a queue: every job is done once, and each
// does some. The database defaults to an isolation under which their writes could fail
// with 40001, so none may be of it.
func TestLanguagesShareAQueue(t *testing.T) {
	t.Parallel()
	for _, l := range languages {
		l.skip(t)
	}
	_, url := open(t)
	conn := connect(t, url)
	do(t, conn, `do $$ begin execute format('alter database %I set default_transaction_isolation = serializable', current_database()); end $$;
		create function leasetop.no_stricter() returns trigger language plpgsql as $$ begin
			if current_setting('transaction_isolation') <> 'read committed' then raise 'at %', current_setting('transaction_isolation'); end if;
			return null;
		end $$;
		create trigger no_stricter before update on leasetop.jobs for each statement execute function leasetop.no_stricter()`)
	var done atomic.Int64
	goWorker(t, url, workers.Options{}, func(context.Context, *queue.Job) error {
		done.Add(1)
		return nil
	})
	node, python := start(t, languages[0], options{URL: url, Slots: 2}), start(t, languages[1], options{URL: url, Slots: 2})
	total := 0
	for range 100 {
		if done.Load() > 0 && node.count("began .*") > 0 && python.count("began .*") > 0 {
			break
		}
		total += 200
		do(t, conn, `insert into leasetop.jobs (queue) select 'emails' from generate_series(1, 200)`)
		settled(t, conn, `select count(*) from leasetop.jobs where status <> 'completed'`, 0)
	}
	byNode, byPython := node.count("began .*"), python.count("began .*")
	t.Logf("of %d jobs Go did %d, node %d, Python %d", total, done.Load(), byNode, byPython)
	if done.Load() == 0 || byNode == 0 || byPython == 0 || int(done.Load())+byNode+byPython != total {
		t.Errorf("of %d jobs Go did %d, node %d, Python %d", total, done.Load(), byNode, byPython)
	}
	if n := value[int](t, conn, `select count(*) from leasetop.jobs where attempts <> 1 or errors <> '[]'`); n != 0 {
		t.Errorf("%d jobs were done more than once", n)
	}
}

// kill -9: the lease runs out, and another process of the same program, with no leasetop
// beside it, takes the job back and does it.
func TestKilledWorkersJobIsReclaimed(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		q, url := open(t)
		id := enqueue(t, q, queue.NewJob{}, "wait")
		killed := start(t, l, options{URL: url, Lease: 2})
		killed.says(fmt.Sprintf("began %d 1 .*", id))
		killed.signal(syscall.SIGKILL)
		if code := killed.exit(); code != -1 {
			t.Errorf("exit status %d", code)
		}
		heir := start(t, l, options{URL: url, Lease: 2})
		heir.says(fmt.Sprintf("job %d is reclaimed from .*, now pending", id))
		heir.says(fmt.Sprintf("began %d 2 .*", id))
		heir.tell(fmt.Sprintf("go %d", id))
		job := until(t, q, id, queue.Completed)
		if len(job.Errors) != 1 || job.Errors[0].Outcome != "lost" {
			t.Errorf("its history is %+v", job.Errors)
		}
	})
}

// A process that kills its worker at every attempt ends dead, its neighbours complete.
func TestWorkerKillerEndsDead(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		q, url := open(t)
		killer := enqueue(t, q, queue.NewJob{MaxAttempts: 2}, "wait")
		for attempt := 1; attempt <= 2; attempt++ {
			p := start(t, l, options{URL: url, Lease: 1})
			p.says(fmt.Sprintf("began %d %d .*", killer, attempt))
			p.signal(syscall.SIGKILL)
		}
		neighbour := enqueue(t, q, queue.NewJob{}, "nothing")
		start(t, l, options{URL: url, Lease: 1}).says(fmt.Sprintf("job %d is reclaimed from .*, now dead", killer))
		until(t, q, neighbour, queue.Completed)
		if job := until(t, q, killer, queue.Dead); job.Attempts != 2 || !strings.HasPrefix(job.LastError, "worker lost 2 times") {
			t.Errorf("attempt %d, %q", job.Attempts, job.LastError)
		}
	})
}

// A worker frozen past its lease wakes up and finishes: its write matches no row.
func TestFrozenWorkerIsFenced(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		q, url := open(t)
		id := enqueue(t, q, queue.NewJob{}, "ignore stop")
		frozen := start(t, l, options{URL: url, Lease: 1})
		frozen.says(fmt.Sprintf("began %d 1 .*", id))
		frozen.signal(syscall.SIGSTOP)
		goWorker(t, url, workers.Options{}, func(context.Context, *queue.Job) error { return nil })
		before := until(t, q, id, queue.Completed)
		frozen.tell(fmt.Sprintf("go %d", id))
		frozen.signal(syscall.SIGCONT)
		frozen.says(fmt.Sprintf("job %d: late completion fenced: the lease is lost", id))
		after := until(t, q, id, queue.Completed)
		if after.Attempts != 2 || len(after.Errors) != 1 || !after.UpdatedAt.Equal(before.UpdatedAt) {
			t.Errorf("the late write changed the job: %+v, before %+v", after, before)
		}
	})
}

// The heartbeat tells a running handler that its lease is gone.
func TestLostLeaseStopsTheHandler(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		q, url := open(t)
		id := enqueue(t, q, queue.NewJob{}, "wait")
		p := start(t, l, options{URL: url, Lease: 6})
		p.says(fmt.Sprintf("began %d 1 .*", id))
		do(t, connect(t, url), `update leasetop.jobs set locked_by = 'somebody else', lease_expires_at = now() + interval '1 hour'`)
		p.says(fmt.Sprintf("job %d stops: lease lost: it is not ours any more", id))
		p.says(fmt.Sprintf("stopped %d LeaseLost", id))
		if job := until(t, q, id, queue.Processing); job.LockedBy != "somebody else" || len(job.Errors) != 0 {
			t.Errorf("the job is %+v", job)
		}
	})
}

// Heartbeats keep a job for longer than its lease.
func TestHeartbeatsKeepTheLease(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		q, url := open(t)
		id := enqueue(t, q, queue.NewJob{}, "wait")
		p := start(t, l, options{URL: url, Lease: 3})
		p.says(fmt.Sprintf("began %d 1 .*", id))
		settled(t, connect(t, url), `select count(*) from leasetop.jobs where lease_expires_at > locked_at + interval '5 seconds'`, 1)
		p.tell(fmt.Sprintf("go %d", id))
		if job := until(t, q, id, queue.Completed); job.Attempts != 1 {
			t.Errorf("attempt %d", job.Attempts)
		}
	})
}
