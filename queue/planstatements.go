package queue

import (
	"fmt"
	"strings"
)

// Statement is one that the database is sent, for a person to read.
type Statement struct {
	About  string   // what it does, in a few words
	SQL    string   // as it is sent
	Values []string // of $1, $2 and so on; those that are not known before are described
}

// PlanStatements returns the statements of a plan as [Queue.StartPlan] and
// [Queue.ExecutePlan] send them, without sending any.
func (q *Queue) PlanStatements(p NewPlan) []Statement {
	named := make([]string, 0, 6)
	for _, id := range p.IDs[:min(len(p.IDs), 5)] {
		named = append(named, fmt.Sprint(id))
	}
	if len(p.IDs) > 5 {
		named = append(named, fmt.Sprintf("… %d in all", len(p.IDs)))
	}
	return []Statement{
		{
			About:  "fixes the set, in one transaction with the plan",
			SQL:    q.schema.Query("plan_add"),
			Values: []string{"the plan's id", "how many were added before", "{" + strings.Join(named, ", ") + "}"},
		},
		{
			About:  "redrives a batch of it, again and again, each time in a transaction of its own",
			SQL:    q.schema.Query("plan_redrive"),
			Values: []string{"the plan's id", "the fencing token of whoever executes it", "how far the plan is", "how many jobs, by the pace", "the lease in seconds"},
		},
		{
			About:  "counts what has become of them, to stop when too many died again",
			SQL:    q.schema.Query("plan_outcomes"),
			Values: []string{"the plan's id", "after this position", "up to this one"},
		},
	}
}
