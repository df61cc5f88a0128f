package sift

import (
	"testing"

	"github.com/leasetop/leasetop/queue/watch"
)

// Each of these is another event; the letters are those that a line lets through.
var events = map[byte]*watch.Event{
	'a': {What: watch.Claimed, JobID: 1, Queue: "emails", Kind: "send", Owner: "shop1:4711:9f3c01aa/w3#12", Note: "attempt 1 of 5"},
	'b': {What: watch.Buried, JobID: 2, Queue: "emails-slow", Kind: "send", Owner: "shop1:4711:9f3c01aa/w31#1", Note: "attempt 5 of 5"},
	'c': {What: watch.Completed, JobID: 12, Queue: "images", Kind: "", Owner: "node-17", Note: "attempt 1 of 5"},
	'd': {What: watch.Enqueued, Count: 1000, Queue: "images", Note: "1,000 jobs"},
	'e': {What: watch.Health, Note: "WAL stream: works again, after 3s"},
	'f': {What: watch.CancelAsked, JobID: 1, Queue: "\x1b[2J", Owner: "\u202ew3", Note: "by 50% [of] (a+)+$"},
}

func TestWhatIsChosen(t *testing.T) {
	t.Parallel()
	var words []string
	for _, what := range watch.Whats {
		words = append(words, string(what))
	}
	for typed, want := range map[string]string{
		"":                                   "abcdef",
		"queue:emails":                       "a",
		"queue:emails*":                      "ab",
		"queue:images,emails":                "acd",
		"queue:images kind:send":             "",
		"kind:send":                          "ab",
		"job:1":                              "af",
		"job:1 what:claimed":                 "a",
		"job:1,2":                            "abf",
		"worker:w3":                          "a",
		"worker:w3*":                         "ab",
		"worker:w3@shop1":                    "a",
		"worker:shop1:4711:9f3c01aa":         "",
		"worker:node-17":                     "c",
		`worker:"shop1:4711:9f3c01aa/w3#12"`: "a",
		"what:health":                        "e",
		"what:cancel":                        "f",
		"IMAGES":                             "cd",
		"of":                                 "abcf", // text is looked for within words
		"of attempt":                         "abc",
		"send w3":                            "ab",
		"!queue:images":                      "abef",
		"!queue:images,emails":               "bef",
		"!queue:images !job:1 !health":       "b",
		"kind:send !worker:w3":               "b",
		"%":                                  "f",
		"(a+)+$":                             "f",
		"[of]":                               "f",
		"a.d":                                "",
		"queue:\x1b[2J":                      "f",
		"worker:\u202ew3":                    "f",
		"\u202e":                             "f",
		"\x00":                               "",
	} {
		s, err := Parse(typed, words, false)
		if err != nil {
			t.Errorf("%q: %v", typed, err)
		}
		got := ""
		for name := byte('a'); name <= 'f'; name++ {
			if thing := Of(events[name]); s.Lets(&thing) {
				got += string(name)
			}
		}
		if got != want {
			t.Errorf("%q lets %q through, want %q", typed, got, want)
		}
	}
}

func TestThingsMayGoByAnotherWordAndName(t *testing.T) {
	t.Parallel()
	thing := Thing{What: "reclaimed dead", Also: "buried", Worker: "w5"}
	for _, s := range []Sift{{Whats: []string{"buried"}}, {Whats: []string{"reclaimed dead"}}, {Workers: Names([]string{"w5"})}} {
		if !s.Lets(&thing) {
			t.Errorf("%+v does not let %+v through", s, thing)
		}
	}
	for _, s := range []Sift{{Whats: []string{""}}, {Workers: Names([]string{""})}, {Whats: []string{"failed"}}} {
		if s.Lets(&thing) {
			t.Errorf("%+v lets %+v through", s, thing)
		}
	}
}
