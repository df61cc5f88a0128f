package queue

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A race is written as two sessions' steps, and every order of them is run, as
// PostgreSQL's own isolation tests do. A step that waits for the other session's
// lock is left waiting, and the other session goes on.

// step is one thing that a session does, with its name.
type step struct {
	name string
	do   func(*pgx.Conn) error
}

// orders lists every way to interleave a steps of one session and b of another.
func orders(a, b int) (all []string) {
	if a == 0 || b == 0 {
		return []string{strings.Repeat("a", a) + strings.Repeat("b", b)}
	}
	for _, rest := range orders(a-1, b) {
		all = append(all, "a"+rest)
	}
	for _, rest := range orders(a, b-1) {
		all = append(all, "b"+rest)
	}
	return all
}

// interleave runs the steps of two sessions in one order and tells the order in
// which they were begun: a session that waits for the other's lock misses its turns
// until it has it.
func interleave(t *testing.T, q *Queue, sessions map[byte]*session, order string, a, b []step) string {
	t.Helper()
	var told []string
	sessions['a'].steps, sessions['b'].steps = a, b
	for len(order) > 0 {
		turn := 0
		next := sessions[order[0]]
		next.settle(t, q)
		if next.waiting {
			turn = strings.IndexByte(order, order[0]^'a'^'b')
			if turn < 0 {
				t.Fatalf("%s: a session waits for one that has ended", told)
			}
		}
		s := sessions[order[turn]]
		order = order[:turn] + order[turn+1:]
		told = append(told, s.steps[0].name)
		s.begin(t, q)
	}
	for _, s := range sessions {
		s.finish(t)
	}
	return strings.Join(told, ", ")
}

type session struct {
	conn    *pgx.Conn
	pid     uint32
	peer    uint32 // who alone counts as holding it up; 0 is anybody
	steps   []step
	done    chan error
	waiting bool
}

func twoSessions(t *testing.T, q *Queue) map[byte]*session {
	t.Helper()
	a, b := newSession(t, q), newSession(t, q)
	a.peer, b.peer = b.pid, a.pid // every NOTIFY waits for those of the whole cluster
	return map[byte]*session{'a': a, 'b': b}
}

func newSession(t *testing.T, q *Queue) *session {
	t.Helper()
	conn := must[*pgx.Conn](t)(pgx.ConnectConfig(t.Context(), q.ConnConfig()))
	t.Cleanup(func() { conn.Close(context.Background()) })
	return &session{conn: conn, pid: conn.PgConn().PID(), done: make(chan error, 1)}
}

// begin starts the next step and returns when it has ended or waits for a lock.
func (s *session) begin(t *testing.T, q *Queue) {
	t.Helper()
	next := s.steps[0]
	s.steps, s.waiting = s.steps[1:], true
	go func() { s.done <- next.do(s.conn) }()
	s.settle(t, q)
}

// settle returns when a step begun has ended, or waits for another session.
func (s *session) settle(t *testing.T, q *Queue) {
	t.Helper()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for s.waiting {
		select {
		case err := <-s.done:
			s.waiting = false
			ok(t, err)
		case <-look.C:
			if count(t, q, "select count(*) from unnest(pg_blocking_pids($1)) as pid where $2 in (pid, 0)", s.pid, s.peer) > 0 {
				return
			}
		}
	}
}

func (s *session) finish(t *testing.T) {
	t.Helper()
	if s.waiting {
		ok(t, <-s.done)
		s.waiting = false
	}
}

func run(name, sql string) step {
	return step{name, func(c *pgx.Conn) error { _, err := c.Exec(context.Background(), sql); return err }}
}

// rows runs a statement of the product and notes how many rows it had.
func rows(name string, into *int64, statement func() (string, []any)) step {
	return step{name, func(c *pgx.Conn) error {
		sql, args := statement()
		tag, err := c.Exec(context.Background(), sql, args...)
		*into = tag.RowsAffected()
		return err
	}}
}

// CASES "Stale reclaimer": between the reaper's look and its write the worker
// completes. One of them has the job, never both, and completed stays completed.
func TestReaperAndLateWorkerInEveryOrder(t *testing.T) {
	t.Parallel()
	q := open(t)
	sessions := twoSessions(t, q)
	for _, outcome := range []string{"complete", "bury", "retry", "heartbeat"} {
		for _, order := range orders(3, 3) {
			lease := claimed(t, q, NewJob{Queue: outcome + order}, time.Minute)
			expire(t, q, lease.ID)
			var reclaimed, ended int64
			reaper := []step{run("reaper begins", "begin"), rows("reclaims", &reclaimed, func() (string, []any) {
				return q.Schema().Query("reclaim"), []any{10, nil, []int64{}, nil}
			}), run("reaper commits", "commit")}
			worker := []step{run("worker begins", "begin"), rows("worker "+outcome+"s", &ended, func() (string, []any) {
				args := map[string][]any{
					"complete": {[]int64{lease.ID}, []string{lease.Token}}, "bury": {lease.ID, lease.Token, "x"},
					"retry": {lease.ID, lease.Token, "x", 60.0}, "heartbeat": {[]int64{lease.ID}, []string{lease.Token}, []float64{60}, []float64{0}},
				}
				return q.Schema().Query(outcome), args[outcome]
			}), run("worker commits", "commit")}
			story := interleave(t, q, sessions, order, reaper, worker)

			job := get(t, q, lease.ID)
			want := map[string]Status{"complete": Completed, "bury": Dead, "retry": Pending, "heartbeat": Processing}[outcome]
			switch {
			case reclaimed == 1 && ended == 0:
				if job.Status != Pending || len(job.Errors) != 1 || job.Errors[0].Outcome != "lost" {
					t.Errorf("%s: the reaper had it, and it is %s with %v", story, job.Status, job.Errors)
				}
			case reclaimed == 0 && ended == 1:
				if job.Status != want || want == Processing && (job.LockedBy != lease.Token || !job.LeaseExpiresAt.After(job.UpdatedAt)) {
					t.Errorf("%s: the worker had it, and it is %s of %q", story, job.Status, job.LockedBy)
				}
			// Both wrote without waiting: each found the row locked and skipped it.
			case reclaimed == 0 && ended == 0 && outcome == "heartbeat":
				if job.Status != Processing {
					t.Errorf("%s: nobody had it, and it is %s", story, job.Status)
				}
			default:
				t.Errorf("%s: %d reclaimed, %d ended", story, reclaimed, ended)
			}
			exec(t, q, "delete from leasetop.jobs")
		}
	}
}

