package queue

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// payloadOf is a job's payload, as PostgreSQL prints it.
func payloadOf(t testing.TB, q *Queue, id int64) string {
	t.Helper()
	return string(get(t, q, id).Payload)
}

func TestEditReplacesThePayloadAndKeepsTheOriginal(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := buried(t, q, NewJob{Payload: []byte(`{"to": "ann@exmaple.com"}`)})
	before := get(t, q, id)
	must[bool](t)(q.EditPayload(t.Context(), "ann", Edit{ID: id, Was: before.Payload, Payload: []byte(`{"to":"ann@example.com"}`), Reason: "a typo"}))
	j := get(t, q, id)
	if last := j.Errors[len(j.Errors)-1]; string(j.Payload) != `{"to": "ann@example.com"}` || last.Outcome != "edited" || last.Worker != "ann" || last.Error != "a typo" {
		t.Errorf("%s, %+v", j.Payload, j.Errors)
	}
	if j.Status != Dead || !j.DiedAt.Equal(*before.DiedAt) || j.LastError != before.LastError || j.Attempts != before.Attempts {
		t.Errorf("it was %+v, and is %+v", before, j)
	}
	must[bool](t)(q.EditPayload(t.Context(), "bob", Edit{ID: id, Was: j.Payload, Payload: []byte(`[]`)}))
	originals := must[[]Original](t)(q.Originals(t.Context(), id))
	if len(originals) != 2 || string(originals[0].Payload) != string(before.Payload) || originals[0].By != "ann" || originals[0].Reason != "a typo" ||
		string(originals[1].Payload) != string(j.Payload) || originals[1].By != "bob" || originals[1].At.Before(originals[0].At) {
		t.Errorf("%+v", originals)
	}
}

func TestEditAndRedriveAreOne(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := buried(t, q, NewJob{IdempotencyKey: "k"})
	ears := listen(t, q, q.Schema().ReadyChannel())
	must[bool](t)(q.EditPayload(t.Context(), "ann", Edit{ID: id, Was: []byte(`{}`), Payload: []byte(`{"n": 1}`), Redrive: true}))
	if j := get(t, q, id); j.Status != Pending || j.Attempts != 0 || string(j.Payload) != `{"n": 1}` {
		t.Errorf("%+v", j)
	}
	ears.hears(t, "emails")

	// Its key is in use by now: nothing is written.
	ok(t, q.Bury(t.Context(), claim(t, q, time.Minute).Lease(), "poison"))
	holder := enqueue(t, q, NewJob{IdempotencyKey: "k"})
	before := rowOf(t, q, id)
	err := errorOf(q.EditPayload(t.Context(), "ann", Edit{ID: id, Was: []byte(`{"n": 1}`), Payload: []byte(`{"n": 2}`), Redrive: true}))
	if want := "nothing was written, since its idempotency key in use by #" + strconv.FormatInt(holder, 10); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	if rowOf(t, q, id) != before || len(must[[]Original](t)(q.Originals(t.Context(), id))) != 1 {
		t.Error("something was written")
	}
}

// Two operators edit one job: one wins, the other is told.
func TestTwoEditorsOfOneJob(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := buried(t, q, NewJob{Payload: []byte(`{"n": 0}`)})
	var errs [4]error
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			errs[i] = errorOf(q.EditPayload(t.Context(), "ann", Edit{ID: id, Was: []byte(`{"n": 0}`), Payload: []byte(`{"n": ` + strconv.Itoa(i+1) + `}`), Redrive: i%2 == 0}))
		})
	}
	all.Wait()
	won := 0
	for i, err := range errs {
		switch {
		case err == nil:
			won++
			if got, want := payloadOf(t, q, id), `{"n": `+strconv.Itoa(i+1)+`}`; got != want {
				t.Errorf("the payload is %s, the winner's was %s", got, want)
			}
		case !errors.Is(err, ErrEdited) || !strings.Contains(err.Error(), "by now") && !strings.Contains(err.Error(), "any more"):
			t.Errorf("the loser is told %v", err)
		}
	}
	if won != 1 || len(must[[]Original](t)(q.Originals(t.Context(), id))) != 1 {
		t.Errorf("%d won", won)
	}
}

