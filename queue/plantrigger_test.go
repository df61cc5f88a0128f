package queue

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// app puts a trigger of the application's on the table of jobs, before each update.
func app(t testing.TB, q *Queue, body string) {
	t.Helper()
	exec(t, q, "create function app() returns trigger language plpgsql as $$ begin "+body+"; return new; end $$")
	exec(t, q, "create trigger app before update on leasetop.jobs for each row execute function app()")
}

// A trigger that keeps a time of its own in updated_at is no change of somebody else's.
func TestUndoKnowsItsRedriveBesideATriggerThatTouchesRows(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := deadLetters(t, q, 4)
	app(t, q, "new.updated_at := clock_timestamp()")
	p := executed(t, q, started(t, q, NewPlan{IDs: ids}).ID)
	must[Plan](t)(q.UndoPlan(t.Context(), bob, "", p.ID))
	if p = executed(t, q, p.ID); p.State != PlanUndone || p.Undone != 4 || p.Redriven != 0 {
		t.Errorf("%+v", p)
	}
}

// A row that a trigger makes dead again as it is redriven was not redriven.
func TestRedriveCountsWhatATriggerLeftPending(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := deadLetters(t, q, 4)
	app(t, q, "if new.status = 'pending' and new.id % 2 = 0 then new.status := 'dead'; end if")
	p := executed(t, q, started(t, q, NewPlan{IDs: ids[:2]}).ID)
	if p.Redriven != 1 || p.Skipped != 1 || p.DiedAgain != 0 {
		t.Errorf("the plan: %+v", p)
	}
	result := must[Done](t)(q.Redrive(t.Context(), ann, ids[2:]...))
	if len(result.IDs) != 1 || len(result.Skipped) != 1 {
		t.Errorf("by ids: %+v", result)
	}
}

// A job that takes longer than a statement may holds up no other of its batch.
func TestPlanPassesOverAJobThatTakesLongerThanAStatementMay(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := deadLetters(t, q, 20)
	exec(t, q, "create table slow as select $1::bigint as id", ids[7])
	app(t, q, "if new.status = 'pending' and new.id in (select id from slow) then perform pg_sleep(60); end if")
	config := q.Pool().Config().Copy()
	config.ConnConfig.RuntimeParams["statement_timeout"] = "200ms"
	pool := must[*pgxpool.Pool](t)(pgxpool.NewWithConfig(t.Context(), config))
	t.Cleanup(pool.Close)
	hasty := must[*Queue](t)(New(pool, ""))
	p := executed(t, hasty, started(t, hasty, NewPlan{IDs: ids}).ID)
	if p.State != PlanDone || p.Redriven != 19 || p.Skipped != 1 {
		t.Fatalf("%+v", p)
	}
	passed := must[[]PlanJob](t)(q.PlanJobs(t.Context(), p.ID, 0, 20, "skipped"))
	for _, j := range passed {
		if want := "the server refuses it: it takes longer than this role's statement_timeout of 200ms"; j.State == "skipped" && (j.ID != ids[7] || j.Reason != want) {
			t.Errorf("%+v", j)
		}
	}
}
