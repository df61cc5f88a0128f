package queue

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// deadLetters makes n dead letters of the queue emails, an hour old, and returns their
// ids; a trigger keeps a ledger of who comes back to life, and who is taken back.
func deadLetters(t testing.TB, q *Queue, n int) []int64 {
	t.Helper()
	ids, err := pgx.CollectRows(must[pgx.Rows](t)(q.pool.Query(t.Context(), `insert into leasetop.jobs (queue, kind, payload, status, attempts, run_at, last_error, errors, updated_at)
		select 'emails', 'send', jsonb_build_object('n', n), case n % 2 when 0 then 'dead' else 'failed' end, 1 + n % 5, now() - interval '2 hours', 'SMTP 421', '[{"attempt": 1, "outcome": "failed", "at": "2030-01-01T00:00:00Z"}]', now() - interval '1 hour'
		from generate_series(1, $1) n returning id`, n)), pgx.RowTo[int64])
	ok(t, err)
	return ids
}

// keepLedger notes every redrive, and every one taken back, whoever does it.
func keepLedger(t testing.TB, q *Queue) {
	t.Helper()
	exec(t, q, `create table ledger (id bigint, what text);
		create function note() returns trigger language plpgsql as $$ begin
			insert into ledger values (new.id, case new.status when 'pending' then 'redriven' else 'back' end);
			return null;
		end $$;
		create trigger note after update on leasetop.jobs for each row
			when ((old.status in ('failed', 'dead') and new.status = 'pending') or (old.status = 'pending' and new.status in ('failed', 'dead')))
			execute function note()`)
}

// noted returns how many entries the ledger has, of how many jobs.
func noted(t testing.TB, q *Queue, what string, ids []int64) (entries, jobs int64) {
	t.Helper()
	ok(t, q.pool.QueryRow(t.Context(), "select count(*), count(distinct id) from ledger where what = $1 and id = any($2)", what, ids).Scan(&entries, &jobs))
	return entries, jobs
}

const ann, bob = "ann@laptop", "bob@desk"

func started(t testing.TB, q *Queue, p NewPlan) Plan {
	t.Helper()
	return must[Plan](t)(q.StartPlan(t.Context(), ann, p))
}

func executed(t testing.TB, q *Queue, id int64) Plan {
	t.Helper()
	p := must[Plan](t)(q.ExecutePlan(t.Context(), id, nil))
	addsUp(t, p)
	return p
}

// addsUp checks what a plan counts.
func addsUp(t testing.TB, p Plan) {
	t.Helper()
	if p.Waiting+p.Redriven+p.Skipped+p.Undone+p.Left != p.Total || p.Completed+p.DiedAgain+p.Running+p.Pending+p.Gone != p.Redriven {
		t.Errorf("it does not add up: %+v", p)
	}
}

// A server that ends statements early is named with the setting to raise.
func TestPlanThatTakesLongerThanAStatementMaySaysWhatToRaise(t *testing.T) {
	t.Parallel()
	q := open(t)
	p := started(t, q, NewPlan{IDs: deadLetters(t, q, 3)})
	config := q.Pool().Config().Copy()
	config.ConnConfig.RuntimeParams["statement_timeout"] = "100ms"
	pool := must[*pgxpool.Pool](t)(pgxpool.NewWithConfig(t.Context(), config))
	defer pool.Close()
	hasty := must[*Queue](t)(New(pool, ""))
	tx := must[pgx.Tx](t)(q.Pool().Begin(t.Context()))
	defer tx.Rollback(t.Context())
	_, err := tx.Exec(t.Context(), "lock leasetop.redrive_plans, leasetop.redrive_jobs")
	ok(t, err)
	for name, act := range map[string]func() (Plan, error){
		"start": func() (Plan, error) { return hasty.StartPlan(t.Context(), ann, NewPlan{IDs: []int64{1}}) },
		"pause": func() (Plan, error) { return hasty.PausePlan(t.Context(), ann, "", p.ID) },
	} {
		if _, err := act(); err == nil || !strings.Contains(err.Error(), "raise that, as by ALTER ROLE") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// CASES "More than a page": ten thousand, and new ones while it goes on.
func TestPlanRedrivesItsSetAndNothingElse(t *testing.T) {
	t.Parallel()
	q := open(t)
	keepLedger(t, q)
	ids := deadLetters(t, q, 10_000)
	p := started(t, q, NewPlan{IDs: append(ids, ids[:100]...), Filter: "queue:emails", Reason: "the relay is back"})
	if p.State != PlanRunning || p.Total != 10_000 || p.Waiting != 10_000 || p.By != ann || p.StateBy != ann || p.Filter != "queue:emails" || p.Reason != "the relay is back" {
		t.Errorf("started: %+v", p)
	}
	var told []Plan
	p = must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, func(p Plan) {
		addsUp(t, p)
		told = append(told, p)
		deadLetters(t, q, 1)
	}))
	addsUp(t, p)
	if p.State != PlanDone || p.Redriven != 10_000 || p.Pending != 10_000 || p.Executor != "" || p.EndedAt == nil {
		t.Errorf("done: %+v", p)
	}
	if entries, jobs := noted(t, q, "redriven", ids); entries != 10_000 || jobs != 10_000 {
		t.Errorf("%d redrives of %d jobs", entries, jobs)
	}
	if n := count(t, q, "select count(*) from ledger"); n != 10_000 {
		t.Errorf("%d redrives in all", n)
	}
	if n := len(told); n < 20 || !slices.IsSortedFunc(told, func(a, b Plan) int { return int(a.Redriven - b.Redriven) }) {
		t.Errorf("told %d times: %+v", n, told)
	}
	job := get(t, q, ids[0])
	if last := job.Errors[len(job.Errors)-1]; last.Worker != fmt.Sprintf("%s (plan %d)", ann, p.ID) || last.Outcome != "redriven" || job.Attempts != 0 {
		t.Errorf("its history ends with %+v", last)
	}
}

