package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/safe"
)

// showPayload is how many characters of a payload are printed for people.
const showPayload = 20_000

// Show prints one job with its payload and its history, also one that was discarded, what
// edits replaced, and of a pending one why it is not running. For people, secrets are
// masked, unless they are to be revealed, which is entered in the operator log first; as
// JSON, for programs, everything is as it is in the table.
func Show(ctx context.Context, p Printer, q *queue.Queue, id int64, reveal bool) error {
	if p.Format == JSON {
		return showJSON(ctx, p, q, id)
	}
	if reveal {
		act := queue.Act{By: Operator(), What: "reveal", IDs: []int64{id}}
		err := q.Logged(ctx, act, func(ctx context.Context) (done, skipped int, err error) {
			return 1, 0, show(ctx, p, q, id, &veil{off: true})
		})
		return err
	}
	return show(ctx, p, q, id, &veil{})
}

// show prints a job through a veil.
func show(ctx context.Context, p Printer, q *queue.Queue, id int64, v *veil) error {
	j, length, err := q.Preview(ctx, id, showPayload)
	var where string
	var discarded [][2]string
	if errors.Is(err, queue.ErrNotFound) {
		var a *queue.Archived
		if a, length, err = q.PreviewArchived(ctx, id, showPayload); err == nil {
			j = &a.Job
			discarded = [][2]string{
				{"discarded at", clock(a.ArchivedAt)},
				{"discarded by", a.ArchivedBy},
				{"discarded why", v.text(a.ArchivedWhy)},
			}
			where = fmt.Sprintf(", discarded: `leasetop restore %d` brings it back", id)
		}
	}
	if err != nil {
		return err
	}
	originals, err := known(q.Originals(ctx, id))
	if err != nil {
		return err
	}
	why, err := whyWaiting(ctx, q, j)
	if err != nil {
		return err
	}
	refused, err := q.RefusedJob(ctx, id)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(p.Out)
	for _, field := range append([][2]string{
		{"id", fmt.Sprint(j.ID)},
		{"queue", j.Queue},
		{"kind", j.Kind},
		{"status", string(j.Status) + where},
		{"waits", why.words(refused)},
		{"refused", v.refused(refused)},
		{"attempts", fmt.Sprintf("%d of %d", j.Attempts, j.MaxAttempts)},
		{"run at", when(j.RunAt)},
		{"locked by", j.LockedBy},
		{"locked at", clockOf(j.LockedAt)},
		{"lease expires at", clockOf(j.LeaseExpiresAt)},
		{"cancelled by", cancelled(j)},
		{"idempotency key", j.IdempotencyKey},
		{"created at", clock(j.CreatedAt)},
		{"updated at", clock(j.UpdatedAt)},
		{"died at", clockOf(j.DiedAt)},
	}, discarded...) {
		if field[1] != "" {
			fmt.Fprintf(out, "%-17s %s\n", field[0], safe.Text(field[1]))
		}
	}
	if j.LastError != "" {
		section(out, "last error", v.text(j.LastError))
	}
	section(out, "payload", v.payload(readable(j.Payload)))
	p.rest(out, length, j.ID)
	for i := range originals {
		o := &originals[i]
		text, length := readable(o.Payload), len([]rune(string(o.Payload)))
		if length > showPayload {
			text = string([]rune(string(o.Payload))[:showPayload])
		}
		section(out, fmt.Sprintf("payload until %s, edited by %s", clock(o.At), safe.Text(said(o.By, v.text(o.Reason)))), v.payload(text))
		p.rest(out, length, j.ID)
	}
	if len(j.Errors) > 0 {
		fmt.Fprintln(out, "\nhistory")
		rows := make([][]string, len(j.Errors))
		for i, a := range j.Errors {
			rows[i] = []string{"  " + clock(a.At), fmt.Sprint(a.Attempt), a.Outcome, a.Worker, a.Error}
		}
		columns := []column{{title: "  AT"}, {title: "ATTEMPT", right: true}, {title: "OUTCOME"}, {title: "WORKER", most: 60, holds: names}, {title: "ERROR", most: 200}}
		if err := v.table(out, columns, rows); err != nil {
			return err
		}
	}
	if v.masked > 0 {
		fmt.Fprintf(out, "\nsecrets are masked: `leasetop show %d --reveal` prints them, and the operator log tells who did\n", id)
	}
	return out.Flush()
}

// rest says how much of a payload was not printed.
func (p Printer) rest(w io.Writer, length int, id int64) {
	if rest := length - showPayload; rest > 0 {
		fmt.Fprintf(w, "  … %d characters more: `leasetop show %d -o json` prints them all\n", rest, id)
	}
}

// known is what was read of a table, and nothing where the schema is older than that or
// the role may not look there: the job itself can be shown all the same.
func known[T any](what T, err error) (T, error) {
	if errors.Is(err, queue.ErrSchemaOld) || errors.Is(err, queue.ErrForbidden) {
		err = nil
	}
	return what, err
}

func showJSON(ctx context.Context, p Printer, q *queue.Queue, id int64) error {
	j, err := q.Get(ctx, id)
	if err != nil && !errors.Is(err, queue.ErrNotFound) {
		return err
	}
	var out job
	if err == nil {
		out = asJSON(j)
	} else {
		a, err := q.GetArchived(ctx, id)
		if err != nil {
			return err
		}
		j, out = &a.Job, asArchivedJSON(a)
	}
	out.Errors = j.Errors
	if out.Originals, err = known(q.Originals(ctx, id)); err != nil {
		return err
	}
	why, err := whyWaiting(ctx, q, j)
	if err != nil {
		return err
	}
	out.Waiting = why.json()
	return printJob(p.Out, &out, j.Payload)
}

// cancelled says who cancelled a job and what came of it: its worker was asked, and may
// have been done already.
func cancelled(j *queue.Job) string {
	switch {
	case j.CancelledBy == "":
		return ""
	case j.Status == queue.Processing:
		return j.CancelledBy + ": its worker is asked to end it, and has not yet"
	case j.Status == queue.Pending:
		return j.CancelledBy + ": the worker that takes it next ends it"
	case j.Status == queue.Dead && j.LastError == "cancelled by "+j.CancelledBy:
		return j.CancelledBy
	}
	return fmt.Sprintf("%s: too late, it was %s by then", j.CancelledBy, j.Status)
}

// section prints text of several lines under a heading, indented.
func section(w io.Writer, title, text string) {
	fmt.Fprintf(w, "\n%s\n  %s\n", title, strings.ReplaceAll(safe.Block(text), "\n", "\n  "))
}

// deepest is how deep JSON is set in. Ten thousand levels, which fit into a preview,
// would make two hundred megabytes of spaces.
const deepest = 100

// readable spreads JSON over lines; what was cut short, and so is no JSON, stays as it
// is, and so does what is nested too deep to be read that way.
func readable(payload json.RawMessage) string {
	var b bytes.Buffer
	if nesting(payload) > deepest || json.Indent(&b, payload, "", "  ") != nil {
		return string(payload)
	}
	return b.String()
}

// nesting is how deep the brackets of a JSON text go.
func nesting(text []byte) (most int) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
			most = max(most, depth)
		case c == ']' || c == '}':
			depth--
		}
	}
	return most
}

// refused says why the server does not let a job be changed; "" when it does.
func (v *veil) refused(r *queue.Refused) string {
	if r == nil {
		return ""
	}
	text := r.Error()
	if r.Detail != "" {
		text += " (" + r.Detail + ")"
	}
	return fmt.Sprintf("%s; %s since %s, last at %s", v.text(text), counted(r.Times, "time"), clock(r.First), clock(r.Last))
}
