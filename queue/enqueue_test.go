package queue

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestEnqueueKeepsTheOrderGiven(t *testing.T) {
	t.Parallel()
	q := open(t)
	jobs := make([]NewJob, 500)
	for i := range jobs {
		jobs[i] = NewJob{Queue: "emails", Kind: fmt.Sprint(i)}
	}
	for i, e := range must[[]Enqueued](t)(q.Enqueue(t.Context(), jobs...)) {
		if e.Existing || i > 0 && e.ID%500 != int64(i+1)%500 {
			t.Fatalf("job %d is %+v", i, e)
		}
	}
	claimed := must[[]Job](t)(q.Claim(t.Context(), ClaimRequest{Queue: "emails", Owner: owner(), Lease: time.Minute, Limit: 500}))
	for i, j := range claimed {
		if j.Kind != fmt.Sprint(i) {
			t.Fatalf("claim %d is the job enqueued as number %s", i, j.Kind)
		}
	}
}

func TestEnqueueIsAllOrNone(t *testing.T) {
	t.Parallel()
	q := open(t)
	if _, err := q.Enqueue(t.Context(), NewJob{Queue: "a"}, NewJob{}); err == nil || !strings.Contains(err.Error(), "job 2") {
		t.Errorf("error %v, want one that names job 2", err)
	}
	if _, err := q.Enqueue(t.Context(), NewJob{Queue: "a"}, NewJob{Queue: "a", Payload: json.RawMessage(`"\u0000"`)}); err == nil || !strings.Contains(err.Error(), `\u0000`) {
		t.Errorf("error %v, want one that names \\u0000", err)
	}
	if n := count(t, q, "select count(*) from leasetop.jobs"); n != 0 {
		t.Errorf("%d jobs were enqueued", n)
	}
	if out, err := q.Enqueue(t.Context()); out != nil || err != nil {
		t.Errorf("none: %v, %v", out, err)
	}
}

func TestEnqueueTxFollowsItsTransaction(t *testing.T) {
	t.Parallel()
	q := open(t)
	tx := begin(t, q)
	must[[]Enqueued](t)(q.EnqueueTx(t.Context(), tx, NewJob{Queue: "emails"}))
	ok(t, tx.Rollback(t.Context()))
	if n := count(t, q, "select count(*) from leasetop.jobs"); n != 0 {
		t.Errorf("%d jobs of a transaction rolled back", n)
	}
}