func TestPlanThatIsGivenUpGoesOnLater(t *testing.T) {
	t.Parallel()
	q := open(t)
	keepLedger(t, q)
	ids := deadLetters(t, q, 3000)
	p := started(t, q, NewPlan{IDs: ids})
	ctx, cancel := context.WithCancel(t.Context())
	p, err := q.ExecutePlan(ctx, p.ID, func(p Plan) {
		if p.Redriven > 0 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || p.State != PlanRunning || p.Redriven == 0 {
		t.Fatalf("%+v %v", p, err)
	}
	if p = must[Plan](t)(q.Plan(t.Context(), p.ID)); p.Executor != "" || p.Alone != 0 || p.Waiting == 0 {
		t.Errorf("given up: %+v", p)
	}
	p = executed(t, q, p.ID)
	if entries, jobs := noted(t, q, "redriven", ids); p.Redriven != 3000 || entries != 3000 || jobs != 3000 {
		t.Errorf("%d redrives of %d jobs: %+v", entries, jobs, p)
	}
}

// CASES "Redrive-all that never ends": two hundred that fail at once again.
func TestPlanOfJobsThatFailAtOnceEnds(t *testing.T) {
	t.Parallel()
	q := open(t)
	keepLedger(t, q)
	ids := deadLetters(t, q, 200)
	ctx, cancel := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for ctx.Err() == nil {
				jobs, err := q.Claim(t.Context(), ClaimRequest{Queue: "emails", Owner: owner(), Lease: time.Minute, Limit: 1})
				if err != nil {
					t.Error(err)
					return
				}
				for _, job := range jobs {
					if err := q.Bury(t.Context(), job.Lease(), "again"); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	plan := started(t, q, NewPlan{IDs: ids})
	e := newExecution(q, plan.ID, nil)
	e.most = 7
	ok(t, e.run(t.Context()))
	for {
		if plan = must[Plan](t)(q.Plan(t.Context(), plan.ID)); plan.DiedAgain == 200 {
			break
		}
	}
	cancel()
	workers.Wait()
	if entries, jobs := noted(t, q, "redriven", ids); entries != 200 || jobs != 200 || plan.State != PlanDone || plan.Redriven != 200 {
		t.Errorf("%d redrives of %d jobs: %+v", entries, jobs, plan)
	}
}

// CASES "Fresh budget": three times quickly, by two operators, on a job that runs.
func TestPlansOfOneJobRedriveItOnce(t *testing.T) {
	t.Parallel()
	q := open(t)
	keepLedger(t, q)
	ids := []int64{buried(t, q, NewJob{MaxAttempts: 1})}
	var pressed sync.WaitGroup
	plans := make([]Plan, 6)
	for i := range plans {
		pressed.Go(func() {
			p, err := q.StartPlan(t.Context(), []string{ann, bob}[i%2], NewPlan{IDs: ids})
			if err == nil {
				p, err = q.ExecutePlan(t.Context(), p.ID, nil)
			}
			if err != nil {
				t.Error(err)
			}
			plans[i] = p
		})
	}
	pressed.Wait()
	redriven, skipped := int64(0), int64(0)
	for _, p := range plans {
		redriven, skipped = redriven+p.Redriven, skipped+p.Skipped
	}
	if entries, _ := noted(t, q, "redriven", ids); entries != 1 || redriven != 1 || skipped != 5 {
		t.Errorf("%d redrives; %d redriven, %d skipped", entries, redriven, skipped)
	}
	if job := get(t, q, ids[0]); job.Attempts != 0 || len(job.Errors) != 2 {
		t.Errorf("%+v", job)
	}
	claim(t, q, time.Minute)
	p := executed(t, q, started(t, q, NewPlan{IDs: ids}).ID)
	if jobs := must[[]PlanJob](t)(q.PlanJobs(t.Context(), p.ID, 0, 10)); jobs[0].Reason != "not a dead letter: processing" {
		t.Errorf("on a running job: %+v", jobs)
	}
}

// CASES "Silent loss": fifteen thousand, and retention on.
func TestPlanAndRetentionLoseNothing(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := deadLetters(t, q, 6000)
	p := started(t, q, NewPlan{IDs: ids[:2000]})
	p = must[Plan](t)(q.ExecutePlan(t.Context(), p.ID, func(Plan) {
		for _, job := range must[[]Job](t)(q.Claim(t.Context(), ClaimRequest{Queue: "emails", Owner: owner(), Lease: time.Minute, Limit: 200})) {
			ok(t, q.Complete(t.Context(), job.Lease()))
		}
		must[Purged](t)(q.Purge(t.Context(), Purge{What: PurgeCompleted}, nil))
	}))
	if p = must[Plan](t)(q.Plan(t.Context(), p.ID)); p.Gone == 0 || p.Redriven != 2000 {
		t.Errorf("%+v", p)
	}
	addsUp(t, p)
	if dead := deadIDs(t, q, ""); !slices.Equal(slices.Sorted(slices.Values(dead)), ids[2000:]) {
		t.Errorf("%d dead letters are left", len(dead))
	}
	if n := count(t, q, "select count(*) from leasetop.jobs"); n != 6000-p.Gone {
		t.Errorf("%d jobs, and %d were purged when they were completed", n, p.Gone)
	}
}

func TestPlanOfNothingIsNone(t *testing.T) {
	t.Parallel()
	q := open(t)
	for _, p := range []NewPlan{{}, {IDs: []int64{1}, Canary: -1}, {IDs: []int64{1}, Pace: -1}, {IDs: []int64{1}, StopAt: new(101)}, {IDs: []int64{1}, StopAt: new(-1)}, {IDs: []int64{1}, Pace: MaxPace + 1}, {IDs: []int64{1}, Pace: math.Inf(1)}, {IDs: []int64{1}, Pace: math.NaN()}} {
		if _, err := q.StartPlan(t.Context(), ann, p); err == nil {
			t.Errorf("started %+v", p)
		}
	}
	if plans := must[[]Plan](t)(q.Plans(t.Context(), 0, 10)); len(plans) != 0 {
		t.Errorf("%+v", plans)
	}
	for _, err := range []error{
		errorOfPlan(q.Plan(t.Context(), 1)), errorOfPlan(q.ExecutePlan(t.Context(), 1, nil)), errorOfPlan(q.PausePlan(t.Context(), ann, "", 1)),
	} {
		if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "there is no plan 1") {
			t.Error(err)
		}
	}
}

func errorOfPlan(_ Plan, err error) error { return err }

func TestPlansAreListedByPages(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := deadLetters(t, q, 5)
	for range 3 {
		started(t, q, NewPlan{IDs: ids})
	}
	executed(t, q, 2)
	first := must[[]Plan](t)(q.Plans(t.Context(), 0, 2))
	if len(first) != 2 || first[0].ID != 3 || first[1].ID != 2 || first[1].Redriven != 5 || first[1].State != PlanDone {
		t.Errorf("%+v", first)
	}
	if rest := must[[]Plan](t)(q.Plans(t.Context(), 2, 2)); len(rest) != 1 || rest[0].ID != 1 {
		t.Errorf("%+v", rest)
	}
	page := must[[]PlanJob](t)(q.PlanJobs(t.Context(), 2, ids[1], 2, "redriven", "skipped"))
	if len(page) != 2 || page[0].ID != ids[2] || page[1].ID != ids[3] || page[0].At == nil || page[0].Status != Pending {
		t.Errorf("%+v", page)
	}
}
