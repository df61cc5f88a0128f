package sift

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

var known = []string{"claimed", "completed", "failed", "buried", "cancel asked", "cancelled", "reclaimed", "reclaimed dead"}

func TestWordsAreRead(t *testing.T) {
	t.Parallel()
	exact := func(texts ...string) []Name { return Names(texts) }
	for _, c := range []struct {
		typed string
		open  bool
		want  Sift
	}{
		{typed: ""},
		{typed: " \t "},
		{typed: "SMTP 421", want: Sift{Words: []string{"smtp", "421"}}},
		{typed: `"SMTP 421"`, want: Sift{Words: []string{"smtp 421"}}},
		{typed: "queue:emails", want: Sift{Queues: exact("emails")}},
		{typed: "QUEUE:Emails", want: Sift{Queues: exact("Emails")}},
		{typed: "queue:emails,images kind:send queue:reports", want: Sift{Queues: exact("emails", "images", "reports"), Kinds: exact("send")}},
		{typed: "job:123,#4 job:-5", want: Sift{Jobs: []int64{123, 4, -5}}},
		{typed: "worker:w3", want: Sift{Workers: exact("w3")}},
		{typed: "queue:em*", want: Sift{Queues: []Name{{"em", true}}}},
		{typed: `queue:"em*"`, want: Sift{Queues: exact("em*")}},
		{typed: `queue:"a b,c:d""e"`, want: Sift{Queues: exact(`a b,c:d"e`)}},
		{typed: `queue:""`, want: Sift{Queues: exact("")}},
		{typed: `"what:buried"`, want: Sift{Words: []string{"what:buried"}}},
		{typed: "what:buried,failed", want: Sift{Whats: []string{"buried", "failed"}}},
		{typed: "what:Cancel-Asked what:cancel_asked", want: Sift{Whats: []string{"cancel asked", "cancel asked"}}},
		{typed: "what:cancel", want: Sift{Whats: []string{"cancel asked", "cancelled"}}},
		{typed: "what:reclaimed", want: Sift{Whats: []string{"reclaimed"}}},
		{typed: "what:re*", want: Sift{Whats: []string{"reclaimed", "reclaimed dead"}}},
		{typed: "!queue:em* !SMTP", want: Sift{Not: []Sift{{Queues: []Name{{"em", true}}}, {Words: []string{"smtp"}}}}},
		{typed: `"!smtp" a!b`, want: Sift{Words: []string{"!smtp", "a!b"}}},
		// Patterns of other languages are letters here.
		{typed: `(a+)+$ [ % ' ; drop`, want: Sift{Words: []string{"(a+)+$", "[", "%", "'", ";", "drop"}}},
		{typed: `queue:.*`, want: Sift{Queues: []Name{{".", true}}}},
		{typed: `queue:%`, want: Sift{Queues: exact("%")}},
		// What is still being typed may go on.
		{typed: "queue:em", open: true, want: Sift{Queues: []Name{{"em", true}}}},
		{typed: "queue:em ", open: true, want: Sift{Queues: exact("em")}},
		{typed: "queue:em kind:s", open: true, want: Sift{Queues: exact("em"), Kinds: []Name{{"s", true}}}},
		{typed: "queue:em,im", open: true, want: Sift{Queues: []Name{{"em", false}, {"im", true}}}},
		{typed: `queue:"e`, open: true, want: Sift{Queues: exact("e")}},
		{typed: "queue:", open: true},
		{typed: "queue:em,", open: true, want: Sift{Queues: exact("em")}},
		{typed: "job:#", open: true},
		{typed: "!", open: true},
		{typed: "!queue:", open: true},
		{typed: "wha", open: true, want: Sift{Words: []string{"wha"}}},
		{typed: `"`, open: true},
	} {
		got, err := Parse(c.typed, known, c.open)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q, open %v, is read as %+v (error %v), want %+v", c.typed, c.open, got, err, c.want)
		}
	}
}

func TestMistakesAreExplainedAndTheRestHolds(t *testing.T) {
	t.Parallel()
	for typed, says := range map[string]string{
		"what:burried worker:w3":            `what: nothing is called "burried": buried?`,
		"what:zzz worker:w3":                `what: nothing is called "zzz" (claimed, completed, failed`,
		"what: worker:w3":                   "what: which? Nothing stands behind it",
		"queue:, worker:w3":                 "queue: which? Nothing stands behind it",
		"job:12x worker:w3":                 `job: "12x" is no whole number`,
		"job:9223372036854775808 worker:w3": "job: 9223372036854775808 is beyond all ids",
		"qeue:a worker:w3":                  "qeue: is no key (what, queue, kind, job, worker are); if it is text, quote it",
		"12:04 worker:w3":                   "12: is no key (",
		": worker:w3":                       ": is no key (",
	} {
		got, err := Parse(typed, known, true)
		if err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%q: error %v, want %s…", typed, err, says)
		}
		if got.Empty() || got.Workers[0].Text != "w3" || len(got.Words)+len(got.Queues)+len(got.Jobs)+len(got.Whats) > 0 {
			t.Errorf("%q: beside the mistake it is %+v, want worker:w3 alone", typed, got)
		}
	}
}

// Whatever is typed or pasted: it is read in no time, and only what parts words is
// lost of it.
func TestAnythingCanBeTyped(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 2))
	alphabet := []string{"what:", "queue:", "job:", ":", ",", `"`, "*", " ", "\x00", "\x1b[2J", "\u202e", "👩🏾‍💻", "\xff", "a", "9", "(", "%"}
	for range 5000 {
		var b strings.Builder
		for range random.IntN(12) {
			b.WriteString(alphabet[random.IntN(len(alphabet))])
		}
		typed := b.String()
		for _, open := range []bool{false, true} {
			s, _ := Parse(typed, known, open)
			s.Lets(&Thing{Shown: func() string { return "" }})
		}
		if quoted := `"` + strings.ReplaceAll(typed, `"`, `""`) + `"`; utf8.ValidString(typed) && typed != "" {
			s, err := Parse("queue:"+quoted, known, false)
			if err != nil || len(s.Queues) != 1 || s.Queues[0] != (Name{typed, false}) {
				t.Fatalf("queue:%s is read as %+v (error %v)", quoted, s.Queues, err)
			}
		}
	}
	s, err := Parse(strings.Repeat("(a+)+$", 20_000), known, false)
	if err != nil || len(s.Words) != 1 || s.Lets(&Thing{Shown: func() string { return strings.Repeat("a", 100_000) }}) {
		t.Errorf("a long word is read as %d words, error %v", len(s.Words), err)
	}
}
