package queue

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

// openWith returns the queue of a database whose sessions have these settings,
// as an administrator would make them the default.
func openWith(t testing.TB, conns int32, settings ...string) *Queue {
	t.Helper()
	url := testdb.New(t)
	conn := must[*pgx.Conn](t)(pgx.Connect(t.Context(), url))
	defer conn.Close(t.Context())
	for _, setting := range settings {
		_, err := conn.Exec(t.Context(), fmt.Sprintf(`do $$ begin execute format('alter database %%I set %s', current_database()); end $$`, setting))
		ok(t, err)
	}
	q := must[*Queue](t)(Open(t.Context(), url+impatient, Options{MaxConns: conns}))
	t.Cleanup(q.Close)
	return q
}

func take(t testing.TB, q *Queue, queue string, limit int) []Job {
	t.Helper()
	return must[[]Job](t)(q.Claim(t.Context(), ClaimRequest{Queue: queue, Owner: owner(), Lease: time.Minute, Limit: limit}))
}

func TestClaimTakesTheLongestDueFirst(t *testing.T) {
	t.Parallel()
	q := open(t)
	for _, kind := range []string{"3", "1", "4", "2", "5"} {
		exec(t, q, "insert into leasetop.jobs (queue, kind, run_at) values ('emails', $1, now() - interval '1 hour' + $1::text::int * interval '1 minute')", kind)
	}
	exec(t, q, "insert into leasetop.jobs (queue, kind, run_at) values ('emails', 'later', now() + interval '1 hour'), ('reports', 'elsewhere', now() - interval '1 day')")
	var kinds []string
	for _, limit := range []int{2, 100} {
		for _, job := range take(t, q, "emails", limit) {
			kinds = append(kinds, job.Kind)
		}
	}
	if want := []string{"1", "2", "3", "4", "5"}; !slices.Equal(kinds, want) {
		t.Errorf("claimed %v, want %v", kinds, want)
	}
}

func TestClaimGivesTheWorkerEverything(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := enqueue(t, q, NewJob{Kind: "send", Payload: []byte(`{"to": "a@example.com"}`), MaxAttempts: 3, IdempotencyKey: "k"})
	must[Status](t)(q.Retry(t.Context(), claim(t, q, time.Minute).Lease(), "503", 0))
	token := owner()
	job := must[[]Job](t)(q.Claim(t.Context(), ClaimRequest{Queue: "emails", Owner: token, Lease: 90 * time.Second, Limit: 1}))[0]
	if job.ID != id || job.Queue != "emails" || job.Kind != "send" || string(job.Payload) != `{"to": "a@example.com"}` || job.Status != Processing ||
		job.Attempts != 2 || job.MaxAttempts != 3 || job.LockedBy != token || job.LastError != "503" || job.IdempotencyKey != "k" ||
		job.LeaseExpiresAt.Sub(*job.LockedAt) != 90*time.Second || !job.UpdatedAt.Equal(*job.LockedAt) {
		t.Errorf("%+v", job)
	}
	if job.Lease() != (Lease{id, token}) {
		t.Errorf("lease %v", job.Lease())
	}
}

func TestClaimSkipsWhatIsLocked(t *testing.T) {
	t.Parallel()
	q := open(t)
	locked, free := enqueue(t, q, NewJob{}), enqueue(t, q, NewJob{})
	tx := begin(t, q)
	must[any](t)(tx.Exec(t.Context(), "select from leasetop.jobs where id = $1 for update", locked))
	if jobs := take(t, q, "emails", 10); len(jobs) != 1 || jobs[0].ID != free {
		t.Errorf("claimed %v, want only job %d", jobs, free)
	}
}

