package queue

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// CASES "Numbers": what no Go type holds goes in, by whatever way, as the number it is,
// and is the same text wherever it is read, and whatever was done to the job meanwhile.
func TestNumbersAreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	q := open(t)
	for number, printed := range map[string]string{
		"1970670598291982290":  "1970670598291982290",
		"1e400":                "1" + strings.Repeat("0", 400),
		"-0":                   "0", // jsonb knows one zero
		"1.10":                 "1.10",
		"-9223372036854775809": "-9223372036854775809",
		"123456789012345678901234567890.123456789012345678901234567890": "123456789012345678901234567890.123456789012345678901234567890",
		"5e-324": "0." + strings.Repeat("0", 323) + "5",
	} {
		payload := json.RawMessage(`{"n": ` + number + `}`)
		want := `{"n": ` + printed + `}`
		for way, enqueue := range map[string]func(NewJob) ([]Enqueued, error){
			"insert": func(job NewJob) ([]Enqueued, error) { return q.Enqueue(t.Context(), job) },
			"copy":   func(job NewJob) ([]Enqueued, error) { return q.EnqueueMany(t.Context(), []NewJob{job}) },
			"in a transaction": func(job NewJob) (out []Enqueued, err error) {
				err = pgx.BeginFunc(t.Context(), q.Pool(), func(tx pgx.Tx) error {
					out, err = q.EnqueueTx(t.Context(), tx, job)
					return err
				})
				return out, err
			},
			"copy in a transaction": func(job NewJob) (out []Enqueued, err error) {
				err = pgx.BeginFunc(t.Context(), q.Pool(), func(tx pgx.Tx) error {
					out, err = q.EnqueueManyTx(t.Context(), tx, []NewJob{job})
					return err
				})
				return out, err
			},
			"as a value": func(job NewJob) ([]Enqueued, error) {
				job.Payload, job.Value = nil, map[string]any{"n": json.Number(number)}
				return q.Enqueue(t.Context(), job)
			},
		} {
			name := number + " by " + way
			expect := func(where string, got json.RawMessage) {
				t.Helper()
				if string(got) != want {
					t.Errorf("%s: %s has %s", name, where, got)
				}
			}
			id := must[[]Enqueued](t)(enqueue(NewJob{Queue: name, Payload: payload}))[0].ID
			expect("get", get(t, q, id).Payload)
			for range 2 {
				job := claimFrom(t, q, name, time.Minute)
				expect("claim", job.Payload)
				ok(t, q.Bury(t.Context(), job.Lease(), "poison"))
				must[Done](t)(q.Discard(t.Context(), "ann", "", id))
				expect("archive", payloadsOf(t, q.ArchivedPayloads(t.Context(), 0, id))[id])
				must[Done](t)(q.Restore(t.Context(), "ann", id))
				must[Done](t)(q.Redrive(t.Context(), "ann", id))
			}
			seen, _, err := q.Preview(t.Context(), id, 10_000)
			ok(t, err)
			expect("preview", seen.Payload)
			expect("payloads", payloadsOf(t, q.Payloads(t.Context(), 0, id))[id])
			if cut, _, err := q.Preview(t.Context(), id, 8); err != nil || string(cut.Payload) != want[:8] {
				t.Errorf("%s: cut to %s, %v", name, cut.Payload, err)
			}
		}
		was, _ := new(big.Rat).SetString(number)
		if is, _ := new(big.Rat).SetString(printed); was.Cmp(is) != 0 {
			t.Errorf("%s is not %s", printed, number)
		}
	}
}

// Beyond that even PostgreSQL has no number: refused in words, and nothing is added.
func TestNumbersBeyondPostgreSQLAreRefused(t *testing.T) {
	t.Parallel()
	q := open(t)
	for _, number := range []string{"1e200000", "1e-20000"} {
		jobs := []NewJob{{Queue: "emails"}, {Queue: "emails", Payload: json.RawMessage(`[` + number + `]`)}}
		_, one := q.Enqueue(t.Context(), jobs...)
		_, many := q.EnqueueMany(t.Context(), jobs)
		for _, err := range []error{one, many} {
			if err == nil || !strings.Contains(err.Error(), "a number too large or too small for jsonb") {
				t.Errorf("%s: %v", number, err)
			}
		}
	}
	if n := count(t, q, "select count(*) from leasetop.jobs"); n != 0 {
		t.Errorf("%d jobs were added", n)
	}
}
