package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/filter"
)

// Jobs prints jobs, newest id first (failed and dead alone: newest death first). As JSON
// each is one object a line with the table's column names; the payload is among them only
// when asked for, and last_error is cut at 1,000 characters, from the first that is not blank: [Show] has all of it. It goes
// on until it has the jobs asked for or has looked at the whole table, in bounded steps.
func Jobs(ctx context.Context, p Printer, q jobsReader, f queue.Filter, part Part) error {
	next := byID(q, f, part.Before)
	if byDeath(f) {
		next = deaths(q, f, part.Before)
	}
	l := listing{
		columns: []column{
			{title: "ID", right: true},
			{title: "QUEUE", most: 30, holds: names},
			{title: "KIND", most: 30, holds: names},
			{title: "STATUS"},
			{title: "ATTEMPTS", right: true},
			{title: "RUN AT"},
			{title: "UPDATED AT"},
			{title: "LOCKED BY", most: 40, holds: names},
			{title: "LAST ERROR", most: 80},
		},
		next: func(ctx context.Context, most int) ([]listed, reached, error) {
			jobs, far, err := next(ctx, most)
			out := make([]listed, len(jobs))
			for i := range jobs {
				j := &jobs[i]
				out[i] = listed{job: asJSON(j), cells: []string{
					strconv.FormatInt(j.ID, 10), j.Queue, j.Kind, string(j.Status), attempts(j),
					when(j.RunAt), clock(j.UpdatedAt), j.LockedBy, j.LastError,
				}}
			}
			return out, far, err
		},
		payloads: q.Payloads, log: q, of: chosenBy(f),
	}
	return l.print(ctx, p, part)
}

// ArchivedJobs prints discarded jobs of one queue or ("") of all, newest id first, as
// [Jobs] does.
func ArchivedJobs(ctx context.Context, p Printer, q *queue.Queue, queueName string, part Part) error {
	far := reached{id: part.Before}
	l := listing{
		columns: []column{
			{title: "ID", right: true},
			{title: "QUEUE", most: 30, holds: names},
			{title: "KIND", most: 30, holds: names},
			{title: "STATUS"},
			{title: "ATTEMPTS", right: true},
			{title: "DIED AT"},
			{title: "DISCARDED AT"},
			{title: "BY", most: 30, holds: names},
			{title: "WHY", most: 40},
			{title: "LAST ERROR", most: 80},
		},
		next: func(ctx context.Context, most int) ([]listed, reached, error) {
			jobs, err := q.Archive(ctx, queueName, far.id, most)
			out := make([]listed, len(jobs))
			for i := range jobs {
				j := &jobs[i]
				out[i] = listed{job: asArchivedJSON(j), cells: []string{
					strconv.FormatInt(j.ID, 10), j.Queue, j.Kind, string(j.Status), attempts(&j.Job),
					clock(j.UpdatedAt), clock(j.ArchivedAt), j.ArchivedBy, j.ArchivedWhy, j.LastError,
				}}
				far.id = j.ID
			}
			far.more = len(jobs) == most
			return out, far, err
		},
		payloads: q.ArchivedPayloads, log: q, of: strings.TrimSpace("the archive " + chosenBy(queue.Filter{Queue: queueName})),
	}
	return l.print(ctx, p, part)
}

// chosenBy says in the words of a filter which jobs are listed.
func chosenBy(f queue.Filter) string {
	var words []string
	if f.Queue != "" {
		words = append(words, "queue:"+filter.Quote(f.Queue))
	}
	if len(f.Statuses) > 0 {
		statuses := make([]string, len(f.Statuses))
		for i, s := range f.Statuses {
			statuses[i] = string(s)
		}
		words = append(words, "status:"+strings.Join(statuses, ","))
	}
	if !f.Where.Empty() {
		words = append(words, f.Where.String())
	}
	return strings.Join(words, " ")
}

func attempts(j *queue.Job) string { return fmt.Sprintf("%d/%d", j.Attempts, j.MaxAttempts) }

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
	ID             int64        `json:"id"`
	Queue          string       `json:"queue"`
	Kind           string       `json:"kind"`
	Status         queue.Status `json:"status"`
	Attempts       int          `json:"attempts"`
	MaxAttempts    int          `json:"max_attempts"`
	RunAt          queue.Time   `json:"run_at"`
	LockedAt       *queue.Time  `json:"locked_at"`
	LockedBy       *string      `json:"locked_by"`
	LeaseExpiresAt *queue.Time  `json:"lease_expires_at"`
	LastError      *string      `json:"last_error"`
	IdempotencyKey *string      `json:"idempotency_key"`
	CancelledBy    *string      `json:"cancelled_by"`
	Fingerprint    *string      `json:"fingerprint"`
	DiedAt         *queue.Time  `json:"died_at"`
	CreatedAt      queue.Time   `json:"created_at"`
	UpdatedAt      queue.Time   `json:"updated_at"`
	*archived
	Errors    []queue.Attempt  `json:"errors,omitzero"`
	Originals []queue.Original `json:"originals,omitempty"`
	Waiting   *waitingJSON     `json:"waiting,omitempty"`
}

// archived are the columns that only the archive has.
type archived struct {
	ArchivedAt  queue.Time `json:"archived_at"`
	ArchivedBy  string     `json:"archived_by"`
	ArchivedWhy string     `json:"archived_why"`
}

func asJSON(j *queue.Job) job {
	return job{
		ID: j.ID, Queue: j.Queue, Kind: j.Kind, Status: j.Status, Attempts: j.Attempts, MaxAttempts: j.MaxAttempts,
		RunAt: j.RunAt, LockedAt: moment(j.LockedAt), LockedBy: nullable(j.LockedBy), LeaseExpiresAt: moment(j.LeaseExpiresAt),
		LastError: nullable(j.LastError), IdempotencyKey: nullable(j.IdempotencyKey), CancelledBy: nullable(j.CancelledBy),
		Fingerprint: nullable(j.Fingerprint), DiedAt: moment(j.DiedAt), CreatedAt: queue.At(j.CreatedAt), UpdatedAt: queue.At(j.UpdatedAt),
	}
}

func asArchivedJSON(a *queue.Archived) job {
	j := asJSON(&a.Job)
	j.archived = &archived{queue.At(a.ArchivedAt), a.ArchivedBy, a.ArchivedWhy}
	return j
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
