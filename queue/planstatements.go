package queue

import (
	"fmt"
	"strings"

	"github.com/leasetop/leasetop/queue/filter"
)

// Statement is one that the database is sent, for a person to read.
type Statement struct {
	About  string   // what it does, in a few words
	SQL    string   // as it is sent
	Values []string // of $1, $2 and so on; those that are not known before are described
}

// PlanStatements returns the statements of a plan as [Queue.Matching], where a filter
// chose its jobs, [Queue.StartPlan] and [Queue.ExecutePlan] send them, without sending any.
func (q *Queue) PlanStatements(p NewPlan) []Statement {
	statements := make([]Statement, 0, 4)
	if p.Filter != "" {
		statements = append(statements, q.choice(p.Filter))
	}
	named := make([]string, 0, 6)
	for _, id := range p.IDs[:min(len(p.IDs), 5)] {
		named = append(named, fmt.Sprint(id))
	}
	if len(p.IDs) > 5 {
		named = append(named, fmt.Sprintf("… %d in all", len(p.IDs)))
	}
	return append(statements,
		Statement{
			About:  "fixes the set, in one transaction with the plan",
			SQL:    q.schema.Query("plan_add"),
			Values: []string{"the plan's id", "how many were added before", "{" + strings.Join(named, ", ") + "}"},
		},
		Statement{
			About:  "redrives a batch of it, again and again, each time in a transaction of its own",
			SQL:    q.schema.Query("plan_redrive"),
			Values: []string{"the plan's id", "the fencing token of whoever executes it", "how far the plan is", "how many jobs, by the pace", "the lease in seconds"},
		},
		Statement{
			About:  "counts what has become of them, to stop when too many died again",
			SQL:    q.schema.Query("plan_outcomes"),
			Values: []string{"the plan's id", "after this position", "up to this one"},
		})
}

// choice is the statement that finds the dead letters that pass a filter.
func (q *Queue) choice(text string) Statement {
	queues, path, wide := "NULL for all, or the one", "each of the filters in turn, as a jsonpath predicate on leasetop.facts", "whether that looks at payloads"
	if where, err := filter.Parse(text); err == nil {
		path, wide = where.Path(), fmt.Sprint(where.Wide())
		if names := where.Queues(); names != nil {
			queues = strings.Join(names, ", then ")
		}
	}
	return Statement{
		About: "chose them, a bounded stretch of the index at a time, oldest death first",
		SQL:   q.schema.Query("dead_matching"),
		Values: []string{
			queues, "after this queue", "this death", "and this id", "up to this queue", "this death", "and this id",
			"statuses; NULL for failed and dead", path, wide,
		},
	}
}
