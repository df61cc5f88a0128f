package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/scenario"
)

// measured are pictures of a race of which two measures are known after its first step,
// and one more after its second.
func measured() (before, known, next, played scenario.Picture) {
	at := func(state scenario.State, step, n int) scenario.Picture {
		pic := crashPicture(state, step)
		pic.Measures = append([]scenario.MeasurePicture(nil), racePicture().Measures...)
		for i := range pic.Measures[n:] {
			pic.Measures[n+i].State = scenario.ToCome
		}
		return pic
	}
	return at(scenario.Playing, 0, 0), at(scenario.Waiting, 1, 1), at(scenario.Playing, 1, 1), at(scenario.Waiting, 2, 2)
}

// A measure that has just come is told from the others as long as the audience reads, in
// windows of all sizes.
func TestMeasureThatHasJustComeIsNoticed(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 36}, {80, 24}} {
		s, _ := theatreAt(t, "", size[0], size[1])
		s.press("enter")
		marked := func(words string) bool {
			t.Helper()
			s.sees(words)
			for _, line := range strings.Split(s.screen().Text(), "\n") {
				if strings.Contains(line, words) {
					return strings.Contains(line, "◂ new")
				}
			}
			return false
		}
		const first, second = "claims of a job that somebody had", "SKIP LOCKED does so many times"
		before, known, next, played := measured()
		s.stands(before)
		s.seesNot("◂ new")
		s.stands(known)
		s.sees("1 of 3 known")
		if !marked(first) {
			t.Errorf("%v: the measure that has come is not marked:\n%s", size, s.screen().Text())
		}
		s.stands(next)
		if marked(first) {
			t.Errorf("%v: it still is when the next step is played", size)
		}
		s.stands(played)
		if marked(first) || !marked(second) {
			t.Errorf("%v: not only the second is marked:\n%s", size, s.screen().Text())
		}
		played.State, played.Ended = scenario.Passed, noon
		s.stands(played)
		s.seesNot("◂ new")
	}
}

// Measures are shown by what they are of, in two digits.
func TestMeasuresAreShownByWords(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0.0597: "0.06", 1.8734: "1.9", 11.21: "11", 110.6: "111", 4321.4: "4,321", 2: "2"} {
		if got := figure(v); got != want {
			t.Errorf("%v is shown as %s, not %s", v, got, want)
		}
	}
	s, _ := theatreAt(t, "", 120, 36)
	s.press("enter")
	s.stands(racePicture())
	s.sees("of a job that somebody had")
	s.seesNot("times_naive")
}

