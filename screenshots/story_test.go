package main

import (
	"fmt"
	"regexp"
	"testing"
	"time"
)

func TestFilmOfAStoryGoesFromStepToStepUntilItPassed(t *testing.T) {
	t.Parallel()
	line := func(stands string, step int) string {
		return fmt.Sprintf("│   %s   space goes on      step %d of 4 ✓●○○   │", stands, step)
	}
	stages := []string{
		line("YOUR TURN", 1), line("WATCH", 1), line("YOUR TURN", 2), line("WATCH", 2), line("YOUR TURN", 3),
		line("WATCH", 3), line("YOUR TURN", 4), line("WATCH", 4), line("CLEANING UP", 4), line("FAILED", 4), line("PASSED", 4),
	}
	film := story("crash", 100, 30)
	var waits []string
	for _, s := range append(film.Before[len(film.Before)-1:], film.Steps...) {
		for _, stage := range stages {
			if regexp.MustCompile(s.Until[0]).MatchString(stage) {
				waits = append(waits, stage)
			}
		}
	}
	want := []string{stages[0], stages[2], stages[4], stages[6], stages[10]}
	if fmt.Sprint(waits) != fmt.Sprint(want) {
		t.Errorf("waits for\n%q, want\n%q", waits, want)
	}
}

func TestFilmsLeaveTimeToReadAndAreNotLong(t *testing.T) {
	t.Parallel()
	for _, film := range recordings {
		all := time.Duration(0)
		for i, s := range film.Steps {
			if s.Read < 2*time.Second || s.Read > 7*time.Second {
				t.Errorf("%s: what is told of step %d stands for %v", film.Name, i+1, s.Read)
			}
			all += s.Read
		}
		if all > 25*time.Second {
			t.Errorf("%s is read for %v", film.Name, all)
		}
	}
}

func TestStoryIsChosenByItsPlaceOnTheListAndItsName(t *testing.T) {
	t.Parallel()
	for name, down := range map[string]int{"crash": 0, "kill9": 1, "zombie": 2} {
		way := choose(name)
		last := way[len(way)-1]
		if len(last.Keys) != down {
			t.Errorf("%s: %d keys down, want %d", name, len(last.Keys), down)
		}
		below := func(head, last string) string {
			return "│                          │\n╰──────────╯\n╭─ " + head + " ──────╮\n│ A job is never lost.     │\n│                          │\n│ " + last +
				"      │\n╰──────────╯\n                enter play   ? help   q quit"
		}
		for _, c := range []struct {
			screen string
			ready  bool
		}{
			{below("CRASH", "4 steps"), name == "crash"},
			{below("ZOMBIE", "4 steps"), name == "zombie"},
			{below("ZOMBIE", "! finding out whether this database is for demonstrations…"), false},
		} {
			ready := true
			for _, pattern := range last.Until {
				ready = ready && regexp.MustCompile(pattern).MatchString(c.screen)
			}
			if ready != c.ready {
				t.Errorf("%s: ready %v on\n%s", name, ready, c.screen)
			}
		}
	}
}
