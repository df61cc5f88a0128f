package queue

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// DefaultMaxAttempts is how often a job is tried when [NewJob] says nothing else.
const DefaultMaxAttempts = 5

// NewJob is a job to enqueue. Only Queue is required. What cannot be stored (a text that
// is too long or not UTF-8, a payload that is no JSON or holds \u0000, a time that
// PostgreSQL does not have) is refused with the cure.
type NewJob struct {
	Queue          string          // at most 255 bytes
	Kind           string          // which handler; "" leaves it to the queue's
	Payload        json.RawMessage // any JSON value, kept as jsonb; nil is {}
	Value          any             // encoded as the payload by encoding/json; only with a nil Payload
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

// Enqueue adds jobs in one transaction, all or none, and returns them in the order
// given. One whose idempotency key is in use is not added: its [Enqueued] names the job
// that holds the key.
//
// Workers are woken when it has committed: by one notification for all that this process
// enqueues within a few milliseconds. [Queue.Close] waits for it; should it get lost with
// the process, workers find the jobs by polling. For thousands of jobs see
// [Queue.EnqueueMany].
func (q *Queue) Enqueue(ctx context.Context, jobs ...NewJob) ([]Enqueued, error) {
	jobs, err := checked(jobs)
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	out := make([]Enqueued, len(jobs))
	if slices.ContainsFunc(jobs, func(j NewJob) bool { return j.IdempotencyKey != "" }) {
		err = q.quietly(ctx, func(tx pgx.Tx) error {
			clear(out)
			return q.insertAll(ctx, tx, jobs, all(jobs), out)
		})
	} else { // one round trip is enough where no key can be in use
		err = explain(q.writeQuietly(ctx, "enqueue", newColumns(jobs, all(jobs)).args(), func(row pgx.CollectableRow) error {
			var position, id int64
			if err := row.Scan(&position, &id); err != nil {
				return err
			}
			out[position-1] = Enqueued{ID: id}
			return nil
		}))
	}
	if err != nil {
		return nil, q.failed("enqueue", err, "enqueue")
	}
	q.wakeSoon(added(jobs, out)...)
	return out, nil
}

// EnqueueTx is Enqueue in the caller's transaction: the jobs exist, and workers are
// woken, if and when it commits. When PostgreSQL refuses a job, what is left is to roll
// back.
//
// Two transactions that enqueue the same idempotency keys can come to wait for each
// other, as any two that write the same rows; PostgreSQL then fails one with 40P01, to be
// run again. Calls without a transaction do that themselves.
//
// A trigger wakes the workers with NOTIFY. PostgreSQL refuses PREPARE TRANSACTION after a
// NOTIFY, and lets only one transaction that sent any commit at a time: with 64 writers that
// costs two thirds of the inserts a second. A transaction that runs
//
//	SET LOCAL leasetop_wakeup.quiet = 'on'
//
// before its first insert sends none; for a schema of another name the setting is called
// <schema>_wakeup.quiet. Call [Queue.Wake] once it is committed: otherwise workers find the
// jobs when they look next by themselves.
func (q *Queue) EnqueueTx(ctx context.Context, tx pgx.Tx, jobs ...NewJob) ([]Enqueued, error) {
	jobs, err := checked(jobs)
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	out := make([]Enqueued, len(jobs))
	if err := q.insertAll(ctx, tx, jobs, all(jobs), out); err != nil {
		return nil, q.failed("enqueue", err, "enqueue")
	}
	return out, nil
}

// checked returns the jobs with their payloads encoded, or what is wrong with the first bad one.
func checked(jobs []NewJob) ([]NewJob, error) {
	jobs = slices.Clone(jobs)
	for i := range jobs {
		err := jobs[i].encode()
		if err == nil {
			err = jobs[i].check()
		}
		if err != nil {
			if len(jobs) > 1 {
				err = fmt.Errorf("job %d: %w", i+1, err)
			}
			return nil, fmt.Errorf("enqueue: %w", err)
		}
	}
	return jobs, nil
}

// all are the positions of all jobs.
func all(jobs []NewJob) []int {
	positions := make([]int, len(jobs))
	for i := range positions {
		positions[i] = i
	}
	return positions
}

// added are the queues that got new jobs.
func added(jobs []NewJob, out []Enqueued) []string {
	seen := map[string]bool{}
	for i := range jobs {
		if !out[i].Existing {
			seen[jobs[i].Queue] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// quietly runs do in a transaction whose inserts wake nobody. It may run it again: a
// key that is given free in the middle is inserted out of order, after later ones, and
// so two transactions can come to wait for each other.
func (q *Queue) quietly(ctx context.Context, do func(pgx.Tx) error) (err error) {
	for range 10 {
		err = pgx.BeginTxFunc(ctx, q.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, q.schema.Query("quiet")); err != nil {
				return err
			}
			return do(tx)
		})
		if pg := (*pgconn.PgError)(nil); !errors.As(err, &pg) || pg.Code != "40P01" { // deadlock_detected
			break
		}
	}
	return err
}

// insertAll inserts those jobs that are left, or finds the live jobs that hold their keys.
func (q *Queue) insertAll(ctx context.Context, tx pgx.Tx, jobs []NewJob, left []int, out []Enqueued) error {
	// A holder may end between the two statements, which gives its key free: again.
	for range 100 {
		if err := q.insert(ctx, tx, jobs, &left, out); err != nil {
			return explain(err)
		}
		if err := q.findHolders(ctx, tx, jobs, &left, out); err != nil {
			return err
		}
		if len(left) == 0 {
			return nil
		}
	}
	return fmt.Errorf("idempotency key %q of queue %q is taken and given free all the time", jobs[left[0]].IdempotencyKey, jobs[left[0]].Queue)
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
	runAts                  []pgtype.Timestamptz
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
		c.queues, c.kinds, c.payloads = append(c.queues, job.Queue), append(c.kinds, job.Kind), append(c.payloads, string(job.Payload))
		c.runAts, c.delays = append(c.runAts, job.RunAt.pg()), append(c.delays, max(job.Delay, 0).Seconds())
		c.maxAttempts, c.keys = append(c.maxAttempts, int32(job.MaxAttempts)), append(c.keys, nullable(job.IdempotencyKey))
	}
	return c
}

// timed reports whether the job has a time of its own, rather than a delay.
func (j *NewJob) timed() bool { return j.RunAt.Infinity != 0 || !j.RunAt.IsZero() }

// encode makes the payload, and puts in what stands for what was left out.
func (j *NewJob) encode() error {
	if j.Value != nil {
		if j.Payload != nil {
			return errors.New("both a payload and a value: leave one of them out")
		}
		var err error
		if j.Payload, err = json.Marshal(j.Value); err != nil {
			return fmt.Errorf("encode the value as the payload: %w", err)
		}
	}
	if j.timed() && j.Delay != 0 {
		return errors.New("both a time and a delay: leave one of them out")
	}
	if len(j.Payload) == 0 {
		j.Payload = json.RawMessage("{}")
	}
	if j.MaxAttempts == 0 {
		j.MaxAttempts = DefaultMaxAttempts
	}
	return nil
}

// check refuses what the table would, with words that name the cure.
func (j *NewJob) check() error {
	if err := cmp.Or(CheckName("queue", j.Queue), checkKind(j.Kind),
		checkText("idempotency key", j.IdempotencyKey, 1024), j.RunAt.check()); err != nil {
		return err
	}
	if j.MaxAttempts < 1 || j.MaxAttempts > math.MaxInt32 {
		return fmt.Errorf("max attempts %d: use 1 to %d", j.MaxAttempts, math.MaxInt32)
	}
	return checkPayload(j.Payload)
}

// checkPayload refuses what is no JSON, or JSON that jsonb cannot store.
func checkPayload(payload json.RawMessage) error {
	if !json.Valid(payload) {
		return fmt.Errorf("the payload is not valid JSON: %w", json.Unmarshal(payload, new(json.RawMessage)))
	}
	if !utf8.Valid(payload) { // json.Valid takes any bytes in strings
		return errors.New("the payload is not valid JSON in UTF-8")
	}
	if escape, what := unstorable(payload); escape != "" {
		return fmt.Errorf("the payload holds %s%s which jsonb cannot store: leave it out", escape, cmp.Or(what, ","))
	}
	return nil
}

// unstorable finds in valid JSON the first character of a string or key that jsonb cannot
// hold, which can only be written as an escape: NUL, or half of a pair of surrogates.
func unstorable(payload []byte) (escape, what string) {
	for {
		i := bytes.IndexByte(payload, '\\')
		if i < 0 {
			return "", ""
		}
		payload = payload[i:]
		code, ok := escaped(payload)
		if !ok {
			payload = payload[2:] // what is escaped escapes nothing itself
			continue
		}
		escape, payload = string(payload[:6]), payload[6:]
		switch next, pair := escaped(payload); {
		case code == 0:
			return escape, ""
		case !utf16.IsSurrogate(code):
		case pair && utf16.DecodeRune(code, next) != utf8.RuneError:
			payload = payload[6:]
		default:
			return escape, ", half of a character,"
		}
	}
}

// escaped reads the \u escape that a text begins with.
func escaped(text []byte) (code rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n), err == nil
}

// explain puts the cure before errors that PostgreSQL words for itself.
func explain(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return err
	}
	switch pg.Code {
	case "22003": // numeric_value_out_of_range
		return fmt.Errorf("the payload holds a number too large or too small for jsonb, which knows them up to 131,072 digits: send it as a string: %w", err)
	case "54000", "54001": // program_limit_exceeded, statement_too_complex
		return fmt.Errorf("the payload is too long or nested too deep for jsonb: %w", err)
	}
	return err
}
