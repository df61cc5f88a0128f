package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/leasetop/leasetop/ui/lanes"
	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers/scenario"
)

func TestWhatWasAwayIsSaidBesideItsBand(t *testing.T) {
	t.Parallel()
	gap := func(first, last int, goes bool) lanes.Gap {
		return lanes.Gap{Text: "the server is away", First: first, Last: last, Took: 2100 * time.Millisecond, Goes: goes}
	}
	theme := newTheme(true, true)
	for want, c := range map[string]struct {
		w    int
		gaps []lanes.Gap
	}{
		"     ▒▒▒▒ the server is away 2.1 s      ": {40, []lanes.Gap{gap(5, 8, false)}},
		"     the server is away for 2.1 s ▒▒▒▒▒▒": {40, []lanes.Gap{gap(34, 39, true)}},
		"▒the server is away for 2.1 s▒▒▒▒▒▒▒▒▒▒▒": {40, []lanes.Gap{gap(0, 39, true)}},
		"   ▒▒ 2.1 s ▒▒▒ the server is away 2.1 s": {40, []lanes.Gap{gap(3, 4, false), gap(12, 14, false)}},
		"▒▒▒▒ 2.1 s": {10, []lanes.Gap{gap(0, 3, false)}},
		"▒2.1 s▒ ":   {8, []lanes.Gap{gap(0, 6, false)}},
		"▒ 2.1 s ▒ the server is away 2.1 s ▒      ": {42, []lanes.Gap{gap(0, 0, false), gap(8, 8, false), gap(35, 35, false)}},
	} {
		got := ansi.Strip(theme.awayLine(c.gaps, c.w))
		if safe.Width(got) != c.w {
			t.Errorf("%q is not %d wide", got, c.w)
		}
		if got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// Where there is little room, workers stay, and the words about marks go.
func TestAnOutageTakesNoLaneAway(t *testing.T) {
	t.Parallel()
	var r lanes.Recorder
	crew := []lanes.Worker{{Name: "w1", State: "idle"}, {Name: "w2", State: "idle"}, {Name: "w3", State: "idle"}}
	for i := range 4 {
		r.See(noon.Add(time.Duration(i)*time.Second), nil, crew)
	}
	look := swim{now: noon.Add(3 * time.Second), span: 10 * time.Second}
	seen := func() string { return ansi.Strip(strings.Join(newTheme(true, true).swim(&r, look, 78, 5), "\n")) }
	before := seen()
	r.Away([]lanes.Outage{{Text: "the server is away", From: noon.Add(time.Second)}})
	after := seen()
	for _, w := range crew {
		if !strings.Contains(before, w.Name) || !strings.Contains(after, w.Name) {
			t.Errorf("%s is not in\n%s\nand\n%s", w.Name, before, after)
		}
	}
	if !strings.Contains(after, "the server is away for 2.0 s ▒") || strings.Contains(after, "more") {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
}

// The server's absence is a band in the lanes of a play, explained where there is one.
func TestAnOutageIsSeenInAPlay(t *testing.T) {
	t.Parallel()
	s, _ := theatreAt(t, "", 120, 36)
	s.press("enter")
	s.performs(crashes(noon), 250*time.Millisecond)
	s.seesNot("▒", "nobody can claim")
	all := crashes(s.now)
	for i := range all {
		all[i].Outages = []scenario.Outage{{Text: "the server is away", Began: all[0].Began, Ended: all[0].Began.Add(2100 * time.Millisecond)}}
	}
	s, _ = theatreAt(t, "", 120, 36)
	s.press("enter")
	s.performs(all, 250*time.Millisecond)
	s.sees("the server is away 2.1 s ▒▒", "▒ nobody c")
	if bands := strings.Count(s.screen().Text(), "▒▒"); bands < 2 {
		t.Errorf("it is in %d lines", bands)
	}
}
