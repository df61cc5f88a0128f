package queue

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func enqueueMany(t testing.TB, q *Queue, jobs ...NewJob) []Enqueued {
	t.Helper()
	return must[[]Enqueued](t)(q.EnqueueMany(t.Context(), jobs))
}

// strange are jobs with everything that can be said of one.
func strange() []NewJob {
	return []NewJob{
		{},
		{Kind: strings.Repeat("é", 127), MaxAttempts: 1},
		{Payload: json.RawMessage(`{"n": 1970670598291982290, "f": 1e400, "z": -0, "s": "<&>\u2028\\u0000 é", "a": [1.10, null]}`)},
		{Payload: json.RawMessage(" \n[ 1 , 2 ]\t")},
		{Payload: json.RawMessage(`"a string"`)},
		{Value: map[string]any{"to": "<user@example.com>", "big": json.Number("123456789012345678901234567890")}},
		{Value: struct {
			To string `json:"to"`
		}{"user@example.com"}},
		{Delay: 90 * time.Second, MaxAttempts: 1<<31 - 1},
		{Delay: 1500 * time.Microsecond},
		{Delay: -time.Hour},
		{Delay: 1<<63 - 1},
		{RunAt: At(time.Date(2031, 3, 30, 2, 30, 0, 123456000, time.FixedZone("", 7*3600+1800)))},
		{RunAt: Time{Infinity: 1}},
		{RunAt: Time{Infinity: -1}},
		{RunAt: At(time.Date(-4712, 1, 1, 0, 0, 0, 0, time.UTC))},
		{RunAt: At(time.Date(294276, 12, 31, 23, 59, 59, 999999000, time.UTC))},
	}
}

// A job is the same row whether it comes by COPY, by a statement or one by one.
func TestBulkEnqueueMakesTheSameRows(t *testing.T) {
	t.Parallel()
	q := open(t)
	for i, job := range strange() {
		rows := map[string]string{}
		for _, way := range []string{"alone", "copied", "copied among others", "with a key", "in a transaction"} {
			job.Queue = way
			var id int64
			switch way {
			case "alone":
				id = enqueue(t, q, job)
			case "copied":
				id = enqueueMany(t, q, job)[0].ID
			case "copied among others":
				id = enqueueMany(t, q, NewJob{Queue: "a"}, job, NewJob{Queue: "z", IdempotencyKey: fmt.Sprint(i)})[1].ID
			case "with a key":
				job.IdempotencyKey = fmt.Sprint("key ", i)
				id = enqueueMany(t, q, job)[0].ID
				job.IdempotencyKey = ""
			case "in a transaction":
				tx := begin(t, q)
				id = must[[]Enqueued](t)(q.EnqueueManyTx(t.Context(), tx, []NewJob{job}))[0].ID
				ok(t, tx.Commit(t.Context()))
			}
			row := wholeRow(t, q, id)
			// The delay, rather than when it was enqueued; to a few microseconds, which a
			// float64 of seconds is exact to.
			if got := get(t, q, id); !job.timed() {
				delay := got.RunAt.Sub(got.CreatedAt)
				if want := max(job.Delay, 0); (delay-want).Abs() > 100*time.Microsecond || want == 0 && delay != 0 {
					t.Errorf("job %d, %s: due after %v, want %v", i, way, delay, want)
				}
				delete(row, "run_at")
			}
			for _, column := range []string{"id", "queue", "created_at", "updated_at", "idempotency_key"} {
				delete(row, column)
			}
			rows[fmt.Sprint(row)] += way + ", "
		}
		if len(rows) != 1 {
			t.Errorf("job %d: %q", i, rows)
		}
	}
}

