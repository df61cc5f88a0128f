package filter_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/leasetop/leasetop/queue/filter"
)

// texts are names and errors and what is looked for in them. Few letters, that filters
// find something; and whatever may mean something to somebody.
var texts = []string{
	"a", "A", "ab", "aba", "b a", "B*", "*", "!a", ">3", "a..b", "a,b", "a:b", "a.b", `"`, `a"b`, `\`, `\d`, `\u0041`, "a/b", "'; drop", "%", "_", "[",
	"(a+)+$", "^a", "a|b", ".", "***:a", "(?i)a", "\x1b[2J", "\x7f", "a\tb", "a\nb", "\u00a0", "\u202e", "‹n›", "é", "👩🏾‍💻", "5", "-1", "1e2", "true", "null", "$", "@", "$[0]",
	"1970670598291982290", "w1", "w10", "h1",
}

var (
	someText   = rapid.SampledFrom(texts)
	textOrNone = rapid.SampledFrom(append([]string{""}, texts...))
	queueName  = rapid.SampledFrom(texts[:8])
	statusName = rapid.SampledFrom([]string{"pending", "processing", "completed", "failed", "dead"})
	number     = rapid.SampledFrom([]string{"0", "5", "-1", "1e2", "100", "1970670598291982290", "1970670598291982291", "0.1", "0.10000000000000000001", "1e400"})
	ownerOf    = rapid.Custom(func(t *rapid.T) string {
		worker := rapid.SampledFrom([]string{"w1", "w10", "w1@h1", "h1", "[", "a"}).Draw(t, "worker")
		if rapid.IntRange(0, 3).Draw(t, "foreign") == 0 {
			return worker
		}
		host := rapid.SampledFrom([]string{"h1", "h10", "w1"}).Draw(t, "host")
		return fmt.Sprintf("%s:%d:%s/%s#%d", host, 1, "9f3c01aa", worker, rapid.IntRange(1, 20).Draw(t, "claim"))
	})
	members = []string{"a", "b", "a.b", "0", `"`}
)

// document draws JSON.
func document(t *rapid.T, depth int) string {
	kind := rapid.IntRange(0, 5).Draw(t, "value")
	if depth == 0 || kind > 1 {
		switch kind {
		case 0, 1, 2:
			return rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "literal")
		case 3:
			return number.Draw(t, "number")
		}
		return string(quoteJSON(textOrNone.Draw(t, "text")))
	}
	var parts []string
	for i := range rapid.IntRange(0, 3).Draw(t, "parts") {
		part := document(t, depth-1)
		if kind == 0 {
			part = quoteJSON(members[i]) + ":" + part
		}
		parts = append(parts, part)
	}
	if kind == 0 {
		return "{" + strings.Join(parts, ",") + "}"
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func quoteJSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < ' ' || r == '"' || r == '\\' {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}

func drawJob(t *rapid.T) *job {
	j := &job{
		id: rapid.Int64Range(-2, 30).Draw(t, "id"), queue: queueName.Draw(t, "queue"), kind: textOrNone.Draw(t, "kind"),
		status: statusName.Draw(t, "status"), key: textOrNone.Draw(t, "key"), err: textOrNone.Draw(t, "error") + textOrNone.Draw(t, "more"),
		attempts: rapid.IntRange(0, 6).Draw(t, "attempts"), due: rapid.Bool().Draw(t, "due"), hours: rapid.OneOf(rapid.IntRange(2, 50), rapid.IntRange(160, 176)).Draw(t, "hours"),
		payload: document(t, 3),
	}
	if j.status == "processing" || rapid.Bool().Draw(t, "history") {
		j.worker = ownerOf.Draw(t, "owner")
	}
	return j
}

// insert puts jobs into an empty table, without those that cannot stand beside another,
// and reads what the table makes of their errors.
func insert(t *rapid.T, conn *pgx.Conn, drawn []*job) (jobs []*job) {
	ctx := context.Background()
	var batch pgx.Batch
	batch.Queue("DELETE FROM leasetop.jobs")
	for _, j := range drawn {
		if slices.ContainsFunc(jobs, func(k *job) bool { return j.id == k.id || j.key != "" && j.queue == k.queue && j.key == k.key }) {
			continue
		}
		jobs = append(jobs, j)
		batch.Queue(`
			INSERT INTO leasetop.jobs (id, queue, kind, status, idempotency_key, last_error, attempts, run_at, created_at, updated_at,
				payload, locked_by, lease_expires_at, errors)
			VALUES ($1, $2, $3, $4::text, nullif($5, ''), nullif($6, ''), $7, now() + CASE WHEN $8 THEN -interval '1 h' ELSE interval '1 h' END,
				now() - $9 * interval '1 h' - interval '30 min', now() - $9 * interval '1 h' + interval '30 min', $10::jsonb,
				CASE WHEN $4 = 'processing' THEN $11::text END, CASE WHEN $4 = 'processing' THEN now() END,
				CASE WHEN $4 = 'processing' THEN '[{"worker": "before"}]'
				     WHEN $11::text = '' THEN '[]'
				     ELSE jsonb_build_array('{"worker": "before"}'::jsonb, jsonb_build_object('worker', $11::text)) END)
			RETURNING coalesce(fingerprint, '')`,
			j.id, j.queue, j.kind, j.status, j.key, j.err, j.attempts, j.due, j.hours, j.payload, j.worker)
	}
	results := conn.SendBatch(ctx, &batch)
	if _, err := results.Exec(); err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if err := results.QueryRow().Scan(&j.problem); err != nil {
			t.Fatalf("%+v: %v", j, err)
		}
	}
	if err := results.Close(); err != nil {
		t.Fatal(err)
	}
	return jobs
}

func TestPostgreSQLFindsWhatAFilterMeans(t *testing.T) {
	t.Parallel()
	conn := connect(t)
	some, all := map[string]int{}, 0
	rapid.Check(t, func(t *rapid.T) {
		jobs := insert(t, conn, rapid.SliceOfN(rapid.Custom(drawJob), 1, 20).Draw(t, "jobs"))
		typist := typist{t, rapid.SampledFrom(heard(jobs))}
		for range 100 {
			var words []string
			means := func(*job) bool { return true }
			var keys []string
			for range rapid.IntRange(1, 2).Draw(t, "words") {
				key, word, test := typist.word()
				before := means
				means = func(j *job) bool { return before(j) && test(j) }
				words, keys = append(words, word), append(keys, key)
			}
			text := strings.Join(words, " ")
			f, err := filter.Parse(text)
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			var want []int64
			for _, j := range jobs {
				if means(j) {
					want = append(want, j.id)
				}
			}
			slices.Sort(want)
			if got := found(t, conn, f); !slices.Equal(got, want) {
				var payloads []string
				for _, j := range jobs {
					payloads = append(payloads, j.payload)
				}
				t.Fatalf("%q finds %v, want %v\n%s\npayloads %q", text, got, want, f.Path(), payloads)
			}
			all++
			if len(keys) == 1 && len(want) > 0 && len(want) < len(jobs) {
				some[keys[0]]++
			}
		}
	})
	for _, k := range filter.Keys() {
		if !t.Failed() && some[k.Name] == 0 {
			t.Errorf("of %d filters none with %s told jobs apart: the test shows nothing of it", all, k.Name)
		}
	}
}