// Nothing of a job that runs or is over is written, and the error says why.
func TestEditOfWhatCannotBeEdited(t *testing.T) {
	t.Parallel()
	q := open(t)
	running := claimed(t, q, NewJob{}, time.Minute).ID
	done := claimed(t, q, NewJob{Queue: "done"}, time.Minute)
	ok(t, q.Complete(t.Context(), done))
	gone := buried(t, q, NewJob{Queue: "gone"})
	must[Done](t)(q.Discard(t.Context(), "ann", "", gone))
	for id, want := range map[int64]string{
		running: "it is processing: changed meanwhile", done.ID: "it is completed: changed meanwhile",
		gone: "already discarded: no such job", 4711: "no such job",
	} {
		err := errorOf(q.EditPayload(t.Context(), "ann", Edit{ID: id, Was: []byte(`{}`), Payload: []byte(`1`)}))
		if err == nil || !strings.HasSuffix(err.Error(), ": "+want) || errors.Is(err, ErrEdited) == errors.Is(err, ErrNotFound) {
			t.Errorf("job %d: %v, want %s", id, err, want)
		}
	}
	if n := count(t, q, "select count(*) from leasetop.originals"); n != 0 {
		t.Errorf("%d originals", n)
	}
}

// What jsonb cannot hold is refused in words, and the payload stays.
func TestEditRefusesWhatCannotBeStored(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := buried(t, q, NewJob{})
	for payload, want := range map[string]string{
		"":                       "not valid JSON",
		`{"to": }`:               "not valid JSON: invalid character '}'",
		`{} {}`:                  "not valid JSON",
		`{"a": "x\u0000y"}`:      `holds \u0000, which jsonb cannot store: leave it out`,
		"\"\xff\"":               "not valid JSON in UTF-8",
		`"\ud800"`:               `holds \ud800, half of a character, which jsonb cannot store: leave it out`,
		`{"\uDE00 ": 1}`:         `holds \uDE00, half of a character, which`,
		`["\ud83d\ud83d\ude00"]`: `holds \ud83d, half of a character, which`,
		`["\ud83dx\ude00"]`:      `holds \ud83d, half`,
		`["\\\ud83d"]`:           `holds \ud83d, half`,
		`[1e200000]`:             "a number too large or too small for jsonb",
	} {
		err := errorOf(q.EditPayload(t.Context(), "ann", Edit{ID: id, Was: []byte(`{}`), Payload: []byte(payload)}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", payload, err, want)
		}
	}
	if payloadOf(t, q, id) != `{}` {
		t.Error("the payload changed")
	}
}

// CASES "Numbers": through an edit, and in the original.
func TestEditKeepsNumbersAsTheyAre(t *testing.T) {
	t.Parallel()
	q := open(t)
	const numbers = `{"a": 1970670598291982290, "b": 1e400, "c": -0, "d": 1.10}`
	printed := `{"a": 1970670598291982290, "b": 1` + strings.Repeat("0", 400) + `, "c": 0, "d": 1.10}`
	id := buried(t, q, NewJob{})
	must[bool](t)(q.EditPayload(t.Context(), "ann", Edit{ID: id, Was: []byte(`{}`), Payload: []byte(numbers)}))
	if got := payloadOf(t, q, id); got != printed {
		t.Errorf("edited to %s", got)
	}
	// 1.1 is another text than 1.10, so it was another payload.
	if err := errorOf(q.EditPayload(t.Context(), "ann", Edit{ID: id, Was: []byte(strings.Replace(numbers, "1.10", "1.1", 1)), Payload: []byte(`{}`)})); !errors.Is(err, ErrEdited) {
		t.Errorf("error %v", err)
	}
	must[bool](t)(q.EditPayload(t.Context(), "ann", Edit{ID: id, Was: []byte(numbers), Payload: []byte(`{}`), Redrive: true}))
	if o := must[[]Original](t)(q.Originals(t.Context(), id)); len(o) != 2 || string(o[1].Payload) != printed {
		t.Errorf("kept %+v", o)
	}
}

func TestEditOfTheSamePayloadLeavesIt(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := buried(t, q, NewJob{Payload: []byte(`{"a": 1, "b": [2]}`)})
	changed := must[bool](t)(q.EditPayload(t.Context(), "ann", Edit{ID: id, Was: []byte(`{"a":1,"b":[2]}`), Payload: []byte("{\"b\": [2],\n\"a\": 1}")}))
	if n := len(must[[]Original](t)(q.Originals(t.Context(), id))); changed || n != 0 || len(get(t, q, id).Errors) != 1 {
		t.Errorf("%d originals, %+v", n, get(t, q, id).Errors)
	}
}

// A cancel from before a redrive, which the first release's left in the row, is not meant
// any more; an entry of the history that comes after the redrive does not bring it back.
func TestNeitherEditNorRunNowBringsBackACancel(t *testing.T) {
	t.Parallel()
	q := open(t)
	for name, do := range map[string]func(id int64) error{
		"edit": func(id int64) error {
			return errorOf(q.EditPayload(t.Context(), "ann", Edit{ID: id, Was: []byte(`{}`), Payload: []byte(`1`)}))
		},
		"run now": func(id int64) error { return skipped(q.RunNow(t.Context(), "ann", id)) },
	} {
		id := enqueue(t, q, NewJob{Queue: name, Delay: time.Hour})
		exec(t, q, `update leasetop.jobs set cancelled_by = 'bob', errors = '[{"outcome": "redriven"}]' where id = $1`, id)
		ok(t, do(id))
		exec(t, q, "update leasetop.jobs set run_at = now() where id = $1", id)
		if job := claimFrom(t, q, name, time.Minute); job.CancelledBy != "" {
			t.Errorf("%s: claimed as cancelled by %s", name, job.CancelledBy)
		}
	}
}

// Payloads are personal data: a purge takes what edits replaced with the job itself.
func TestPurgeTakesTheOriginalsWithTheirJobs(t *testing.T) {
	t.Parallel()
	q := open(t)
	edit := func(id int64) {
		must[bool](t)(q.EditPayload(t.Context(), "ann", Edit{ID: id, Was: []byte(payloadOf(t, q, id)), Payload: []byte(`"new"`)}))
	}
	kept := func(id int64) int { return len(must[[]Original](t)(q.Originals(t.Context(), id))) }
	archived, left, done := buried(t, q, NewJob{}), buried(t, q, NewJob{}), enqueue(t, q, NewJob{})
	edit(archived)
	edit(left)
	edit(done)
	ok(t, q.Complete(t.Context(), claim(t, q, time.Minute).Lease()))
	must[Done](t)(q.Discard(t.Context(), "ann", "", archived))
	if kept(archived) != 1 {
		t.Error("a discard forgets the original")
	}
	if n := must[Purged](t)(q.Purge(t.Context(), Purge{What: PurgeArchive}, nil)).Deleted; n != 1 || kept(archived) != 0 || kept(done) != 1 {
		t.Errorf("purged %d of the archive, and there are %d, %d originals", n, kept(archived), kept(done))
	}
	if n := must[Purged](t)(q.Purge(t.Context(), Purge{What: PurgeCompleted}, nil)).Deleted; n != 1 || kept(done) != 0 || kept(left) != 1 {
		t.Errorf("purged %d completed, and there are %d, %d originals", n, kept(done), kept(left))
	}
}

// What PostgreSQL refuses of valid JSON in UTF-8 is found before it is sent, and nothing else.
func TestWhatJSONBCannotHoldIsFoundExactly(t *testing.T) {
	t.Parallel()
	q := open(t)
	random := rand.New(rand.NewPCG(5, 5))
	parts := []string{`\ud83d`, `\ude00`, `\uDBFF`, `\u0000`, `\u0041`, `\\`, `u0000`, `ud800`, `\"`, `x`, `\n`, `\uffff`, `😀`}
	refused := 0
	for range 1000 {
		text := `"`
		for range 1 + random.IntN(4) {
			text += parts[random.IntN(len(parts))]
		}
		text += `"`
		_, err := q.pool.Exec(t.Context(), "select $1::text::jsonb", text)
		if checked := checkPayload(json.RawMessage(text)); (checked == nil) != (err == nil) {
			t.Errorf("%s: %v, but PostgreSQL says %v", text, checked, err)
		}
		if err != nil {
			refused++
		}
	}
	if refused < 100 || refused > 900 {
		t.Errorf("PostgreSQL refused %d of 1000", refused)
	}
}