// The same while another reaper gives the job back and it is claimed afresh: the
// fresh lease is untouched.
func TestReaperAndFreshClaimInEveryOrder(t *testing.T) {
	t.Parallel()
	q := open(t)
	sessions := twoSessions(t, q)
	for _, order := range orders(3, 4) {
		stale := claimed(t, q, NewJob{Queue: order}, time.Minute)
		expire(t, q, stale.ID)
		fresh := Lease{ID: stale.ID, Token: owner()}
		var first, second, claims int64
		reclaim := func() (string, []any) { return q.Schema().Query("reclaim"), []any{10, nil, none, nil} }
		reaper := []step{run("reaper begins", "begin"), rows("reclaims", &first, reclaim), run("reaper commits", "commit")}
		other := []step{rows("another reclaims", &second, reclaim), run("claimer begins", "begin"), rows("claims", &claims, func() (string, []any) {
			return q.Schema().Query("claim"), []any{order, fresh.Token, 60.0, 1, start.runAt, start.id, none}
		}), run("claimer commits", "commit")}
		story := interleave(t, q, sessions, order, reaper, other)
		if first+second != 1 {
			t.Errorf("%s: reclaimed %d times", story, first+second)
		}
		switch job := get(t, q, stale.ID); {
		case len(job.Errors) != 1:
			t.Errorf("%s: history %v", story, job.Errors)
		case claims == 1 && (job.Status != Processing || job.LockedBy != fresh.Token || job.Attempts != 2):
			t.Errorf("%s: claimed afresh, and it is %s of %q", story, job.Status, job.LockedBy)
		case claims == 0 && job.Status != Pending:
			t.Errorf("%s: not claimed afresh, and it is %s", story, job.Status)
		}
		exec(t, q, "delete from leasetop.jobs")
	}
}

// And in the middle of the reaper's statement: it has seen both jobs expired and
// writes the first; before it comes to the second, that one is completed, buried
// or claimed afresh.
func TestReaperLooksAgainBeforeItWrites(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"completed", "renewed", "claimed afresh"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			// A hash join would lock all before it writes any, which leaves no gap to test.
			q := openWith(t, 8, "enable_hashjoin = off", "enable_mergejoin = off")
			first, second := claimed(t, q, NewJob{}, time.Minute), claimed(t, q, NewJob{}, time.Minute)
			expire(t, q, first.ID, second.ID)
			// The reaper stops while it writes the first.
			exec(t, q, fmt.Sprintf(`create function pause() returns trigger language plpgsql as $$ begin
				if current_setting('application_name') = 'reaper' then perform pg_advisory_xact_lock(1); end if; return new; end $$;
				create trigger pause before update on leasetop.jobs for each row when (old.id = %d) execute function pause()`, first.ID))
			gate := begin(t, q)
			must[any](t)(gate.Exec(t.Context(), "select pg_advisory_xact_lock(1)"))
			var reclaimed int64
			reaper := newSession(t, q)
			reaper.steps = []step{run("named", "set application_name = 'reaper'"), rows("reclaims", &reclaimed, func() (string, []any) {
				return q.Schema().Query("reclaim"), []any{10, nil, []int64{}, nil}
			})}
			reaper.begin(t, q)
			reaper.begin(t, q)
			if !reaper.waiting {
				t.Fatal("the reaper did not stop between its look and its write")
			}

			fresh := second
			switch what {
			case "completed":
				ok(t, q.Complete(t.Context(), second))
			case "renewed":
				must[Beat](t)(q.Heartbeat(t.Context(), []Renewal{{Lease: second, For: time.Minute}}))
			case "claimed afresh":
				if taken := must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10)); len(taken) != 1 || taken[0].ID != second.ID {
					t.Fatalf("another reaper got %+v", taken)
				}
				fresh = claim(t, q, time.Minute).Lease()
			}
			between := rowOf(t, q, second.ID)
			ok(t, gate.Commit(t.Context()))
			reaper.finish(t)
			if got := rowOf(t, q, second.ID); got != between {
				t.Errorf("the reaper wrote over it:\n%s\n%s", between, got)
			}
			if got := get(t, q, second.ID); fresh != second && got.LockedBy != fresh.Token {
				t.Errorf("the fresh claim lost its job to %q", got.LockedBy)
			}
			if reclaimed != 1 || get(t, q, first.ID).Status != Pending {
				t.Errorf("%d reclaimed", reclaimed)
			}
		})
	}
}