// Whatever has a key and what has none, the results come in the order given, and each
// job's is its own.
func TestBulkEnqueueKeepsTheOrderGiven(t *testing.T) {
	t.Parallel()
	q := open(t)
	held := enqueue(t, q, NewJob{Queue: "q1", IdempotencyKey: "k7", Kind: "held"})
	var jobs []NewJob
	for n := range 3000 {
		job := NewJob{Queue: fmt.Sprint("q", rand.IntN(3)), Kind: fmt.Sprint(n)}
		if rand.IntN(2) == 0 {
			job.IdempotencyKey = fmt.Sprint("k", rand.IntN(1000))
		}
		jobs = append(jobs, job)
	}
	out := enqueueMany(t, q, jobs...)
	kinds := map[int64]string{}
	rows := must[pgx.Rows](t)(q.Pool().Query(t.Context(), "select id, kind from leasetop.jobs"))
	var id int64
	var kind string
	must[any](t)(pgx.ForEachRow(rows, []any{&id, &kind}, func() error { kinds[id] = kind; return nil }))
	first := map[string]int64{"q1 k7": held}
	inserted, last := 1, int64(0)
	for i, job := range jobs {
		key := job.Queue + " " + job.IdempotencyKey
		holder, taken := first[key]
		switch {
		case job.IdempotencyKey != "" && taken:
			if out[i] != (Enqueued{holder, true}) {
				t.Fatalf("job %d with key %q is %+v, want the existing %d", i, key, out[i], holder)
			}
			continue
		case out[i].Existing || kinds[out[i].ID] != job.Kind:
			t.Fatalf("job %d is %+v, whose kind is %q", i, out[i], kinds[out[i].ID])
		case job.IdempotencyKey == "":
			if out[i].ID <= last {
				t.Fatalf("job %d has id %d after %d", i, out[i].ID, last)
			}
			last = out[i].ID
		default:
			first[key] = out[i].ID
		}
		inserted++
	}
	if len(kinds) != inserted {
		t.Errorf("%d rows, want %d", len(kinds), inserted)
	}
}

// One that is refused leaves none, and the error says which it was, whoever refuses it.
func TestBulkEnqueueIsAllOrNone(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, "alter table leasetop.jobs add constraint no_seven check (kind <> 'seven')")
	ears := listen(t, q, q.Schema().ReadyChannel())
	good := func(n int) (jobs []NewJob) {
		for i := range n {
			jobs = append(jobs, NewJob{Queue: "a", IdempotencyKey: []string{"", fmt.Sprint("k", n, i)}[i%2]})
		}
		return jobs
	}
	for want, bad := range map[string]NewJob{
		"no name":             {},
		"queue of 256 bytes":  {Queue: strings.Repeat("q", 256)},
		"max attempts -1":     {Queue: "a", MaxAttempts: -1},
		"not valid JSON":      {Queue: "a", Payload: json.RawMessage(`{`)},
		`holds \u0000`:        {Queue: "a", Payload: json.RawMessage(`{"a": "\\\u0000"}`)},
		"both a time and":     {Queue: "a", RunAt: At(time.Now()), Delay: time.Hour},
		"both a payload and":  {Queue: "a", Payload: json.RawMessage(`1`), Value: 1},
		"encode the value":    {Queue: "a", Value: make(chan int)},
		"the year -5000":      {Queue: "a", RunAt: At(time.Date(-5000, 1, 1, 0, 0, 0, 0, time.UTC))},
		"no_seven":            {Queue: "a", Kind: "seven"},
		"a number too large":  {Queue: "a", Payload: json.RawMessage(`[1e200000]`)},
		`holds \ud800, half`:  {Queue: "a", Payload: json.RawMessage(`"\ud800"`)},
		"idempotency key of ": {Queue: "a", IdempotencyKey: strings.Repeat("k", 1025)},
	} {
		for _, before := range []int{0, 1, 1234} {
			jobs := append(append(good(before), bad), good(3)...)
			_, err := q.EnqueueMany(t.Context(), jobs)
			if number := fmt.Sprintf("job %d: ", before+1); err == nil || !strings.HasPrefix(err.Error(), "enqueue: "+number) || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want one of %s with %q", err, number, want)
			}
			tx := begin(t, q)
			_, err = q.EnqueueManyTx(t.Context(), tx, jobs)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("in a transaction: %v", err)
			}
			ok(t, tx.Rollback(t.Context()))
		}
	}
	if n := count(t, q, "select count(*) from leasetop.jobs"); n != 0 {
		t.Errorf("%d jobs were enqueued", n)
	}
	ears.hears(t)
	for _, none := range [][]NewJob{nil, {}} {
		if out, err := q.EnqueueMany(t.Context(), none); out != nil || err != nil {
			t.Errorf("none: %v, %v", out, err)
		}
	}
}