func TestClaimRefusesNonsense(t *testing.T) {
	t.Parallel()
	q := open(t)
	for want, request := range map[string]ClaimRequest{
		"no name":     {Owner: "o", Lease: time.Second, Limit: 1},
		"no owner":    {Queue: "q", Lease: time.Second, Limit: 1},
		"lease of 0s": {Queue: "q", Owner: "o", Limit: 1},
		"limit of 0":  {Queue: "q", Owner: "o", Lease: time.Second},
		"the owner of the claim has 8193 bytes: the table takes 8192": {Queue: "q", Owner: strings.Repeat("o", 8193), Lease: time.Second, Limit: 1},
	} {
		if _, err := q.Claim(t.Context(), request); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if _, err := q.Reclaim(t.Context(), 0); err == nil {
		t.Error("reclaims with a limit of 0")
	}
}

// No job is claimed twice, and none is left.
func TestConcurrentClaimsShareTheQueue(t *testing.T) {
	t.Parallel()
	q := openWith(t, 16)
	const jobs = 3000
	exec(t, q, "insert into leasetop.jobs (queue) select 'emails' from generate_series(1, $1)", jobs)
	drainWith(t, q, 16, jobs)
	if n := count(t, q, "select count(*) from leasetop.jobs where status = 'completed' and attempts = 1"); n != jobs {
		t.Errorf("%d of %d jobs were completed at their first attempt", n, jobs)
	}
}

// drainWith runs claimers until every job is completed: claim, a beat, and an
// outcome of one sort or the other for each.
func drainWith(t *testing.T, q *Queue, claimers int, jobs int64) {
	t.Helper()
	var mu sync.Mutex
	var done int64
	holder := map[int64]Lease{}
	var wg sync.WaitGroup
	for n := range claimers {
		wg.Go(func() {
			for {
				mu.Lock()
				finished := done >= jobs
				mu.Unlock()
				if finished || t.Failed() || t.Context().Err() != nil {
					return
				}
				got, err := q.Claim(t.Context(), ClaimRequest{Queue: "emails", Owner: owner(), Lease: time.Minute, Limit: 1 + n*3})
				if err != nil {
					t.Errorf("claim: %v", err)
					return
				}
				var renewals []Renewal
				var leases []Lease
				mu.Lock()
				for _, job := range got {
					if other, taken := holder[job.ID]; taken {
						t.Errorf("job %d was given to %v and %v", job.ID, other, job.Lease())
					}
					holder[job.ID] = job.Lease()
					renewals, leases = append(renewals, Renewal{Lease: job.Lease(), For: time.Minute}), append(leases, job.Lease())
				}
				mu.Unlock()
				if beat, err := q.Heartbeat(t.Context(), renewals); err != nil || len(beat.Lost) > 0 {
					t.Errorf("heartbeat: lost %v, %v", beat.Lost, err)
					return
				}
				if lost, err := q.CompleteMany(t.Context(), leases); err != nil || len(lost) > 0 {
					t.Errorf("complete: lost %v, %v", lost, err)
					return
				}
				mu.Lock()
				done += int64(len(leases))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// CASES "Role default isolation": whatever a role's or a database's default,
// nobody sees 40001 and nothing is lost.
func TestRoleDefaultIsolation(t *testing.T) {
	t.Parallel()
	for level, scope := range map[string]string{"repeatable read": "database %I", "serializable": "role current_user in database %I"} {
		t.Run(level+" by "+strings.Fields(scope)[0], func(t *testing.T) {
			t.Parallel()
			q := openWith(t, 1)
			exec(t, q, fmt.Sprintf(`do $$ begin execute format('alter %s set default_transaction_isolation = %%L', current_database(), '%s'); end $$`, scope, level))
			config := q.Pool().Config()
			q = must[*Queue](t)(Open(t.Context(), config.ConnString(), Options{MaxConns: 16}))
			defer q.Close()
			var got string
			ok(t, q.Pool().QueryRow(t.Context(), "show transaction_isolation").Scan(&got))
			if got != level {
				t.Fatalf("the default is %s", got)
			}
			const jobs = 400
			var enqueuers sync.WaitGroup
			for range 4 {
				enqueuers.Go(func() {
					for n := range jobs / 4 / 5 {
						key := func(i int) NewJob { return NewJob{Queue: "emails", IdempotencyKey: fmt.Sprint(owner(), n, i)} }
						if _, err := q.Enqueue(t.Context(), key(0), key(1), key(2), key(3), key(4)); err != nil {
							t.Errorf("enqueue: %v", err)
							return
						}
					}
				})
			}
			drainWith(t, q, 16, jobs)
			enqueuers.Wait()

			// The other writers, on rows that others write too.
			exec(t, q, "update leasetop.jobs set status = 'dead', idempotency_key = null")
			ids := deadIDs(t, q, "")
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					if _, err := q.Redrive(t.Context(), "ann", ids[:40]...); err != nil {
						t.Errorf("redrive: %v", err)
					}
					for range 5 {
						jobs, err := q.Claim(t.Context(), ClaimRequest{Queue: "emails", Owner: owner(), Lease: time.Nanosecond, Limit: 10})
						if err != nil {
							t.Errorf("claim: %v", err)
						}
						if _, err := q.Reclaim(t.Context(), 10); err != nil {
							t.Errorf("reclaim: %v", err)
						}
						for _, job := range jobs {
							for _, err := range []error{errorOf(q.Release(t.Context(), job.Lease())), q.Bury(t.Context(), job.Lease(), "x")} {
								if err != nil && !strings.Contains(err.Error(), ErrLeaseLost.Error()) {
									t.Errorf("outcome: %v", err)
								}
							}
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// CASES "Claim over LIMIT": statistics from when the table was empty once made
// planners evaluate the locking subquery again and again.
func TestClaimNeverExceedsItsLimit(t *testing.T) {
	t.Parallel()
	for _, settings := range [][]string{
		{},
		{"enable_hashjoin = off"},
		{"enable_hashjoin = off", "enable_mergejoin = off", "enable_material = off"},
		{"enable_indexscan = off", "enable_bitmapscan = off", "enable_indexonlyscan = off"},
		{"enable_nestloop = off", "enable_hashjoin = off"},
		{"plan_cache_mode = force_generic_plan", "enable_hashjoin = off", "enable_sort = off"},
		{"plan_cache_mode = force_custom_plan", "enable_seqscan = off"},
	} {
		t.Run(strings.Join(settings, ", "), func(t *testing.T) {
			t.Parallel()
			q := openWith(t, 4, settings...)
			exec(t, q, "alter table leasetop.jobs set (autovacuum_enabled = off)")
			exec(t, q, "analyze leasetop.jobs")
			exec(t, q, "insert into leasetop.jobs (queue) select 'emails' from generate_series(1, 50000)")
			held := 0
			for n := range 8 {
				limit := []int{1, 1, 7, 1}[n%4]
				jobs := take(t, q, "emails", limit)
				if held += limit; len(jobs) != limit {
					t.Errorf("claimed %d jobs with a limit of %d", len(jobs), limit)
				}
			}
			if n := count(t, q, "select count(*) from leasetop.jobs where status = 'processing'"); n != int64(held) {
				t.Errorf("%d in processing, want %d", n, held)
			}
		})
	}
}

// CASES "Counters at the edge": whatever attempts a row comes with, it is
// claimed, and a failure ends it or delays it within the bounds of the backoff.
func TestCountersAtTheEdge(t *testing.T) {
	t.Parallel()
	q := open(t)
	for _, attempts := range []int{0, 31, 62, 63, 64, 310, 30000, math.MaxInt32 - 1, math.MaxInt32} {
		for _, most := range []int{1, 5, math.MaxInt32} {
			queue := fmt.Sprint(attempts, " of ", most)
			exec(t, q, "insert into leasetop.jobs (queue, attempts, max_attempts) values ($1, $2, $3)", queue, attempts, most)
			job := claimFrom(t, q, queue, time.Minute)
			counted := min(attempts, math.MaxInt32-1) + 1
			if job.Attempts != counted {
				t.Errorf("%s: claimed as attempt %d", queue, job.Attempts)
			}
			status := must[Status](t)(q.Retry(t.Context(), job.Lease(), "x", DefaultBackoff(job.Attempts)))
			after := get(t, q, job.ID)
			if last := counted >= most; last != (status == Failed) || !last && status != Pending {
				t.Errorf("%s: %s", queue, status)
			}
			if delay := after.RunAt.Sub(after.UpdatedAt); status == Pending && (delay < 2*time.Minute || delay > 71*time.Minute) {
				t.Errorf("%s: delayed by %v", queue, delay)
			}
		}
	}
}

func TestDefaultBackoffIsBounded(t *testing.T) {
	t.Parallel()
	for attempts, minutes := range map[int]int{
		math.MinInt: 1, -1: 1, 0: 1, 1: 2, 2: 4, 5: 32, 6: 64, 7: 64, 31: 64, 63: 64, 64: 64, 310: 64, 30000: 64, math.MaxInt: 64,
	} {
		least := time.Duration(minutes) * time.Minute
		for range 100 {
			if got := DefaultBackoff(attempts); got < least || got > least+least/10 {
				t.Fatalf("after %d attempts %v, want %v and up to a tenth", attempts, got, least)
			}
		}
	}
}
