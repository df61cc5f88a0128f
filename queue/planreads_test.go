package queue

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// readNode is a node of a plan with what it did.
type readNode struct {
	node
	Rows        float64 `json:"Actual Rows"`
	Loops       float64 `json:"Actual Loops"`
	Filtered    float64 `json:"Rows Removed by Filter"`
	Unjoined    float64 `json:"Rows Removed by Join Filter"`
	Rechecked   float64 `json:"Rows Removed by Index Recheck"`
	Plans       []readNode
	SharedHit   float64 `json:"Shared Hit Blocks"`
	SharedReads float64 `json:"Shared Read Blocks"`
}

// The third plan of many is executed with the statistics of the first, which know nothing of it: what
// each statement reads is what it moves, not what the plans have.
func TestLaterPlansReadWhatTheyMove(t *testing.T) {
	t.Parallel()
	const each, n = 30_000, 500
	q := open(t)
	for _, table := range []string{"redrive_jobs", "redrive_plans", "jobs"} {
		exec(t, q, "alter table leasetop."+table+" set (autovacuum_enabled = off)")
	}
	ids := deadLetters(t, q, 3*each)
	exec(t, q, "analyze leasetop.jobs")
	for i := range 3 {
		id := started(t, q, NewPlan{IDs: ids[i*each : (i+1)*each]}).ID
		exec(t, q, "update leasetop.redrive_plans set token = 'me', executor_until = 'infinity' where id = "+fmt.Sprint(id))
		if i == 0 {
			exec(t, q, "analyze leasetop.redrive_jobs")
			exec(t, q, "analyze leasetop.redrive_plans")
		}
	}
	const batch, patience = "3, 'me', 10000, 500, 10", "plan_patience"
	undoing := `update leasetop.redrive_jobs set state = 'redriven', at = jobs.updated_at, status = 'dead', attempts = 3, run_at = now(), updated_at = now()
			from leasetop.jobs where jobs.id = job_id and plan = 3 and position between 9001 and 10000;
		update leasetop.jobs set status = 'pending', attempts = 0 where id in (select job_id from leasetop.redrive_jobs where plan = 3 and position between 9001 and 10000);
		update leasetop.redrive_jobs set at = jobs.updated_at from leasetop.jobs where jobs.id = job_id and plan = 3 and state = 'redriven';
		update leasetop.redrive_plans set state = 'undoing', reached = 10000, redriven = 10000, taken = 10000 where id = 3`
	reached := "update leasetop.redrive_plans set reached = 10000, redriven = 10000 where id = 3"
	back := `update leasetop.redrive_jobs set state = 'redriven', at = now() where plan = 3;
		update leasetop.redrive_plans set reached = total, redriven = total where id = 3`
	skipped := "update leasetop.redrive_jobs set state = 'skipped', reason = 'no such job' where plan = 3 and position % 300 = 0"
	for _, c := range []struct {
		name, before, statement, args, as string
		buffers                           float64
	}{
		{"redrive", reached, "plan_redrive", batch, patience, 30_000},
		{"skip", reached, "plan_skip", "3, 'me', 10000, 'why', 10", patience, 200},
		{"undo", undoing, "plan_undo", batch, patience, 30_000},
		{"skip in an undo", undoing, "plan_undo_skip", "3, 'me', 10000, 'why', 10", patience, 200},
		{"count", undoing, "plan_outcomes", "3, 9500, 10000", "", 10_000},
		{"jobs from the middle", reached, "plan_jobs", fmt.Sprintf("3, %d, null, 500", ids[2*each+15_000]), "", 10_000},
		{"jobs waiting", reached, "plan_jobs", "3, 0, '{waiting}', 500", "", 10_000},
		{"jobs that went wrong, at the canary", "update leasetop.redrive_plans set reached = 5, redriven = 5 where id = 3", "plan_jobs", "3, 0, '{redriven,skipped}', 500", "", 200},
		{"jobs that went wrong, when all are back", back, "plan_jobs", "3, 0, '{redriven,skipped}', 500", "", 10_000},
		{"jobs not taken back", back + "; update leasetop.redrive_jobs set reason = 'running' where plan = 3 and position = 29999", "plan_skipped", "3, 0, '{redriven,skipped}', 500", "", 3_000},
		{"jobs skipped", skipped, "plan_skipped", fmt.Sprintf("3, %d, '{skipped}', 50", ids[2*each+15_000]), "", 3_000},
	} {
		for _, mode := range []string{"custom", "generic"} {
			t.Run(c.name+" "+mode, func(t *testing.T) {
				nodes, text := reads(t, q, c.before, c.statement, c.args, mode, c.as)
				if strings.Contains(text, `"JIT"`) {
					t.Error("is compiled, which takes longer than what it does")
				}
				top := nodes[0]
				for _, r := range nodes {
					// Two statements of one batch may be gone through by one node.
					if rows := r.Loops * (r.Rows + r.Filtered + r.Unjoined + r.Rechecked); rows > 4*n {
						t.Errorf("%s of %s%s%s goes through %.0f rows", r.Type, r.Relation, r.CTE, r.Index, rows)
					}
				}
				if buffers := top.SharedHit + top.SharedReads; buffers > c.buffers {
					t.Errorf("%.0f buffers", buffers)
				}
				if t.Failed() {
					t.Log(text)
				}
			})
		}
	}
}

// reads executes a statement, in a transaction that is rolled back, and tells what its plan read.
func reads(t *testing.T, q *Queue, before, statement, args, mode, as string) (all []readNode, text string) {
	t.Helper()
	tx := must[pgx.Tx](t)(q.Pool().Begin(t.Context()))
	defer tx.Rollback(t.Context())
	first := []string{before, "set local plan_cache_mode = force_" + mode + "_plan"}
	if as != "" {
		first = append(first, q.Schema().Query(as))
	}
	for _, sql := range append(first, "prepare reading as "+q.Schema().Query(statement)) {
		_, err := tx.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
		ok(t, err)
	}
	defer func() {
		_, err := tx.Exec(t.Context(), "deallocate reading")
		ok(t, err)
	}()
	ok(t, tx.QueryRow(t.Context(), "explain (analyze, buffers, format json) execute reading("+args+")", pgx.QueryExecModeSimpleProtocol).Scan(&text))
	var plans []struct{ Plan readNode }
	ok(t, json.Unmarshal([]byte(text), &plans))
	left := []readNode{plans[0].Plan}
	for len(left) > 0 {
		n := left[0]
		left = append(left[1:], n.Plans...)
		all = append(all, n)
	}
	return all, text
}