func TestEnqueueRefusesWhatTheTableWould(t *testing.T) {
	t.Parallel()
	q := open(t)
	for want, job := range map[string]NewJob{
		"no name":                       {},
		"queue of 256 bytes":            {Queue: strings.Repeat("q", 256)},
		"kind of 300 bytes":             {Queue: "q", Kind: strings.Repeat("k", 300)},
		"idempotency key of 1025 bytes": {Queue: "q", IdempotencyKey: strings.Repeat("k", 1025)},
		`queue "a\x00b"`:                {Queue: "a\x00b"},
		`kind "a\xffb"`:                 {Queue: "q", Kind: "a\xffb"},
		`idempotency key "\xff"`:        {Queue: "q", IdempotencyKey: "\xff"},
		"max attempts -1":               {Queue: "q", MaxAttempts: -1},
		"max attempts 2147483648":       {Queue: "q", MaxAttempts: math.MaxInt32 + 1},
		"not valid JSON":                {Queue: "q", Payload: json.RawMessage(`{"a":}`)},
		"JSON in UTF-8":                 {Queue: "q", Payload: json.RawMessage("\"\xff\"")},
		"year 294277":                   {Queue: "q", RunAt: At(time.Date(294277, 1, 1, 0, 0, 0, 0, time.UTC))},
		"year 600000":                   {Queue: "q", RunAt: At(time.Date(600000, 1, 1, 0, 0, 0, 0, time.UTC))},
		"year -5000":                    {Queue: "q", RunAt: At(time.Date(-5000, 1, 1, 0, 0, 0, 0, time.UTC))},
		"infinity 2":                    {Queue: "q", RunAt: Time{Infinity: 2}},
	} {
		_, err := q.Enqueue(t.Context(), job)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "enqueue: ") {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if n := count(t, q, "select count(*) from leasetop.jobs"); n != 0 {
		t.Errorf("%d jobs were enqueued", n)
	}
}

func TestEnqueueTakesTheLongestNames(t *testing.T) {
	t.Parallel()
	q := open(t)
	job := NewJob{Queue: strings.Repeat("é", 127) + "q", Kind: strings.Repeat("k", 255), IdempotencyKey: strings.Repeat("k", 1024), MaxAttempts: math.MaxInt32}
	got := get(t, q, enqueue(t, q, job))
	if got.Queue != job.Queue || got.Kind != job.Kind || got.IdempotencyKey != job.IdempotencyKey || got.MaxAttempts != job.MaxAttempts {
		t.Errorf("%+v", got)
	}
}

// max_attempts 0 from Go means "not said"; in SQL there is nothing that could mean it.
func TestMaxAttemptsMeansTheSameEverywhere(t *testing.T) {
	t.Parallel()
	q := open(t)
	if got := get(t, q, enqueue(t, q, NewJob{})).MaxAttempts; got != DefaultMaxAttempts {
		t.Errorf("not said: %d from Go", got)
	}
	exec(t, q, "insert into leasetop.jobs (queue) values ('sql')")
	if got := count(t, q, "select max_attempts from leasetop.jobs where queue = 'sql'"); got != DefaultMaxAttempts {
		t.Errorf("not said: %d from SQL", got)
	}
	for _, refused := range []string{"0", "-1", "'3.5'", "2147483648"} {
		if _, err := q.Pool().Exec(t.Context(), "insert into leasetop.jobs (queue, max_attempts) values ('sql', "+refused+")"); err == nil {
			t.Errorf("SQL takes max_attempts %s", refused)
		}
	}
	if got := get(t, q, enqueue(t, q, NewJob{MaxAttempts: 1})).MaxAttempts; got != 1 {
		t.Errorf("1 becomes %d", got)
	}
}

func TestPayloadNumbersAreKeptVerbatim(t *testing.T) {
	t.Parallel()
	q := open(t)
	for _, number := range []string{
		"1970670598291982290", "-9223372036854775809", "0.1", "1.10", "1e400", "1.5e-300",
		"123456789012345678901234567890.123456789012345678901234567890", "-0",
	} {
		enqueue(t, q, NewJob{Queue: number, Payload: json.RawMessage(`{"n": ` + number + `}`), MaxAttempts: 1})
		seen := func(where string, payload json.RawMessage) string {
			var p struct{ N json.Number }
			decoder := json.NewDecoder(strings.NewReader(string(payload)))
			decoder.UseNumber()
			ok(t, decoder.Decode(&p))
			got, _ := new(big.Rat).SetString(p.N.String())
			want, _ := new(big.Rat).SetString(number)
			if got.Cmp(want) != 0 {
				t.Errorf("%s: %s became %s", where, number, p.N)
			}
			return string(payload)
		}
		job := claimFrom(t, q, number, time.Minute)
		first := seen("claimed", job.Payload)
		ok(t, q.Bury(t.Context(), job.Lease(), "poison"))
		must[Done](t)(q.Redrive(t.Context(), "ann", job.ID))
		if again := seen("redriven", claimFrom(t, q, number, time.Minute).Payload); again != first {
			t.Errorf("%s changed in a redrive", first)
		}
		if again := seen("shown", get(t, q, job.ID).Payload); again != first {
			t.Errorf("%s is shown as %s", first, again)
		}
	}
}

// A delay counts from the database's now, and a time is taken as it is.
func TestRunAt(t *testing.T) {
	t.Parallel()
	q := open(t)
	delayed := get(t, q, enqueue(t, q, NewJob{Delay: 90 * time.Second}))
	if got := delayed.RunAt.Sub(delayed.CreatedAt); got != 90*time.Second {
		t.Errorf("a delay of 90 s became %v", got)
	}
	past := get(t, q, enqueue(t, q, NewJob{Delay: -time.Hour}))
	if !past.RunAt.Equal(past.CreatedAt) {
		t.Errorf("a negative delay is due %v, enqueued %v", past.RunAt, past.CreatedAt)
	}
	at := time.Date(2031, 3, 30, 2, 30, 0, 123456000, time.FixedZone("", 7*3600+1800))
	if got := get(t, q, enqueue(t, q, NewJob{RunAt: At(at)})); !got.RunAt.Equal(at) {
		t.Errorf("%v became %v", at, got.RunAt)
	}
}

func TestIdempotencyKeys(t *testing.T) {
	t.Parallel()
	q := open(t)
	job := NewJob{Queue: "emails", IdempotencyKey: "order 7"}
	first := must[[]Enqueued](t)(q.Enqueue(t.Context(), job))[0]
	expect := func(when string, want Enqueued) {
		t.Helper()
		if got := must[[]Enqueued](t)(q.Enqueue(t.Context(), job))[0]; got != want {
			t.Errorf("%s: %+v, want %+v", when, got, want)
		}
	}
	expect("while pending", Enqueued{ID: first.ID, Existing: true})
	lease := claim(t, q, time.Minute).Lease()
	expect("while processing", Enqueued{ID: first.ID, Existing: true})

	other := must[[]Enqueued](t)(q.Enqueue(t.Context(), NewJob{Queue: "reports", IdempotencyKey: "order 7"}))[0]
	if other.Existing {
		t.Error("another queue's key is in the way")
	}
	ok(t, q.Complete(t.Context(), lease))
	second := must[[]Enqueued](t)(q.Enqueue(t.Context(), job))[0]
	if second.Existing || second.ID == first.ID {
		t.Errorf("a completed job keeps its key: %+v", second)
	}
	ok(t, q.Bury(t.Context(), claim(t, q, time.Minute).Lease(), "poison"))
	if third := must[[]Enqueued](t)(q.Enqueue(t.Context(), job))[0]; third.Existing {
		t.Errorf("a dead job keeps its key: %+v", third)
	}
}

func TestIdempotencyKeysWithinOneCall(t *testing.T) {
	t.Parallel()
	q := open(t)
	out := must[[]Enqueued](t)(q.Enqueue(t.Context(),
		NewJob{Queue: "a", IdempotencyKey: "k"}, NewJob{Queue: "a"}, NewJob{Queue: "a", IdempotencyKey: "k"},
		NewJob{Queue: "b", IdempotencyKey: "k"}, NewJob{Queue: "a", IdempotencyKey: "k"}))
	if out[0].Existing || out[1].Existing || out[3].Existing ||
		out[2] != (Enqueued{out[0].ID, true}) || out[4] != (Enqueued{out[0].ID, true}) || out[3].ID == out[0].ID {
		t.Errorf("%+v", out)
	}
}

func TestIdempotencyKeyRace(t *testing.T) {
	t.Parallel()
	q := open(t)
	var racers sync.WaitGroup
	var inserted sync.Map
	for range 8 {
		racers.Go(func() {
			for n := range 25 {
				key := fmt.Sprint("k", n)
				out, err := q.Enqueue(t.Context(), NewJob{Queue: "emails", IdempotencyKey: key})
				if err != nil {
					t.Error(err)
					return
				}
				if id, known := inserted.LoadOrStore(key, out[0].ID); known && id != out[0].ID {
					t.Errorf("key %s stands for job %d and job %d", key, id, out[0].ID)
				}
			}
		})
	}
	racers.Wait()
	if n := count(t, q, "select count(*) from leasetop.jobs"); n != 25 {
		t.Errorf("%d jobs for 25 keys", n)
	}
}

// Two callers enqueue the same keys in opposite orders, in large batches.
func TestEnqueuesOfTheSameKeysDoNotDeadlock(t *testing.T) {
	t.Parallel()
	q := openWith(t, 8, "deadlock_timeout = 20")
	var racers sync.WaitGroup
	for n := range 4 {
		racers.Go(func() {
			for round := range 6 {
				jobs := make([]NewJob, 1500)
				for i := range jobs {
					jobs[i] = NewJob{Queue: fmt.Sprint("q", i%3), IdempotencyKey: fmt.Sprint(round, " ", i)}
				}
				if n%2 == 1 {
					slices.Reverse(jobs)
				}
				out, err := q.Enqueue(t.Context(), jobs...)
				if err != nil {
					t.Error(err)
					return
				}
				for i := 1; i < len(out); i++ {
					if !out[i].Existing && !out[i-1].Existing && out[i].ID <= out[i-1].ID {
						t.Errorf("ids %d and %d are not in the order given", out[i-1].ID, out[i].ID)
					}
				}
			}
		})
	}
	racers.Wait()
}

// A key is given free just after the enqueue found it in use: then the job is new.
func TestEnqueueOfAKeyThatIsGivenFree(t *testing.T) {
	t.Parallel()
	q := open(t)
	stop := make(chan struct{})
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for {
				jobs, err := q.Claim(t.Context(), ClaimRequest{Queue: "emails", Owner: owner(), Lease: time.Minute, Limit: 1})
				if err != nil {
					t.Error(err)
					return
				}
				for _, job := range jobs {
					if err := q.Complete(t.Context(), job.Lease()); err != nil {
						t.Error(err)
					}
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	var racers sync.WaitGroup
	for range 4 {
		racers.Go(func() {
			for range 250 {
				if out, err := q.Enqueue(t.Context(), NewJob{Queue: "emails", IdempotencyKey: "k"}); err != nil || out[0].ID == 0 {
					t.Error(out, err)
					return
				}
			}
		})
	}
	racers.Wait()
	close(stop)
	workers.Wait()
}
