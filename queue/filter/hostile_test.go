package filter_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/leasetop/leasetop/queue/filter"
)

// Whatever is typed or pasted is literal text or a mistake that is explained, and never
// an error of the database.
func TestHostileTextIsLiteralOrAMistake(t *testing.T) {
	t.Parallel()
	conn := connect(t)
	hostile := append(slices.Clone(texts), "[", "(a+)+$", "%", "'", `"; drop table leasetop.jobs; --`, `\"`, `" || true || "`, `" flag "x`, "$1", "x')--",
		"/*", strings.Repeat("(a+)+$", 300), strings.Repeat(`\`, 2000), strings.Repeat("\x01", 2000), strings.Repeat("👩🏾‍💻", 500))
	for i, text := range hostile {
		if _, err := conn.Exec(t.Context(), "INSERT INTO leasetop.jobs (id, queue, last_error, payload) VALUES ($1, 'q', $2::text, jsonb_build_object('a', $2::text))", i, "before "+text+" behind"); err != nil {
			t.Fatal(err)
		}
	}
	for i, text := range hostile {
		for _, typed := range []string{"error:" + doubled(text), doubled(text), "payload:" + doubled(text), "payload.a:" + doubled("before "+text+" behind")} {
			f, err := filter.Parse(typed)
			if err != nil {
				t.Errorf("%.100q: %v", typed, err)
			} else if ids := found(t, conn, f); !slices.Contains(ids, int64(i)) {
				t.Errorf("%.100q finds %v and not %d", typed, ids, i)
			}
		}
	}
	if _, err := filter.Parse(strings.Repeat("(a+)+$", 20_000)); err == nil {
		t.Error("a text that is too long is looked for")
	}
}

func TestWhateverIsTypedTheDatabaseUnderstands(t *testing.T) {
	t.Parallel()
	conn := connect(t)
	pieces := rapid.SampledFrom(append([]string{
		" ", ":", ",", ".", `"`, "*", "!", ">", "<=", "=", "..", "1", "-", "e", "5h", "0", "\x00", "\xff", "\ufffd", "\u2028", "status:", "dead", "ready", "age:", "died:",
		"id:", "payload", "payload.", "payload:", "worker:", "error:", "key:", "queue:", "fingerprint:", "attempts:", "99999999999", "1e99999", "1e-9999", "00", "@",
	}, texts...))
	if _, err := conn.Exec(t.Context(), "INSERT INTO leasetop.jobs (queue) VALUES ('a')"); err != nil {
		t.Fatal(err)
	}
	understood := 0
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pieces, 0, 8).Draw(t, "pieces"), "")
		f, err := filter.Parse(text)
		at := rapid.IntRange(0, len(text)).Draw(t, "at")
		for _, c := range filter.Complete(text, at, known) {
			if c.From < 0 || c.From > at || c.To < at || c.To > len(text) {
				t.Fatalf("%q at %d: %+v", text, at, c)
			}
		}
		if ids := found(t, conn, f); err != nil && len(ids) > 0 {
			t.Fatalf("%q: found %d beside %v", text, ids, err)
		}
		if err == nil && !f.Empty() {
			understood++
		}
	})
	if understood == 0 {
		t.Error("nothing was understood: the test shows nothing")
	}
}