// As long as there is a line to spare in their column, no measure's words are cut: what
// happened has no more lines than it uses.
func TestMeasuresAreCutOnlyWhereNoLineIsToSpare(t *testing.T) {
	t.Parallel()
	whole, some, none, below := 0, 0, 0, 0
	for n := range 36 {
		steps, adds := n%18, n/18
		s, _ := theatreAt(t, "", 120, 36)
		s.press("enter")
		pic := crashPicture(scenario.Passed, 3)
		pic.Ended = noon.Add(9 * time.Second)
		for i := range steps {
			pic.Steps[0].Assertions = append(pic.Steps[0].Assertions, scenario.AssertionPicture{Text: fmt.Sprintf("thing %d is so", i), State: scenario.Passed})
		}
		pic.Events = []scenario.Event{{At: noon.Add(4 * time.Second), Text: "the provider is down"}, {At: noon.Add(5 * time.Second), Text: "it answers again"}}
		for i := range 9 * adds { // of them nothing is told where there is no room for all
			pic.Events = append(pic.Events, scenario.Event{At: noon.Add(6 * time.Second), Worker: fmt.Sprintf("w%d", i), What: workers.Spawned, Text: "1 slot"})
		}
		plot := plotPicture().Plots[0]
		pic.Plots, pic.Measures = []scenario.Plot{plot, plot}, nil // the events stand below the measures
		for _, words := range []string{"retries in the outage", "first retries spread over", "most retries in 0.1 s", "all sent after the return"} {
			pic.Measures = append(pic.Measures, scenario.MeasurePicture{Name: words, Text: "c: " + words, Unit: "calls", Bound: scenario.AtMost(1000), State: scenario.Passed, Value: 29})
		}
		s.stands(pic)
		block, cut, blank := "", 0, 0
		for line := range strings.SplitSeq(s.screen().Text(), "\n") {
			left, _, _ := strings.Cut(line[min(len("│"), len(line)):], "│")
			switch {
			case strings.HasPrefix(line, "╭"):
				if block = strings.Fields(line)[1]; block == "EVENTS" {
					below++
				}
			case strings.HasPrefix(line, "╰"):
				block = ""
			case block == "MEASURES" && strings.Contains(left, "…"):
				cut++
			case block == "EVENTS" && strings.TrimSpace(left) == "":
				blank++
			}
		}
		if cut > 0 && blank > 0 {
			t.Errorf("%d measures are cut, and %d lines blank:\n%s", cut, blank, s.screen().Text())
		}
		switch cut {
		case 0:
			whole++
		case len(pic.Measures):
			none++
		default:
			some++
		}
	}
	if whole == 0 || some == 0 || none == 0 || below < whole {
		t.Errorf("all words were whole %d times, some %d, and none %d, events below them %d times: this tests nothing", whole, some, none, below)
	}
}

// Measures that begin alike are told apart by their ends, where their words are cut.
func TestMeasuresAreNotCutWhereTheyDiffer(t *testing.T) {
	t.Parallel()
	s, _ := theatreAt(t, "", 80, 24)
	s.press("enter")
	pic := racePicture()
	const front = "time from when a job was enqueued until a worker had it: "
	pic.Measures = nil
	for _, end := range []string{"by polling", "by LISTEN"} {
		pic.Measures = append(pic.Measures, scenario.MeasurePicture{Name: end, Text: front + end, Unit: "ms", Bound: scenario.AtMost(1000), State: scenario.Passed, Value: 29})
	}
	s.stands(pic)
	s.sees("…", "by polling", "by LISTEN")
	pic.Measures[1].Text = "something else, the words of which are not those of the other at all"
	s.stands(pic)
	s.sees("time from when a job was ", "something else, the words ")
}

// Large numbers are written alike, whoever tells them; what is no number stays as it is.
func TestNumbersInNotesAreGrouped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2168 beside 4,423":                "2,168 beside 4,423",
		"1615 duplicates · 14.9 of 16":     "1,615 duplicates · 14.9 of 16",
		"at least 10000":                   "at least 10,000",
		"0.12345 s, 999, job #1234, p9999": "0.12345 s, 999, job #1234, p9999",
	} {
		if got := grouped(text); got != want {
			t.Errorf("%q is written %q, not %q", text, got, want)
		}
	}
	s, _ := theatreAt(t, "", 120, 36)
	s.press("enter")
	pic := racePicture()
	pic.Bars[1].Note = "2168 jobs"
	s.stands(pic)
	s.sees("2,168 jobs", "■ done")
	pic.Bars[0].Over = false
	s.stands(pic)
	s.seesNot("■")
}

// What a mistake costs is a figure, too: that it is as told is nothing good.
func TestMeasureOfHarmIsNoPromiseKept(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 36}, {80, 24}, {60, 20}} {
		s, _ := theatreAt(t, "", size[0], size[1])
		s.press("enter")
		pic := crashPicture(scenario.Waiting, 1)
		pic.Measures = []scenario.MeasurePicture{{Name: "twice", Text: "ann's charges", Harm: true, Bound: scenario.Exactly(2), Value: 2, State: scenario.Passed}}
		s.stands(pic)
		s.sees("▲ ann's charges")
		s.seesNot("✓ ann's charges")
	}
}
