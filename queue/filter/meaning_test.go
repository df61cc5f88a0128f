package filter_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/queue/filter"
)

// What the words mean, by example: each letter is a job.
func TestWhatFiltersFind(t *testing.T) {
	t.Parallel()
	conn := connect(t)
	const names = "abcdef"
	_, err := conn.Exec(t.Context(), `
		INSERT INTO leasetop.jobs (id, queue, kind, status, attempts, idempotency_key, last_error, locked_by, lease_expires_at, errors, run_at, created_at, updated_at, payload) VALUES
		(1, 'emails', 'send', 'dead', 5, 'order-42', 'SMTP 421 rate limited by 10.0.0.9', NULL, NULL,
			'[{"worker": "shop2:1:77aa00ff/w9#1"}, {"worker": "shop1:4711:9f3c01aa/w3#12"}]', now(), now() - interval '3 h', now() - interval '90 s',
			'{"to": "ann@example.com", "n": 5, "big": 1970670598291982290, "tags": ["urgent", "eu"], "items": [{"sku": "x"}, {"sku": "y"}], "ok": true, "none": null, "a.b": "dot"}'),
		(2, 'emails-slow', 'send', 'failed', 3, NULL, 'SMTP 450 rate limited by 10.0.0.12', NULL, NULL,
			'[{"worker": "shop1:4711:9f3c01aa/w30#1"}]', now(), now() - interval '2 d', now() - interval '1 d',
			'{"to": "bob@example.com", "n": "5", "big": 1970670598291982291, "ok": "true", "deep": {"to": "ann@example.com"}}'),
		(3, 'images', 'render', 'pending', 1, NULL, 'Connection REFUSED', NULL, NULL, '[]', now() - interval '1 h', now() - interval '2 h', now(), '{"n": 50}'),
		(4, 'images', '', 'pending', 0, 'order-7', NULL, NULL, NULL, '[]', now() + interval '1 h', now() - interval '1 min', now(), '{"n": -1.50}'),
		(5, 'reports', 'refused', 'processing', 2, NULL, NULL, 'node-17', now(), '[]', now(), now() - interval '1 h 30 min', now(), '[]'),
		(6, 'reports', 'week', 'completed', 1, NULL, NULL, NULL, NULL, '[]', now(), now() - interval '15 d', now(), '"refused"')`)
	if err != nil {
		t.Fatal(err)
	}
	for typed, want := range map[string]string{
		"":                                 "abcdef",
		"queue:images":                     "cd",
		"queue:emails":                     "a",
		"queue:emails*":                    "ab",
		"queue:images,emails":              "acd",
		"queue:images kind:render":         "c",
		`kind:""`:                          "d",
		"kind:*":                           "abcef",
		"!queue:images":                    "abef",
		"!queue:images !status:dead":       "bef",
		"status:dead,failed":               "ab",
		"status:pending":                   "cd",
		"status:ready":                     "c",
		"status:scheduled":                 "d",
		"!status:ready":                    "abdef",
		"refused":                          "ce", // not in payloads
		"Refused images":                   "c",
		"!refused":                         "abdf",
		`"rate limited"`:                   "ab",
		"error:421":                        "a",
		`error:"rate limited by 10.0.0.1"`: "b",
		"error:SMTP*":                      "ab",
		"error:rate*":                      "",
		`error:"SMTP 4"*`:                  "ab",
		`error:"SMTP*"*`:                   "",
		`queue:"emails"*`:                  "ab",
		`payload.to:"ann@"*`:               "a",
		`error:""`:                         "def",
		"error:*":                          "abc",
		"error:421,refused":                "ac",
		"attempts:>2":                      "ab",
		"attempts:3":                       "b",
		"attempts:1..3":                    "bcef",
		"attempts:0,5":                     "ad",
		"age:>1h":                          "abcef",
		"age:>1h45m":                       "abcf",
		"age:<1.5d":                        "acde",
		"age:1h..3.5h":                     "ace",
		"age:>2w":                          "f",
		"!age:>2w":                         "abcde",
		"died:<2m":                         "a",
		"died:>2m":                         "b",
		"!died:>2m":                        "acdef", // who lives has not died so long ago
		"worker:w3":                        "a",
		"worker:w3*":                       "ab",
		"worker:shop1":                     "ab",
		"worker:w3@shop1":                  "a",
		"worker:w3@shop2":                  "",
		"worker:w9":                        "", // had it before
		"worker:shop1:4711:9f3c01aa/w3#12": "a",
		"worker:node-17":                   "e",
		"worker:node*":                     "e",
		`worker:""`:                        "cdf",
		"id:2..4":                          "bcd",
		"id:#5,1":                          "ae",
		"id:>9223372036854775806":          "",
		"key:order-42":                     "a",
		"key:order*":                       "ad",
		`key:""`:                           "bcef",
		"payload.to:ann@example.com":       "a",
		"payload.deep.to:ann*":             "b",
		"payload.n:5":                      "ab",
		`payload.n:"5"`:                    "b",
		"payload.n:5.0":                    "a",
		"payload.n:>4":                     "ac",
		"payload.n:-2..5":                  "ad",
		"!payload.n:>4":                    "bdef",
		"payload.big:1970670598291982290":  "a",
		"payload.big:>1970670598291982290": "b",
		"payload.ok:true":                  "ab",
		"payload.none:null":                "a",
		"payload.none:*":                   "a",
		"payload.tags:eu":                  "a",
		"payload.tags.0:urgent":            "a",
		"payload.tags.1:urgent":            "",
		"payload.items.sku:y":              "a",
		"payload.items.1.sku:x":            "",
		`payload."a.b":dot`:                "a",
		"payload:ANN":                      "ab",
		"payload:50":                       "c",
		"payload:refused":                  "f",
		`fingerprint:"SMTP 421 rate limited by ‹host›"`: "a",
		"fingerprint:SMTP*":      "ab",
		"KIND:send queue:emails": "a",
		"%":                      "",
		"[":                      "",
		".*":                     "",
	} {
		f, err := filter.Parse(typed)
		if err != nil {
			t.Errorf("%s: %v", typed, err)
			continue
		}
		var got strings.Builder
		for _, id := range found(t, conn, f) {
			got.WriteByte(names[id-1])
		}
		if got.String() != want {
			t.Errorf("%s finds %s, want %s: %s", typed, got.String(), want, f.Path())
		}
	}
}

// No element of the array is a text that is not empty: it is not one element that is no
// empty text and another that is a text.
func TestEachElementOfAPayloadIsAskedAlone(t *testing.T) {
	t.Parallel()
	conn := connect(t)
	if _, err := conn.Exec(t.Context(), `INSERT INTO leasetop.jobs (id, queue, payload) VALUES (1, 'q', '{"a": [["", null, 7]]}'), (2, 'q', '{"a": [["", "x"], null]}')`); err != nil {
		t.Fatal(err)
	}
	f, err := filter.Parse("payload:*")
	if err != nil {
		t.Fatal(err)
	}
	if ids := found(t, conn, f); !slices.Equal(ids, []int64{2}) {
		t.Errorf("found %v, want the job with a text", ids)
	}
}
