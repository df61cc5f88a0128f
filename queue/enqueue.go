package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// DefaultMaxAttempts is how often a job is tried when nothing else is said.
const DefaultMaxAttempts = 5

// NewJob is a job to enqueue. Only Queue is required.
type NewJob struct {
	Queue          string          // at most 255 bytes
	Kind           string          // which handler; "" leaves it to the queue's
	Payload        json.RawMessage // any JSON value, kept verbatim as jsonb; nil is {}
	RunAt          Time            // not before; zero is now plus Delay, by the database's clock
	Delay          time.Duration   // from the database's now; only with a zero RunAt
	MaxAttempts    int             // 1 or more; 0 means not set: DefaultMaxAttempts
	IdempotencyKey string          // at most 1,024 bytes; one live job for each key of a queue
}

// Enqueued says which job stands for a NewJob.
type Enqueued struct {
	ID int64
	// Existing: nothing was inserted, because this live job holds the idempotency key.
	Existing bool
}

// Enqueue adds jobs in one transaction, all or none, and returns them in the
// order given. Workers are woken when it commits.
func (q *Queue) Enqueue(ctx context.Context, jobs ...NewJob) ([]Enqueued, error) {
	tx, err := q.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return nil, q.failed("enqueue", err)
	}
	defer func() { _ = tx.Rollback(ctx) }() // after a commit it does nothing
	out, err := q.EnqueueTx(ctx, tx, jobs...)
	if err != nil {
		return nil, err
	}
	if err := tx.Commit(ctx); err != nil {
		return nil, q.failed("enqueue", err)
	}
	return out, nil
}

// EnqueueTx adds jobs in the caller's transaction: they exist, and workers are
// woken, if and when it commits.
func (q *Queue) EnqueueTx(ctx context.Context, tx pgx.Tx, jobs ...NewJob) ([]Enqueued, error) {
	if len(jobs) == 0 {
		return nil, nil
	}
	for i := range jobs {
		if err := jobs[i].check(); err != nil {
			if len(jobs) > 1 {
				err = fmt.Errorf("job %d: %w", i+1, err)
			}
			return nil, fmt.Errorf("enqueue: %w", err)
		}
	}
	out := make([]Enqueued, len(jobs))
	left := make([]int, len(jobs)) // which of them nothing stands for yet
	for i := range left {
		left[i] = i
	}
	// A holder may end between the two statements, which gives its key free: again.
	for range 100 {
		if err := q.insert(ctx, tx, jobs, &left, out); err != nil {
			return nil, q.failed("enqueue", explain(err))
		}
		if err := q.findHolders(ctx, tx, jobs, &left, out); err != nil {
			return nil, q.failed("enqueue", err)
		}
		if len(left) == 0 {
			return out, nil
		}
	}
	return nil, fmt.Errorf("enqueue: idempotency key %q of queue %q is taken and given free all the time", jobs[left[0]].IdempotencyKey, jobs[left[0]].Queue)
}

// insert adds those that are left; left then names those whose keys are in use.
func (q *Queue) insert(ctx context.Context, tx pgx.Tx, jobs []NewJob, left *[]int, out []Enqueued) error {
	rows, err := tx.Query(ctx, q.schema.Query("enqueue"), newColumns(jobs, *left).args()...)
	if err != nil {
		return err
	}
	var position, id int64
	if _, err := pgx.ForEachRow(rows, []any{&position, &id}, func() error {
		out[(*left)[position-1]] = Enqueued{ID: id}
		return nil
	}); err != nil {
		return err
	}
	*left = slices.DeleteFunc(*left, func(i int) bool { return out[i] != Enqueued{} })
	return nil
}

// findHolders fills in the jobs that hold the keys of those that are left; left then
// names those without any.
func (q *Queue) findHolders(ctx context.Context, tx pgx.Tx, jobs []NewJob, left *[]int, out []Enqueued) error {
	if len(*left) == 0 {
		return nil
	}
	type key struct{ queue, key string }
	wanted := map[key][]int{}
	var queues, keys []string
	for _, i := range *left {
		k := key{jobs[i].Queue, jobs[i].IdempotencyKey}
		if wanted[k] == nil {
			queues, keys = append(queues, k.queue), append(keys, k.key)
		}
		wanted[k] = append(wanted[k], i)
	}
	rows, err := tx.Query(ctx, q.schema.Query("key_holders"), queues, keys)
	if err != nil {
		return err
	}
	var k key
	var id int64
	if _, err := pgx.ForEachRow(rows, []any{&k.queue, &k.key, &id}, func() error {
		for _, i := range wanted[k] {
			out[i] = Enqueued{ID: id, Existing: true}
		}
		return nil
	}); err != nil {
		return err
	}
	*left = slices.DeleteFunc(*left, func(i int) bool { return out[i] != Enqueued{} })
	return nil
}

// columns are the arrays of enqueue.sql.
type columns struct {
	queues, kinds, payloads []string
	runAts                  []*Time
	delays                  []float64
	maxAttempts             []int32
	keys                    []*string
}

func (c *columns) args() []any {
	return []any{c.queues, c.kinds, c.payloads, c.runAts, c.delays, c.maxAttempts, c.keys}
}

// newColumns makes the arrays of the jobs that are left.
func newColumns(jobs []NewJob, left []int) *columns {
	c := &columns{}
	for _, i := range left {
		job := &jobs[i]
		payload := string(job.Payload)
		if payload == "" {
			payload = "{}"
		}
		var runAt *Time
		if job.RunAt.Infinity != 0 || !job.RunAt.IsZero() {
			runAt = &job.RunAt
		}
		maxAttempts := job.MaxAttempts
		if maxAttempts == 0 {
			maxAttempts = DefaultMaxAttempts
		}
		c.queues, c.kinds, c.payloads = append(c.queues, job.Queue), append(c.kinds, job.Kind), append(c.payloads, payload)
		c.runAts, c.delays = append(c.runAts, runAt), append(c.delays, max(job.Delay, 0).Seconds())
		c.maxAttempts, c.keys = append(c.maxAttempts, int32(maxAttempts)), append(c.keys, nullable(job.IdempotencyKey))
	}
	return c
}

// check refuses what the table would, with words that name the cure.
func (j *NewJob) check() error {
	if j.Queue == "" {
		return errors.New("the queue has no name: name one")
	}
	for _, text := range []struct {
		name, value string
		limit       int
	}{{"queue", j.Queue, 255}, {"kind", j.Kind, 255}, {"idempotency key", j.IdempotencyKey, 1024}} {
		if len(text.value) > text.limit {
			return fmt.Errorf("%s of %d bytes: at most %d are allowed", text.name, len(text.value), text.limit)
		}
		if !utf8.ValidString(text.value) || strings.ContainsRune(text.value, 0) {
			return fmt.Errorf("%s %q: PostgreSQL stores only UTF-8 without NUL", text.name, text.value)
		}
	}
	if err := j.RunAt.check(); err != nil {
		return err
	}
	if j.MaxAttempts < 0 || j.MaxAttempts > math.MaxInt32 {
		return fmt.Errorf("max attempts %d: use 1 to %d", j.MaxAttempts, math.MaxInt32)
	}
	if len(j.Payload) > 0 && !(json.Valid(j.Payload) && utf8.Valid(j.Payload)) { // json.Valid takes any bytes in strings
		return errors.New("the payload is not valid JSON in UTF-8")
	}
	return nil
}

// explain puts the cure before errors that PostgreSQL words for itself.
func explain(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "22P05" { // untranslatable_character
		return fmt.Errorf("the payload holds \\u0000, which jsonb cannot store: leave it out: %w", err)
	}
	return err
}
