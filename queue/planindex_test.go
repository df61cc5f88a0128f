package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The statements of redrive plans read what they move, once, and no more, whatever is known of
// the tables: a plan of many is executed before anybody has analyzed it.
func TestPlansOfRedrivePlans(t *testing.T) {
	t.Parallel()
	tables := map[string]*Queue{"fresh": redriveTable(t), "stale": redriveTable(t)}
	exec(t, tables["fresh"], "vacuum analyze")
	const mine = "1, 'me'"
	jobs := []string{"redrive_jobs_pkey", "jobs_pkey"}
	batch := append(jobs, "jobs_idempotency", "jobs_archive_pkey", "redrive_plans_pkey")
	for _, c := range []struct {
		statement, args string
		indexes         []string
	}{
		{statement: "plan_redrive", args: mine + ", 30000, 500, 10", indexes: append(batch, "redrive_jobs_once")},
		{statement: "plan_redrive", args: mine + ", 30000, 5, 10", indexes: append(batch, "redrive_jobs_once")},
		{statement: "plan_skip", args: mine + ", 30000, 'why', 10", indexes: batch},
		{statement: "plan_undo", args: mine + ", 30000, 500, 10", indexes: batch},
		{statement: "plan_undo_skip", args: mine + ", 30000, 'why', 10", indexes: batch},
		{statement: "plan_outcomes", args: "1, 20000, 30000", indexes: jobs},
		{statement: "plan_jobs", args: "1, 230001, null, 50", indexes: append(batch, "redrive_jobs_once")},
		{statement: "plan_jobs", args: "1, 0, '{left}', 50", indexes: append(batch, "redrive_jobs_once")},
		{statement: "plan_skipped", args: "1, 230001, '{skipped}', 50", indexes: append(batch, "redrive_jobs_once", "redrive_jobs_reasons")},
		{statement: "plan_jobs", args: "1, 0, '{skipped,undone}', 50", indexes: append(batch, "redrive_jobs_once")},
	} {
		for statistics, q := range tables {
			for _, mode := range []string{"custom", "generic"} {
				t.Run(fmt.Sprintf("%s(%s) %s %s", c.statement, c.args, statistics, mode), func(t *testing.T) {
					t.Parallel()
					looks := 0
					as := ""
					if !slices.Contains([]string{"plan_outcomes", "plan_jobs", "plan_skipped"}, c.statement) {
						as = "plan_patience"
					}
					for _, node := range planOf(t, q, c.statement, c.args, mode, as) {
						if node.Relation == "jobs" {
							looks++
						}
						if node.Type == "Nested Loop" {
							if inner := node.Plans[1]; inner.Type == "CTE Scan" && inner.CTE != "mine" || strings.Contains(inner.Cond, "ANY") {
								t.Errorf("reads %s%s once for each job", inner.CTE, inner.Index)
							}
						}
						switch {
						case node.Index != "" && !slices.Contains(c.indexes, node.Index):
							t.Errorf("uses %s", node.Index)
						case (strings.HasSuffix(node.Type, "Seq Scan") || strings.HasPrefix(node.Type, "Index") && node.Cond == "") && slices.Contains([]string{"jobs", "jobs_archive", "redrive_jobs"}, node.Relation):
							t.Errorf("reads all of %s", node.Relation)
						}
					}
					if c.statement == "plan_outcomes" && looks != 1 {
						t.Errorf("looks each job up %d times", looks)
					}
				})
			}
		}
	}
}

// redriveTable is a [planTable] with a plan of all its dead letters and of many jobs more, as large as its jobs.
func redriveTable(t *testing.T) *Queue {
	t.Helper()
	q := planTable(t)
	for _, table := range []string{"redrive_jobs", "redrive_plans"} {
		exec(t, q, "alter table leasetop."+table+" set (autovacuum_enabled = off)")
		exec(t, q, "analyze leasetop."+table)
	}
	ids := make([]int64, 250_000)
	for i := range ids {
		ids[i] = int64(i) + 200_001
	}
	started(t, q, NewPlan{IDs: ids})
	return q
}
