package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/safe"
)

// showPayload is how many characters of a payload are printed for people.
const showPayload = 20_000

// Show prints one job with its payload and its history.
func Show(ctx context.Context, p Printer, q *queue.Queue, id int64) error {
	if p.Format == JSON {
		j, err := q.Get(ctx, id)
		if err != nil {
			return err
		}
		return printJob(p.Out, j, j.Payload, true)
	}
	j, length, err := q.Preview(ctx, id, showPayload)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(p.Out)
	for _, field := range [][2]string{
		{"id", fmt.Sprint(j.ID)},
		{"queue", j.Queue},
		{"kind", j.Kind},
		{"status", string(j.Status)},
		{"attempts", fmt.Sprintf("%d of %d", j.Attempts, j.MaxAttempts)},
		{"run at", when(j.RunAt)},
		{"locked by", j.LockedBy},
		{"locked at", clockOf(j.LockedAt)},
		{"lease expires at", clockOf(j.LeaseExpiresAt)},
		{"idempotency key", j.IdempotencyKey},
		{"created at", clock(j.CreatedAt)},
		{"updated at", clock(j.UpdatedAt)},
		{"died at", clockOf(j.DiedAt)},
	} {
		if field[1] != "" {
			fmt.Fprintf(out, "%-17s %s\n", field[0], safe.Text(field[1]))
		}
	}
	if j.LastError != "" {
		section(out, "last error", j.LastError)
	}
	section(out, "payload", readable(j.Payload))
	if rest := length - showPayload; rest > 0 {
		fmt.Fprintf(out, "  … %d characters more: `leasetop show %d -o json` prints them all\n", rest, j.ID)
	}
	if len(j.Errors) > 0 {
		fmt.Fprintln(out, "\nhistory")
		rows := make([][]string, len(j.Errors))
		for i, a := range j.Errors {
			rows[i] = []string{"  " + clock(a.At), fmt.Sprint(a.Attempt), a.Outcome, a.Worker, a.Error}
		}
		columns := []column{{title: "  AT"}, {title: "ATTEMPT", right: true}, {title: "OUTCOME"}, {title: "WORKER", most: 60}, {title: "ERROR", most: 200}}
		if err := table(out, columns, rows); err != nil {
			return err
		}
	}
	return out.Flush()
}

// section prints text of several lines under a heading, indented.
func section(w io.Writer, title, text string) {
	fmt.Fprintf(w, "\n%s\n  %s\n", title, strings.ReplaceAll(safe.Block(text), "\n", "\n  "))
}

// readable spreads JSON over lines; what was cut short, and so is no JSON, stays as it is.
func readable(payload json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, payload, "", "  ") != nil {
		return string(payload)
	}
	return b.String()
}
