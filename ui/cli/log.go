package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/planwords"
)

// shownIDs is how many ids of an act a row of the log names.
const shownIDs = 5

// Log prints entries of the operator log, newest first: as JSON one object a line.
func Log(ctx context.Context, p Printer, q *queue.Queue, before int64, limit int) error {
	acts, err := q.Acts(ctx, before, limit+1)
	if err != nil {
		return err
	}
	more := len(acts) > limit
	acts = acts[:min(len(acts), limit)]
	out := bufio.NewWriter(p.Out)
	var rows [][]string
	for i := range acts {
		a := &acts[i]
		if p.Format != JSON {
			rows = append(rows, []string{
				strconv.FormatInt(a.ID, 10), clock(a.At), a.By, a.Role, a.What, cameTo(a), about(a), a.Reason, ending(a),
			})
			continue
		}
		a.IDs = list(a.IDs)
		if err := line(out, a); err != nil {
			return err
		}
	}
	if p.Format != JSON {
		err = table(out, []column{
			{title: "ID", right: true},
			{title: "AT"},
			{title: "BY", most: 30, holds: names},
			{title: "ROLE", most: 20, holds: names},
			{title: "WHAT", most: 20},
			{title: "DONE", right: true},
			{title: "ABOUT", most: 60},
			{title: "WHY", most: 60},
			{title: "END", most: 100},
		}, rows)
	}
	if more {
		fmt.Fprintf(p.Err, "leasetop: %d shown, more with --limit or --before %d\n", len(acts), acts[len(acts)-1].ID)
	}
	return errors.Join(err, out.Flush())
}

// cameTo is how many it was done to, and of how many when that is not all.
func cameTo(a *queue.Act) string {
	if a.Asked == 0 && a.Done == 0 {
		return "" // it was about a plan itself
	}
	if a.Asked <= a.Done {
		return strconv.FormatInt(a.Done, 10)
	}
	return fmt.Sprintf("%d of %d", a.Done, a.Asked)
}

// about names what an act was about.
func about(a *queue.Act) string {
	var parts []string
	if a.Plan != 0 {
		parts = append(parts, fmt.Sprintf("plan %d", a.Plan))
	}
	if a.Filter != "" {
		return strings.Join(append(parts, a.Filter), " ")
	}
	for _, id := range a.IDs[:min(len(a.IDs), shownIDs)] {
		parts = append(parts, "#"+strconv.FormatInt(id, 10))
	}
	if len(a.IDs) > shownIDs {
		parts = append(parts, "…")
	}
	return strings.Join(parts, " ")
}

// ending says how an act ended.
func ending(a *queue.Act) string {
	switch {
	case a.Ended == nil:
		return planwords.UnderWay(*a)
	case a.Error != "":
		return "failed: " + a.Error
	case a.Note != "":
		return a.Note
	case a.Skips > 0:
		return "done, skipped " + thousands(int(a.Skips))
	}
	return "done"
}
