package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/planwords"
	"github.com/leasetop/leasetop/ui/safe"
)

// ShowPlan prints a plan as it stands, and its jobs in these states: as JSON the plan is
// one object and each job another, a line each.
func ShowPlan(ctx context.Context, p Printer, q *queue.Queue, id int64, states ...string) error {
	plan, err := q.Plan(ctx, id)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(p.Out)
	if p.Format == JSON {
		if err := line(out, plan); err != nil {
			return err
		}
	} else {
		printPlan(out, plan)
	}
	if len(states) == 0 {
		return out.Flush()
	}
	if p.Format != JSON {
		fmt.Fprintln(out)
	}
	jobs := flowing{w: out, columns: []column{
		{title: "ID", right: true, least: 8},
		{title: "STATE", least: 8},
		{title: "AT", least: 20},
		{title: "NOW", least: 10},
		{title: "BECAME"},
	}}
	if p.Format != JSON {
		if err := jobs.header(); err != nil {
			return err
		}
	}
	var failed error
	err = eachPlanJob(ctx, q, id, func(j *queue.PlanJob) {
		if failed != nil {
			return
		}
		if p.Format == JSON {
			failed = line(out, j)
			return
		}
		failed = jobs.row([]string{strconv.FormatInt(j.ID, 10), j.State, clockOf(j.At), pick(j.Status == "", "gone", string(j.Status)), became(j)})
	}, states...)
	return errors.Join(err, failed, out.Flush())
}

// became says what became of a job, beyond its status.
func became(j *queue.PlanJob) string {
	if j.Reason == "" && j.State == "redriven" && j.Status.IsDeadLetter() {
		return "died again"
	}
	return j.Reason
}

// printPlan prints a plan for a person, a fact a line.
func printPlan(out *bufio.Writer, plan queue.Plan) {
	n := planwords.Thousands
	executed := "by " + plan.Executor
	switch {
	case !planwords.Works(plan.State):
		executed = ""
	case plan.Executor == "":
		executed = "by nobody: `leasetop plan resume " + strconv.FormatInt(plan.ID, 10) + "` takes it over"
	case plan.Alone > 0:
		executed += ", who is silent for " + plan.Alone.Round(1e9).String() + " beyond the lease: `leasetop plan resume " + strconv.FormatInt(plan.ID, 10) + "` takes it over"
	}
	for _, f := range [][2]string{
		{"plan", strconv.FormatInt(plan.ID, 10)},
		{"state", veiled(planwords.Stands(plan)) + " since " + clock(plan.ChangedAt)},
		{"filter", veiled(plan.Filter)},
		{"started", clock(plan.CreatedAt) + " by " + plan.By},
		{"how", planwords.How(plan)},
		{"reason", veiled(plan.Reason)},
		{"executed", executed},
		{"jobs", fmt.Sprintf("%s: %s redriven, %s skipped, %s taken back, %s waiting, %s left dead",
			n(plan.Total), n(plan.Redriven), n(plan.Skipped), n(plan.Undone), n(plan.Waiting), n(plan.Left))},
		{"redriven", fmt.Sprintf("%s: %s completed, %s died again, %s running, %s pending, %s gone",
			n(plan.Redriven), n(plan.Completed), n(plan.DiedAgain), n(plan.Running), n(plan.Pending), n(plan.Gone))},
	} {
		if f[1] != "" {
			fmt.Fprintf(out, "%-9s %s\n", f[0], safe.Text(f[1]))
		}
	}
}
