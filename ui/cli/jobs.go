package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// jobsPage is how many rows are asked for at a time; fewer with payloads, which may be large.
const (
	jobsPage         = 1000
	jobsPagePayloads = 50
)

// Jobs prints up to limit jobs, newest first (dead letters alone: newest death
// first). As JSON each is one object a line with the table's column names; the
// payload is among them only when asked for, and last_error is cut at 1,000
// characters: [Show] has all of it.
func Jobs(ctx context.Context, p Printer, q *queue.Queue, f queue.Filter, limit int, payloads bool) error {
	most := jobsPage
	if payloads {
		most = jobsPagePayloads
	}
	out := bufio.NewWriter(p.Out)
	var rows [][]string
	page := queue.Page{}
	for limit > 0 {
		page.Limit = min(limit, most)
		jobs, next, err := q.List(ctx, f, page)
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		var bodies map[int64]json.RawMessage
		if payloads {
			if bodies, err = q.Payloads(ctx, ids(jobs)...); err != nil {
				return errors.Join(err, out.Flush())
			}
		}
		for i := range jobs {
			if p.Format == JSON {
				err = printJob(out, &jobs[i], bodies[jobs[i].ID], false)
			} else {
				rows = append(rows, jobRow(&jobs[i], bodies[jobs[i].ID]))
			}
			if err != nil {
				return err
			}
		}
		if next == nil {
			break
		}
		limit -= len(jobs)
		page.After = next
	}
	if p.Format == JSON {
		return out.Flush()
	}
	columns := []column{
		{title: "ID", right: true},
		{title: "QUEUE", most: 30},
		{title: "KIND", most: 30},
		{title: "STATUS"},
		{title: "ATTEMPTS", right: true},
		{title: "RUN AT"},
		{title: "UPDATED AT"},
		{title: "LOCKED BY", most: 40},
		{title: "LAST ERROR", most: 80},
	}
	if payloads {
		columns = append(columns, column{title: "PAYLOAD", most: 120})
	} else {
		for i := range rows {
			rows[i] = rows[i][:len(columns)]
		}
	}
	return errors.Join(table(out, columns, rows), out.Flush())
}

func ids(jobs []queue.Job) []int64 {
	out := make([]int64, len(jobs))
	for i := range jobs {
		out[i] = jobs[i].ID
	}
	return out
}

func jobRow(j *queue.Job, payload json.RawMessage) []string {
	return []string{
		strconv.FormatInt(j.ID, 10), j.Queue, j.Kind, string(j.Status),
		fmt.Sprintf("%d/%d", j.Attempts, j.MaxAttempts),
		when(j.RunAt), clock(j.UpdatedAt), j.LockedBy, j.LastError, string(payload),
	}
}

// when prints a time that may be infinite.
func when(t queue.Time) string {
	switch {
	case t.Never():
		return "never"
	case t.Always():
		return "always"
	}
	return clock(t.Time)
}

// job is one row as JSON: the table's column names, NULL as null, times that
// may lie beyond the year 9999.
type job struct {
	ID             int64           `json:"id"`
	Queue          string          `json:"queue"`
	Kind           string          `json:"kind"`
	Status         queue.Status    `json:"status"`
	Attempts       int             `json:"attempts"`
	MaxAttempts    int             `json:"max_attempts"`
	RunAt          queue.Time      `json:"run_at"`
	LockedAt       *queue.Time     `json:"locked_at"`
	LockedBy       *string         `json:"locked_by"`
	LeaseExpiresAt *queue.Time     `json:"lease_expires_at"`
	LastError      *string         `json:"last_error"`
	IdempotencyKey *string         `json:"idempotency_key"`
	Fingerprint    *string         `json:"fingerprint"`
	DiedAt         *queue.Time     `json:"died_at"`
	CreatedAt      queue.Time      `json:"created_at"`
	UpdatedAt      queue.Time      `json:"updated_at"`
	Errors         []queue.Attempt `json:"errors,omitzero"`
}

// printJob writes a job as one line. The payload is put in as PostgreSQL printed
// it: a number that no Go type holds stays as it is, however deep it is nested.
func printJob(w io.Writer, j *queue.Job, payload json.RawMessage, whole bool) error {
	out := job{
		ID: j.ID, Queue: j.Queue, Kind: j.Kind, Status: j.Status, Attempts: j.Attempts, MaxAttempts: j.MaxAttempts,
		RunAt: j.RunAt, LockedAt: moment(j.LockedAt), LockedBy: nullable(j.LockedBy), LeaseExpiresAt: moment(j.LeaseExpiresAt),
		LastError: nullable(j.LastError), IdempotencyKey: nullable(j.IdempotencyKey), Fingerprint: nullable(j.Fingerprint),
		DiedAt: moment(j.DiedAt), CreatedAt: queue.At(j.CreatedAt), UpdatedAt: queue.At(j.UpdatedAt),
	}
	if whole {
		out.Errors = j.Errors
	}
	var b bytes.Buffer
	if err := line(&b, out); err != nil {
		return err
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("}\n"))
	for _, part := range [][]byte{text, []byte(`,"payload":`), payload, []byte("}\n")} {
		if payload == nil && len(part) > 0 && part[0] == ',' {
			continue
		}
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

func moment(t *time.Time) *queue.Time {
	if t == nil {
		return nil
	}
	at := queue.At(*t)
	return &at
}

func nullable(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