func TestBulkEnqueueFollowsItsTransaction(t *testing.T) {
	t.Parallel()
	q := open(t)
	jobs := []NewJob{{Queue: "a"}, {Queue: "a", IdempotencyKey: "k"}, {Queue: "a", IdempotencyKey: "k"}}
	tx := begin(t, q)
	out := must[[]Enqueued](t)(q.EnqueueManyTx(t.Context(), tx, jobs))
	again := must[[]Enqueued](t)(q.EnqueueManyTx(t.Context(), tx, jobs)) // it sees its own
	if out[2] != (Enqueued{out[1].ID, true}) || again[1] != out[2] || again[2] != out[2] || again[0].Existing {
		t.Errorf("%v, then %v", out, again)
	}
	ok(t, tx.Rollback(t.Context()))
	if n := count(t, q, "select count(*) from leasetop.jobs"); n != 0 {
		t.Errorf("%d jobs of a transaction rolled back", n)
	}
	tx = begin(t, q)
	out = must[[]Enqueued](t)(q.EnqueueManyTx(t.Context(), tx, jobs))
	ok(t, tx.Commit(t.Context()))
	if jobs := take(t, q, "a", 10); len(jobs) != 2 || out[0].ID == 0 || out[1].Existing {
		t.Errorf("enqueued %v, claimed %v", out, jobs)
	}
}

// A hundred thousand, half of them with keys that come again in the same call and in
// the next, across statements.
func TestBulkEnqueueOfAHundredThousand(t *testing.T) {
	t.Parallel()
	q := open(t)
	const jobs, keys = 100_000, 3 * insertBatch
	many := make([]NewJob, jobs)
	for i := range many {
		many[i] = NewJob{Queue: "emails", Payload: json.RawMessage(fmt.Sprintf(`{"n": %d}`, i))}
		if i%2 == 0 {
			many[i].IdempotencyKey = fmt.Sprint("key ", i/2%keys)
		}
	}
	began := time.Now()
	first := enqueueMany(t, q, many...)
	t.Logf("%d jobs in %v", jobs, time.Since(began))
	second := enqueueMany(t, q, many...)
	if n := count(t, q, "select count(*) from leasetop.jobs"); n != jobs+keys {
		t.Errorf("%d rows, want %d", n, jobs+keys)
	}
	if n := count(t, q, "select count(*) from leasetop.jobs join unnest($1::bigint[]) with ordinality as enqueued(id, n) using (id) where (payload ->> 'n')::int = n - 1", ids(first)); n != jobs/2+keys {
		t.Errorf("%d of %d results are their own job's", n, jobs/2+keys)
	}
	for i := range many {
		switch keyed, repeated := i%2 == 0, i/2 >= keys; {
		case keyed && (first[i].Existing != repeated || !second[i].Existing || second[i].ID != first[i].ID || first[i].ID != first[i%(2*keys)].ID):
			t.Fatalf("job %d is %+v, then %+v", i, first[i], second[i])
		case !keyed && (first[i].Existing || second[i].Existing || second[i].ID == first[i].ID):
			t.Fatalf("job %d is %+v, then %+v", i, first[i], second[i])
		}
	}
}

func ids(out []Enqueued) (ids []int64) {
	for _, e := range out {
		ids = append(ids, e.ID)
	}
	return ids
}
