package queue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever operators, executors and workers do to plans and jobs in whatever order, what a
// plan says is what happened: each job redriven once at most, and taken back only as it was.
func TestPlansUnderEverythingAtOnce(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, `create table ledger (id bigint, what text, by text);
		create function note() returns trigger language plpgsql as $$ begin
			insert into ledger values (new.id, new.errors -> -1 ->> 'outcome', new.errors -> -1 ->> 'worker');
			return null;
		end $$;
		create trigger note after update on leasetop.jobs for each row
			when ((old.status in ('failed', 'dead') and new.status = 'pending') or (old.status = 'pending' and new.status in ('failed', 'dead')))
			execute function note()`)
	rapid.Check(t, func(r *rapid.T) {
		exec(t, q, "truncate ledger, leasetop.jobs, leasetop.jobs_archive, leasetop.redrive_plans, leasetop.redrive_jobs")
		q.Forget("emails")
		ids := deadLetters(t, q, 12)
		exec(t, q, "update leasetop.jobs set idempotency_key = 'k' || id % 3 where id = any($1)", ids[:5])
		var plans []Plan
		executions := map[int64]*execution{}
		aPlan := func(r *rapid.T) Plan {
			if len(plans) == 0 {
				r.Skip("no plan")
			}
			return rapid.SampledFrom(plans).Draw(r, "plan")
		}
		aJob := func(r *rapid.T) int64 { return rapid.SampledFrom(ids).Draw(r, "job") }
		refused := func(_ Plan, err error) {
			if err != nil && !errors.Is(err, ErrPlanState) {
				r.Fatal(err)
			}
		}
		claimed := map[int64]Lease{}
		r.Repeat(map[string]func(*rapid.T){
			"start": func(r *rapid.T) {
				if len(plans) == 4 {
					r.Skip("enough plans")
				}
				some := rapid.SliceOfN(rapid.SampledFrom(ids), 1, 12).Draw(r, "jobs")
				plans = append(plans, started(t, q, NewPlan{
					IDs: some, Canary: rapid.IntRange(0, 3).Draw(r, "canary"), Wait: rapid.Bool().Draw(r, "wait"), StopAt: rapid.SampledFrom([]*int{nil, new(0), new(30)}).Draw(r, "stop at"),
				}))
			},
			"execute": func(r *rapid.T) {
				p := aPlan(r)
				e := executions[p.ID]
				if e == nil {
					e = newExecution(q, p.ID, nil)
					e.most, executions[p.ID] = 3, e
				}
				e.tally.next = time.Time{}
				_, over, err := e.step(context.Background())
				switch {
				case errors.Is(err, ErrPlanTaken): // by one that was killed
					leaseRunsOut(t, q, p.ID)
				case err != nil:
					r.Fatal(err)
				}
				if over {
					e.release(context.Background())
				}
				if over || err != nil {
					delete(executions, p.ID)
				}
			},
			"kill":    func(r *rapid.T) { delete(executions, aPlan(r).ID) },
			"pause":   func(r *rapid.T) { refused(q.PausePlan(context.Background(), bob, "", aPlan(r).ID)) },
			"resume":  func(r *rapid.T) { refused(q.ResumePlan(context.Background(), bob, "", aPlan(r).ID)) },
			"cancel":  func(r *rapid.T) { refused(q.CancelPlan(context.Background(), bob, "", aPlan(r).ID)) },
			"undo":    func(r *rapid.T) { refused(q.UndoPlan(context.Background(), bob, "", aPlan(r).ID)) },
			"redrive": func(r *rapid.T) { must[Done](t)(q.Redrive(context.Background(), "carl", aJob(r))) },
			"discard": func(r *rapid.T) { must[Done](t)(q.Discard(context.Background(), "carl", "", aJob(r))) },
			"restore": func(r *rapid.T) { must[Done](t)(q.Restore(context.Background(), "carl", aJob(r))) },
			"claim": func(*rapid.T) {
				q.Forget("emails")
				for _, j := range must[[]Job](t)(q.Claim(context.Background(), ClaimRequest{Queue: "emails", Owner: owner(), Lease: time.Hour, Limit: 2})) {
					claimed[j.ID] = j.Lease()
				}
			},
			"end": func(r *rapid.T) {
				for _, id := range slices.Sorted(maps.Keys(claimed)) {
					lease := claimed[id]
					switch rapid.IntRange(0, 3).Draw(r, "how") {
					case 0:
						ok(t, q.Complete(context.Background(), lease))
					case 1:
						ok(t, q.Bury(context.Background(), lease, "again"))
					case 2:
						ok(t, errorOf(q.Retry(context.Background(), lease, "again", 0)))
					case 3:
						ok(t, errorOf(q.Release(context.Background(), lease)))
					}
					delete(claimed, id)
				}
			},
			"": func(r *rapid.T) {
				for _, p := range plans {
					p = must[Plan](t)(q.Plan(context.Background(), p.ID))
					addsUp(t, p)
					by := fmt.Sprintf("%s (plan %d)", ann, p.ID)
					if twice := count(t, q, "select count(*) from (select from ledger where by = $1 and what = 'redriven' group by id having count(*) > 1) x", by); twice > 0 {
						r.Fatalf("%d jobs were redriven twice by plan %d", twice, p.ID)
					}
					rows := func(state string) int64 {
						return count(t, q, "select count(*) from leasetop.redrive_jobs where plan = $1 and state = $2", p.ID, state)
					}
					redriven, back := count(t, q, "select count(*) from ledger where by = $1", by), count(t, q, "select count(*) from ledger where by = $1", fmt.Sprintf("%s (plan %d)", bob, p.ID))
					if redriven != p.Redriven+p.Undone || rows("redriven") != p.Redriven || rows("undone") != p.Undone || back != p.Undone || rows("skipped") != p.Skipped {
						r.Fatalf("%d were redriven and %d taken back: %+v", redriven, back, p)
					}
				}
			},
		})
	})
}
