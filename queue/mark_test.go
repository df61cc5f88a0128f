package queue

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// fullLookDue lets the time pass until the next full look is due.
func fullLookDue(q *Queue, queue string) {
	m := q.marks.of(queue)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fullDue = time.Time{}
}

// noFullLook keeps the next looks marked ones.
func noFullLook(q *Queue, queue string) {
	m := q.marks.of(queue)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fullDue = time.Now().Add(time.Hour)
}

// Each of these comes to stand below the mark. A marked look does not see it, which
// shows that the mark is in use, and the next full look finds it.
func TestFullLookFindsWhatStandsBelowTheMark(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]func(t *testing.T, q *Queue){
		"backdated insert": func(t *testing.T, q *Queue) {
			take(t, q, "emails", 1)
			exec(t, q, "insert into leasetop.jobs (queue, kind, run_at) values ('emails', 'below', now() - interval '1 day')")
		},
		"always due": func(t *testing.T, q *Queue) {
			take(t, q, "emails", 1)
			exec(t, q, "insert into leasetop.jobs (queue, kind, run_at) values ('emails', 'below', '-infinity')")
		},
		"late commit": func(t *testing.T, q *Queue) {
			tx := begin(t, q)
			must[[]Enqueued](t)(q.EnqueueTx(t.Context(), tx, NewJob{Queue: "emails", Kind: "below"}))
			enqueue(t, q, NewJob{})
			take(t, q, "emails", 1)
			take(t, q, "emails", 1)
			ok(t, tx.Commit(t.Context()))
		},
		"claim rolled back": func(t *testing.T, q *Queue) {
			exec(t, q, "insert into leasetop.jobs (queue, kind, run_at) values ('emails', 'below', now() - interval '1 day')")
			tx := begin(t, q)
			must[any](t)(tx.Exec(t.Context(), "select from leasetop.jobs where kind = 'below' for update"))
			take(t, q, "emails", 1)
			ok(t, tx.Rollback(t.Context()))
		},
		"reclaimed by a foreign worker": func(t *testing.T, q *Queue) {
			exec(t, q, "update leasetop.jobs set kind = 'below'")
			enqueue(t, q, NewJob{})
			take(t, q, "emails", 1)
			take(t, q, "emails", 1)
			exec(t, q, "update leasetop.jobs set status = 'pending', locked_by = null, lease_expires_at = null where kind = 'below'")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := open(t)
			enqueue(t, q, NewJob{})
			place(t, q)
			noFullLook(q, "emails")
			if jobs := take(t, q, "emails", 10); len(jobs) != 0 {
				t.Fatalf("a marked look found %v", jobs)
			}
			fullLookDue(q, "emails")
			if jobs := take(t, q, "emails", 10); len(jobs) != 1 || jobs[0].Kind != "below" {
				t.Errorf("a full look found %v", jobs)
			}
		})
	}
}

// Without any help, a full look comes of itself.
func TestFullLookIsDueAgainAndAgain(t *testing.T) {
	t.Parallel()
	q := open(t)
	enqueue(t, q, NewJob{})
	take(t, q, "emails", 1)
	exec(t, q, "insert into leasetop.jobs (queue, run_at) values ('emails', now() - interval '1 day')")
	for len(take(t, q, "emails", 10)) == 0 {
		if t.Context().Err() != nil {
			t.Fatal("the job below the mark was never found")
		}
	}
}

func TestForgetFindsItAtOnce(t *testing.T) {
	t.Parallel()
	q := open(t)
	enqueue(t, q, NewJob{})
	take(t, q, "emails", 1)
	exec(t, q, "insert into leasetop.jobs (queue, run_at) values ('emails', now() - interval '1 day')")
	noFullLook(q, "emails")
	q.Forget("emails", "reports")
	if jobs := take(t, q, "emails", 10); len(jobs) != 1 {
		t.Errorf("found %v", jobs)
	}
}

func TestMarkPacesFullLooks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		marked, full, next, forgotten time.Duration
	}{
		{marked: time.Millisecond, full: 2 * time.Millisecond, next: time.Second, forgotten: 10 * time.Millisecond},
		{marked: time.Millisecond, full: 51 * time.Millisecond, next: 5 * time.Second, forgotten: 500 * time.Millisecond},
		// A far-away server: both looks take that long.
		{marked: 300 * time.Millisecond, full: 301 * time.Millisecond, next: time.Second, forgotten: 10 * time.Millisecond},
		// A look that waited for something else must not put the next off for minutes.
		{marked: time.Millisecond, full: 20 * time.Second, next: 10 * time.Second, forgotten: time.Second},
		{marked: time.Second, full: time.Millisecond, next: time.Second, forgotten: 0},
	} {
		m := &mark{from: start}
		m.end(look{}, nil, c.marked)
		l := m.begin()
		if !l.full {
			t.Fatal("the first look is not full")
		}
		if again := m.begin(); again.full {
			t.Error("two full looks at once")
		}
		m.end(l, nil, c.full)
		if got := time.Until(m.fullDue); got > c.next || got < c.next-time.Second/2 {
			t.Errorf("%+v: the next full look is due in %v", c, got)
		}
		m.forgot = true
		if l := m.begin(); !l.full {
			t.Errorf("%+v: not a full look for what somebody knows of", c)
		}
		if got := time.Until(m.forgetDue); got > c.forgotten || got < c.forgotten-time.Second/2 {
			t.Errorf("%+v: the next of them may begin in %v", c, got)
		}
	}
}

