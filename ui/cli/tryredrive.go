package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/planwords"
	"github.com/leasetop/leasetop/ui/safe"
)

// firstIDs is how many ids of a set a dry run names.
const firstIDs = 10

// TryRedrive prints what a redrive would do now, and does nothing: how many dead letters of
// which problems, which jobs come first, and how it would go on. When the jobs were named by
// id, one that there is not is an error, as it is for the redrive.
func TryRedrive(ctx context.Context, p Printer, q *queue.Queue, plan queue.NewPlan, named bool) error {
	r, err := q.Rehearse(ctx, plan.IDs)
	if err != nil {
		return err
	}
	first, err := firstRedriven(ctx, q, plan.IDs)
	if err != nil {
		return err
	}
	var unknown []queue.Skip
	if named && r.Gone > 0 {
		if unknown, err = noSuchJobs(ctx, q, plan.IDs); err != nil {
			return err
		}
	}
	failed := left(unknown, len(plan.IDs))
	will := planwords.Will(plan, int(r.Redriven()))
	if p.Format == JSON {
		type group struct {
			Queue       string `json:"queue"`
			Kind        string `json:"kind"`
			Fingerprint string `json:"fingerprint"`
			Count       int64  `json:"count"`
			Sample      int64  `json:"sample"`
			Error       string `json:"error"`
		}
		groups := []group{}
		for _, g := range r.Groups {
			groups = append(groups, group{g.Queue, g.Kind, g.Fingerprint, g.Count, g.Sample, g.Error})
		}
		return errors.Join(line(p.Out, map[string]any{
			"dry_run": true, "filter": plan.Filter, "jobs": len(plan.IDs), "first": list(first), "groups": groups,
			"redriven": r.Redriven(), "in_use": r.InUse, "gone": r.Gone, "skipped": skips(unknown), "says": will,
		}), failed)
	}
	var rows [][]string
	for _, g := range r.Groups {
		text, _, _ := strings.Cut(strings.TrimSpace(g.Error), "\n")
		rows = append(rows, []string{strconv.FormatInt(g.Count, 10), g.Queue, g.Kind, strconv.FormatInt(g.Sample, 10), text})
	}
	out := bufio.NewWriter(p.Out)
	if err := table(out, []column{{title: "COUNT", right: true}, {title: "QUEUE", most: 30, holds: names}, {title: "KIND", most: 30, holds: names}, {title: "SAMPLE", right: true}, {title: "ERROR", most: 100}}, rows); err != nil {
		return err
	}
	names := make([]string, len(first))
	for i, id := range first {
		names[i] = strconv.FormatInt(id, 10)
	}
	fmt.Fprintf(out, "\n%s would be redriven now", planwords.Count(r.Redriven(), "dead letter"))
	if r.InUse > 0 {
		fmt.Fprintf(out, ", %s skipped because a live job has their key", planwords.Thousands(r.InUse))
	}
	if r.Gone > 0 {
		fmt.Fprintf(out, ", %s skipped because they are no dead letters", planwords.Thousands(r.Gone))
	}
	if len(names) > 0 {
		more := ""
		if r.Redriven() > int64(len(first)) {
			more = " …"
		}
		fmt.Fprintf(out, "\nfirst of them %s%s", strings.Join(names, " "), more)
	}
	if r.Redriven() > 0 {
		fmt.Fprintf(out, "\n%s", will)
	}
	fmt.Fprintln(out)
	printSkipped(out, unknown)
	fmt.Fprintln(out, "Nothing was changed.")
	return errors.Join(out.Flush(), failed)
}

// noSuchJobs are those of ids that no job has, each once.
func noSuchJobs(ctx context.Context, q *queue.Queue, ids []int64) (unknown []queue.Skip, err error) {
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		_, _, err := q.Preview(ctx, id, 0)
		if errors.Is(err, queue.ErrNotFound) {
			_, _, err = q.PreviewArchived(ctx, id, 0)
		}
		switch {
		case errors.Is(err, queue.ErrNotFound):
			unknown = append(unknown, queue.Skip{ID: id, Reason: queue.NoSuchJob, Failed: true})
		case err != nil:
			return nil, err
		}
	}
	return unknown, nil
}

// firstLook is how many jobs are looked at for the first that would be redriven.
const firstLook = 50

// firstRedriven are the first of a set that would be redriven, and not skipped.
func firstRedriven(ctx context.Context, q *queue.Queue, ids []int64) (first []int64, err error) {
	for _, id := range ids[:min(len(ids), firstLook)] {
		one, err := q.Rehearse(ctx, []int64{id})
		if err != nil {
			return nil, err
		}
		if one.Redriven() > 0 && !slices.Contains(first, id) {
			first = append(first, id)
		}
		if len(first) == firstIDs {
			break
		}
	}
	return first, nil
}

// RedriveStatements prints what a redrive would have the database do, and does nothing.
func RedriveStatements(p Printer, q *queue.Queue, plan queue.NewPlan) error {
	statements := q.PlanStatements(plan)
	if p.Format == JSON {
		type statement struct {
			About  string   `json:"about"`
			SQL    string   `json:"sql"`
			Values []string `json:"values"`
		}
		var failed error
		for _, s := range statements {
			failed = errors.Join(failed, line(p.Out, statement(s)))
		}
		return failed
	}
	out := bufio.NewWriter(p.Out)
	for i, s := range statements {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, "-- "+safe.Text(s.About))
		for k, value := range s.Values {
			fmt.Fprintf(out, "-- $%d: %s\n", k+1, safe.Text(value))
		}
		fmt.Fprintln(out, strings.TrimSpace(s.SQL)+";")
	}
	return out.Flush()
}
