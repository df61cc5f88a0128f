package main

import "time"

// shot is one picture: what to do, and what must stand on the screen then.
type shot struct {
	Name   string   // of the file, without .png
	Before []step   // lead there
	Keys   []string // pressed one after the other; see term.Key
	Until  []string // regular expressions, all to be found on the screen at once
}

// scene is one run of the program, in which shots are taken in order: each
// goes on from the screen of the one before.
type scene struct {
	Width, Height int
	Ready         string // regular expression: keys are listened to
	Shots         []shot
}

// recording is one run of the program that is drawn as a moving picture, in
// real time.
type recording struct {
	Name          string // of the file, without .gif
	Width, Height int
	Ready         string // regular expression: keys are listened to
	Before        []step // lead to the first picture
	Steps         []step // are seen
}

// step is what to press, and what must stand on the screen then.
type step struct {
	Read  time.Duration // the screen is looked at before the keys are pressed, as by who reads it
	Keys  []string      // pressed one after the other; see term.Key
	Until []string      // regular expressions, all to be found on the screen at once
	Most  time.Duration // of it that is shown; the middle of what takes longer is left out; 0: all
}

var scenes = []scene{
	{Width: 120, Height: 36, Ready: `QUEUES`, Shots: []shot{
		{Name: "overview", Keys: []string{"x", "x", "x", "x", "b"}, Until: []string{`QUEUES [1-9]`, `LEASES [3-9]`, `DEAD LETTERS [1-9]`, `EVENTS`, `0 ┤\S{30}`}},
		{Name: "dead-letters", Keys: []string{"3"}, Until: []string{`DEAD LETTERS \S+ in [3-9] groups`, `← log → now`, `newest #`}},
		{Name: "dead-list", Keys: []string{"enter", "space", "space", "v", "j", "j"}, Until: []string{`newest first`, `2 marked`, `fingerprint:`, `a range of 3 rows`}},
		{Name: "detail", Keys: []string{"esc", "esc", "esc", "j", "enter", "enter"}, Until: []string{`PAYLOAD`, `attempt 3`, `the same error`}},
		{Name: "workers", Keys: []string{"esc", "4"}, Until: []string{`WORKERS [1-9]`, `RUNS [1-9]`}},
		{Name: "help", Keys: []string{"?"}, Until: []string{`KEYS`, `j k scroll`}},
	}},
	{Width: 80, Height: 24, Ready: `QUEUES`, Shots: []shot{
		{Name: "small", Until: []string{`QUEUES [1-9]`, `LEASES [2-9]`, `EVENTS`, `[▁▂▃▄▅▆▇█]{4}`}},
	}},
	{Width: 120, Height: 36, Ready: `QUEUES`, Shots: []shot{
		{Name: "redrive", Keys: []string{"3", "R"}, Until: []string{`REDRIVE \d+ DEAD LETTERS`, `dry run: all`, `enter  next`}},
		{Name: "plan", Keys: []string{"y", "y"}, Until: []string{`stopped .*5 of 5`, `DIED AGAIN 5`, `✗ died`}},
	}},
	{Width: 120, Height: 36, Ready: `QUEUES`, Shots: []shot{
		{Name: "scenarios", Before: choose("race"), Until: []string{`╭─ RACE ─`}},
		{
			Name: "stage", Before: acts("race")[:3], // two of three steps are over
			Keys: []string{"space"}, Until: []string{`WATCH .*step 3 of 3`, `SKIP LOCKED .* [1-9],\d{3} jobs`},
		},
	}},
}

// A story has the fewest columns in which all it says is seen whole: the fewer,
// the larger its letters are on a page.
var recordings = []recording{
	story("crash", 100, 30),
	story("zombie", 100, 30),
	story("race", 112, 32),
	story("redrive", 100, 30),
}