// The point of it: with an old snapshot open, dead entries stay at the head of the
// index, and a marked claim does not read them.
func TestMarkSkipsDeadEntries(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, "alter table leasetop.jobs set (autovacuum_enabled = off)")
	exec(t, q, "insert into leasetop.jobs (queue) select 'emails' from generate_series(1, 20000)")
	snapshot := must[pgx.Tx](t)(q.Pool().BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead}))
	defer snapshot.Rollback(t.Context())
	must[any](t)(snapshot.Exec(t.Context(), "select count(*) from leasetop.jobs"))
	for n := range 20 {
		if n == 1 {
			noFullLook(q, "emails") // however long this takes
		}
		if jobs := take(t, q, "emails", 999); len(jobs) != 999 {
			t.Fatalf("claimed %d", len(jobs))
		}
	}
	m := q.marks.of("emails").from
	marked, full := pagesOfClaim(t, q, m), pagesOfClaim(t, q, start)
	if marked > 2000 || full < 2*marked {
		t.Errorf("a marked claim reads %d pages, a full one %d", marked, full)
	}
}

// Other tests fill the buffers too, so PostgreSQL may read some pages from disk.
var buffers = regexp.MustCompile(`Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?`)

// pagesOfClaim tells how many pages a claim of one job reads.
func pagesOfClaim(t *testing.T, q *Queue, from position) int {
	t.Helper()
	var plan []string
	ok(t, pgx.BeginFunc(t.Context(), q.Pool(), func(tx pgx.Tx) error {
		rows, err := tx.Query(t.Context(), "explain (analyze, buffers, costs off, timing off) "+q.Schema().Query("claim"), pgx.QueryExecModeExec,
			"emails", owner(), 60.0, 1, from.runAt, from.id, none)
		if err != nil {
			return err
		}
		plan, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	}))
	found := buffers.FindStringSubmatch(strings.Join(plan, "\n"))
	if found == nil {
		t.Fatalf("no buffers in\n%s", strings.Join(plan, "\n"))
	}
	pages := 0
	for _, n := range found[1:] {
		if n != "" {
			pages += must[int](t)(strconv.Atoi(n))
		}
	}
	return pages
}

// No job is ever lost below the mark: claimers in two processes, jobs due at random
// times in the past, late commits, releases, retries and reclaims.
func TestMarkLosesNothing(t *testing.T) {
	t.Parallel()
	url := open(t).Pool().Config().ConnString()
	processes := make([]*Queue, 2)
	for i := range processes {
		processes[i] = must[*Queue](t)(Open(t.Context(), url, Options{MaxConns: 8}))
		defer processes[i].Close()
	}
	const jobs = 2000
	var claimers, writers sync.WaitGroup
	written := make(chan struct{})
	for n := range 4 {
		q := processes[n%2]
		writers.Go(func() {
			for i := range jobs / 4 / 20 {
				tx, err := q.Pool().Begin(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				for range 4 {
					_, err := tx.Exec(t.Context(), "insert into leasetop.jobs (queue, max_attempts, run_at) select 'emails', 1000000, now() - random() * interval '1 hour' from generate_series(1, 5)")
					if err != nil {
						t.Error(err)
					}
				}
				if i%10 == 9 {
					err = tx.Rollback(t.Context())
				} else {
					err = tx.Commit(t.Context())
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for n := range 8 {
		q := processes[n%2]
		claimers.Go(func() {
			for {
				got, err := q.Claim(t.Context(), ClaimRequest{Queue: "emails", Owner: owner(), Lease: time.Minute, Limit: 1 + rand.N(50)})
				if err != nil {
					t.Error(err)
					return
				}
				for _, job := range got {
					switch rand.N(12) {
					case 0:
						_, err = q.Release(t.Context(), job.Lease())
					case 1:
						_, err = q.Retry(t.Context(), job.Lease(), "x", time.Millisecond)
					case 2: // the worker dies
						_, err = q.Pool().Exec(t.Context(), "update leasetop.jobs set lease_expires_at = now() - interval '1 second' where id = $1", job.ID)
					default:
						err = q.Complete(t.Context(), job.Lease())
					}
					if err != nil {
						t.Error(err)
					}
				}
				if _, err := q.Reclaim(t.Context(), 5); err != nil {
					t.Error(err)
				}
				if len(got) > 0 {
					continue
				}
				select {
				case <-written:
					var left int
					if err := q.Pool().QueryRow(t.Context(), "select count(*) from leasetop.jobs where status <> 'completed'").Scan(&left); err != nil || left == 0 {
						if err != nil {
							t.Error(err)
						}
						return
					}
				default:
				}
			}
		})
	}
	writers.Wait()
	close(written)
	claimers.Wait()
	q := processes[0]
	if n := count(t, q, "select count(*) from leasetop.jobs where status = 'completed'"); n != count(t, q, "select count(*) from leasetop.jobs") || n < jobs*8/10 {
		t.Errorf("%s completed", fmt.Sprint(n))
	}
}
