package filter_test

import (
	"strings"
	"testing"

	"github.com/leasetop/leasetop/queue/filter"
)

var known = filter.Known{
	Queues:  []string{"emails", "emails-slow", "images", "my queue", "reports"},
	Kinds:   []string{"render", "send"},
	Workers: []string{"w3", "w30"},
}

// The cursor stands at the |. What is offered is shown as the text becomes with it.
func TestATextCanGoOn(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"que|":                  "queue:",
		"!que|":                 "!queue:",
		"QUE|":                  "queue:",
		"kind:send a|":          "kind:send attempts:, kind:send age:",
		"pay|":                  "payload.",
		"ema|":                  "queue:emails, queue:emails-slow",
		"re|":                   "queue:reports, kind:render, status:ready",
		"my|":                   `queue:"my queue"`,
		"queue:|":               `queue:emails, queue:emails-slow, queue:images, queue:"my queue", queue:reports`,
		"queue:ema|":            "queue:emails, queue:emails-slow",
		"queue:emails|":         "queue:emails-slow",
		"queue:mail|":           "queue:emails, queue:emails-slow",
		"queue:emails,im|":      "queue:emails,images",
		`queue:"my|`:            `queue:"my queue"`,
		`queue:"my q|"`:         `queue:"my queue"`,
		"queue:em|xx kind:send": "queue:emails kind:send, queue:emails-slow kind:send",
		"qu|eue:emails":         "queue:emails",
		"pay|load.to:x":         "payload.to:x",
		"kind:s|":               "kind:send",
		"status:de|":            "status:dead",
		"!status:s|":            "!status:scheduled, !status:processing",
		"worker:w|":             "worker:w3, worker:w30",
		"attempts:|":            "attempts:>, attempts:>=, attempts:<, attempts:<=",
		"age:|":                 "age:>, age:<",
		"age:>|":                "",
		"age:>5|":               "age:>5s, age:>5m, age:>5h, age:>5d, age:>5w",
		"error:x|":              "",
		"nokey:x|":              "",
		`"que|`:                 "",
		"zzz|":                  "",
	} {
		at := strings.Index(typed, "|")
		text := typed[:at] + typed[at+1:]
		var got []string
		for _, c := range filter.Complete(text, at, known) {
			if c.From > at || c.To < at {
				t.Errorf("%s: %+v replaces nothing at the cursor", typed, c)
			}
			got = append(got, text[:c.From]+c.Text+text[c.To:])
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%s goes on as\n%s, want\n%s", typed, got, want)
		}
	}
}

func TestAtABlankAllKeysAreOffered(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "queue:emails "} {
		got := filter.Complete(text, len(text), known)
		if len(got) != len(filter.Keys()) || got[0].Text != "queue:" || got[0].Note == "" || got[0].From != len(text) {
			t.Errorf("%q goes on as %+v", text, got)
		}
	}
}

func TestCompletionsCanBeMeant(t *testing.T) {
	t.Parallel()
	known := filter.Known{Queues: []string{"", "a b", `"`, "*", "a*", ",", "!x", ">3", "1..2", "a:b", "\u202e", "é", "\x1b[2J", "a\u00a0b", "a\nb"}}
	for _, name := range known.Queues {
		f, err := filter.Parse("queue:" + filter.Quote(name))
		if queues := f.Queues(); err != nil || len(queues) != 1 || queues[0] != name {
			t.Errorf("%q is quoted as %s, which is %q, error %v", name, filter.Quote(name), queues, err)
		}
	}
	for _, c := range filter.Complete("queue:", 6, known) {
		if _, err := filter.Parse("queue:" + c.Text); err != nil {
			t.Errorf("queue:%s: %v", c.Text, err)
		}
	}
}
