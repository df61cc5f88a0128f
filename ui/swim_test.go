package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/lanes"
	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/ui/term"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/faults"
)

func TestLanesAreDrawn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		w, h    int
		keys    []string
		options []stageOption
	}{
		{"120x36", 120, 36, nil, nil},
		{"80x24", 80, 24, nil, nil},
		{"60x20", 60, 20, nil, nil},
		{"large 80x24", 80, 24, []string{"v"}, nil},
		{"five minutes 120x36", 120, 36, []string{"s"}, nil},
		{"fifteen seconds 120x36", 120, 36, []string{"s", "s"}, nil},
		{"the worker's own 80x24", 80, 24, []string{"tab"}, nil},
		{"watching only 80x24", 80, 24, nil, []stageOption{watchingOnly}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSwimmers(t, c.w, c.h, c.options...)
			s.story()
			s.press(c.keys...)
			term.Golden(t, s.screen())
		})
	}
}

// Without colour the same letters and marks are there, and bold at the most.
func TestLanesSayTheSameWithoutColour(t *testing.T) {
	t.Parallel()
	s := newSwimmers(t, 120, 36)
	s.story()
	before := strings.ReplaceAll(s.screen().Text(), " 4 Workers 2 ", "[4 Workers 2]")
	s.send(tea.ColorProfileMsg{Profile: colorprofile.ASCII})
	if hasColour(s.screen()) {
		t.Error("there is colour")
	}
	if after := s.screen().Text(); after != before {
		t.Errorf("with colour\n%s\nwithout\n%s", before, after)
	}
}

// Every mark that is drawn is explained below the lanes.
func TestMarksAreExplained(t *testing.T) {
	t.Parallel()
	s := newSwimmers(t, 120, 36)
	s.pass(3)
	s.claim(1, "w1", 1)
	s.pass(3)
	s.seesNot("✗ ", "taken over", "lease still runs")
	s.turn("w1", workers.Crashed)
	s.pass(3)
	s.sees("✗ the worker died", "░ its lease still runs: nobody else may have the job", "A 1 send w1 crashed")
	s.seesNot("taken over")
	s.pass(1)
	s.claim(1, "w2", 2)
	s.pass(3)
	s.sees("✗ died", "↳ taken over", "A² attempt 2", "A 1 send attempt 2 w2, lost by w1")
}

func TestTheLanesShowOtherTimes(t *testing.T) {
	t.Parallel()
	s := newSwimmers(t, 120, 36)
	s.story()
	for _, want := range []string{"LANES 60s", "LANES 5m", "LANES 15s", "LANES 60s"} {
		s.sees(want)
		s.press("s")
	}
	s.sees("w1 RUNS")
	s.press("v")
	s.seesNot("w1 RUNS", "QUEUES")
	s.sees("▸ LANES 5m", "v table")
	s.press("v", "tab")
	s.sees("w1 RUNS", "EVENTS OF w1")
	s.seesNot("LANES")
	s.press("?")
	s.sees("swim-lanes of the last 15s; they show 5m", "nothing but swim-lanes")
}

// What was before the tab was opened is the half of the story.
func TestLanesAreRecordedWhileNobodyLooks(t *testing.T) {
	t.Parallel()
	s := newSwimmers(t, 120, 36)
	s.press("1")
	s.story()
	s.press("4")
	s.sees("AAAAA", "✗░░░", "lost by w2")
}

// Nothing of the present gets into a picture that is frozen, and nothing of it is lost.
func TestAFrozenPictureHasFrozenLanes(t *testing.T) {
	t.Parallel()
	s := newSwimmers(t, 120, 36)
	s.pass(3)
	s.claim(1, "w1", 1)
	s.pass(3)
	s.press("p")
	lanes := func() string {
		_, text, _ := strings.Cut(s.screen().Text(), "LANES")
		text, _, _ = strings.Cut(text, "╰")
		return text
	}
	before := lanes()
	s.pass(1)
	s.turn("w1", workers.Crashed)
	s.pass(6)
	s.claim(1, "w2", 2)
	s.pass(2)
	if after := lanes(); after != before {
		t.Errorf("frozen\n%s\nbecame\n%s", before, after)
	}
	s.press("p")
	s.sees("✗░░░", "A 1 send attempt 2 w2, lost by w1")
}

// However often the world changes, the lanes take it four times a second, and what came
// last is not left out.
func TestLanesTakeFourPicturesASecond(t *testing.T) {
	t.Parallel()
	s := newSwimmers(t, 120, 36)
	s.pass(1)
	fed := s.app.pic.lanes.fed
	for range 100 {
		s.now = s.now.Add(10 * time.Millisecond)
		s.send(pulledMsg{state: s.state, workers: s.crew, last: s.app.latest.last})
	}
	if n := s.app.pic.lanes.fed - fed; n < 3 || n > 4 {
		t.Errorf("in a second it took %d pictures", n)
	}
	s.now = s.now.Add(10 * time.Millisecond)
	s.turn("w1", workers.Frozen)
	s.sees("✱")
}

// The names of workers in other processes are the same as here: host and process tell
// them apart. What is no name of leasetop's is shown as it is, and does nothing.
func TestLanesOfStrangers(t *testing.T) {
	t.Parallel()
	s := newSwimmers(t, 120, 36)
	s.pass(2)
	s.claim(1, sampleProcess+"/w1#4", 1)
	s.claim(2, "shop1:4712:00000000/w1#4", 1)
	s.claim(3, "a/\x1b]0;owned\a\u202e worker with a name that is very long, longer than any lane", 1)
	s.pass(2)
	s.sees("w1@shop1:4712", "2 send w1@shop1:4712", "1 send w1", "3 send a/␛]0;owned␇‹U+202E›")
}

func TestMoreLeasesThanAreKnownIsSaid(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 36}, {100, 30}, {80, 24}, {60, 20}} {
		for _, keys := range [][]string{nil, {"v"}} {
			s := newSwimmers(t, size[0], size[1])
			s.pass(1)
			s.claim(1, "w1", 1)
			s.press(keys...)
			s.seesNot("leases drawn")
			s.state.Leases.Total, s.state.Leases.Capped = 1234, true
			s.pull()
			s.sees("LANES 60s · 1 of 1,234+ leases drawn")
			s.state.Leases.Capped = false
			s.state.Leases.Source = watch.Polled
			s.pull()
			s.sees("LANES 60s · 1 of 1,234 leases drawn")
		}
	}
}

// A second later nothing but columns has moved, and within a second nothing.
func TestLanesChangeNoOftenerThanTheirClock(t *testing.T) {
	t.Parallel()
	s := newSwimmers(t, 120, 36)
	s.story()
	before := s.screen().Text()
	for range 3 {
		s.now = s.now.Add(50 * time.Millisecond)
		s.send(pulledMsg{state: s.state, workers: s.crew, last: s.app.latest.last})
		if now := s.screen().Text(); now != before {
			t.Fatalf("without news\n%s\nbecame\n%s", before, now)
		}
	}
}

func TestTheTimeAxis(t *testing.T) {
	t.Parallel()
	for span, want := range map[time.Duration]string{
		15 * time.Second: "15s ago        10s             5s           now",
		time.Minute:      "60s ago    45s         30s         15s      now",
		5 * time.Minute:  "5m ago   4m       3m        2m       60s    now",
		10 * time.Second: "10s ago  8s       6s        4s       2s     now",
		7 * time.Second:  "7s ago                                      now",
	} {
		if got := timeAxis(span, 47); got != want {
			t.Errorf("%v: %q, not %q", span, got, want)
		}
	}
	for _, span := range append(slices.Clone(spansShown), playSpans...) {
		for w := range 130 {
			got := timeAxis(span, w)
			if safe.Width(got) != w {
				t.Errorf("%q is not %d wide", got, w)
			}
			for _, word := range strings.Split(strings.TrimSpace(strings.Replace(got, " ago", ".ago", 1)), "  ") {
				if word = strings.TrimSpace(word); strings.Contains(word, " ") || strings.Count(word, "s")+strings.Count(word, "m") > 1 {
					t.Errorf("in %d cells words touch: %q", w, got)
				}
			}
		}
	}
}

// Plays have lanes of their own, and their workers are none of this dashboard's.
func TestPlaysStayOffTheWorkersTab(t *testing.T) {
	t.Parallel()
	s := newSwimmers(t, 120, 36)
	s.pass(3)
	s.app.pic.lanes.Without("crash-3f2a")
	for i, queue := range []string{"crash-3f2a", "crash-3f2a-urgent", "crash-3f2ab"} {
		s.state.Leases.List = append(s.state.Leases.List, watch.Lease{
			JobID: int64(i + 1), Queue: queue, Kind: queue, Attempts: 1, Owner: fmt.Sprintf("db7:99:5/w9#%d", i+1), LockedAt: s.now, ExpiresAt: s.now.Add(time.Minute),
		})
	}
	s.pass(3)
	s.sees("3 crash-3f2ab w9@db7:99")
	s.seesNot("1 crash-3f2a", "2 crash-3f2a-urgent")
}

// A stalled heartbeat may renew a lease whose handler was stopped: nobody runs its job.
func TestALeaseThatIsRunByNobodyIsNoWork(t *testing.T) {
	t.Parallel()
	s := newSwimmers(t, 120, 36)
	s.pass(3)
	s.claim(1, "w1", 1)
	s.crew[0].Running = []workers.Running{{JobID: 1, Queue: "emails", Kind: "send", Attempt: 1, Since: s.now}}
	s.pass(5)
	s.seesNot("░")
	s.crew[0].Running = nil
	s.pass(5)
	s.sees("AAA░░░")
}

// Jobs that came and went between two looks are seen by what their worker counts; of those
// in other processes nothing is known, and nothing drawn.
func TestJobsTooShortToBeSeenAreSeen(t *testing.T) {
	t.Parallel()
	s := newSwimmers(t, 120, 36)
	s.pass(3)
	s.seesNot("▂")
	for range 8 {
		s.crew[1].Processed += 3
		s.pass(0)
	}
	s.pass(1)
	s.sees("▂▂", "▂ without a letter")
	for line := range strings.SplitSeq(s.screen().Text(), "\n") {
		if (strings.Contains(line, "▂") && !strings.Contains(line, "short")) != strings.Contains(line, " w2   ○") {
			t.Errorf("drawn: %s", line)
		}
	}
}

// For all that a worker knows it is busy when no byte passes between it and the database.
func TestWorkersThatAreCutOffAreDrawnSo(t *testing.T) {
	t.Parallel()
	s := newSwimmers(t, 120, 36)
	joined(s.world)
	s.pass(3)
	s.claim(1, "w1", 1)
	s.pass(3)
	for _, name := range []string{"partition", "cut"} {
		s.seesNot("≠")
		s.send(brokenMsg{list: []faults.Broken{{Name: "listen", Since: s.now}, {Name: name, Since: s.now}}})
		s.pass(3)
		s.sees("▸w1   ≠", " w2   ≠", "p1   ≠", "≠╌ cut off", "A 1 send w1 cut off")
		s.send(brokenMsg{})
		s.pass(1)
		s.sees("▸w1   ○", "w2   ○", "p1   ●", "≠╌╌╌")
		s.pass(60)
	}
}

// The marks that are explained are those that are drawn, each and no other.
func TestMarksAreExplainedAsTheyAreDrawn(t *testing.T) {
	t.Parallel()
	row := func(name string, cells ...lanes.Cell) lanes.Row { return lanes.Row{Worker: name, Cells: cells} }
	cell := func(glyph rune, style lanes.Style) lanes.Cell { return lanes.Cell{Glyph: glyph, Style: style} }
	plain := newTheme(true, true)
	told := func(rows ...lanes.Row) string {
		return ansi.Strip(strings.Join(plain.laneMarks(lanes.Drawing{Rows: rows}, 200, 3), " "))
	}
	up, ahead, down, turn := cell('┄', lanes.Waiting), cell('╯', lanes.Waiting), cell('╮', lanes.Waiting), cell('↱', lanes.Taken)
	for _, c := range []struct {
		cells []lanes.Cell
		want  string
	}{
		{[]lanes.Cell{cell('A', lanes.Work), cell('·', lanes.Idle)}, ""},
		{[]lanes.Cell{down}, "╮ free again"},
		{[]lanes.Cell{up, down}, "┄╮ free again"},
		{[]lanes.Cell{up, up, ahead, turn}, "┄╯ free again   ↱ taken over"},
		{[]lanes.Cell{turn, cell('↳', lanes.Taken)}, "↳↱ taken over"},
		{[]lanes.Cell{cell('✱', lanes.Frozen), cell('A', lanes.Frozen)}, "✱ frozen: works on without heartbeats"},
		{[]lanes.Cell{cell('C', lanes.Again), cell('⁴', lanes.Again)}, "C⁴ attempt 4"},
		{[]lanes.Cell{cell('C', lanes.Again)}, ""},
		{[]lanes.Cell{cell('F', lanes.Stale)}, "F goes on with a job that is another's now"},
		{[]lanes.Cell{cell('▂', lanes.Again)}, "▂ without a letter: short"},
		{[]lanes.Cell{cell('▒', lanes.Away)}, "▒ nobody can claim or renew"},
		{[]lanes.Cell{cell('▁', lanes.Unwritten)}, "▁ handler over, its outcome not known to be written"},
		{[]lanes.Cell{cell('■', lanes.Halted)}, "■ stopped its handler before the lease ends"},
	} {
		if got := told(row("w1", c.cells...)); got != c.want {
			t.Errorf("it is told %q, not %q", got, c.want)
		}
	}
}

// Jobs that are over, and were nobody's loss, have two lines at most; those that matter go
// before them, and have as many as there are.
func TestJobsWithoutInterestHaveFewLines(t *testing.T) {
	t.Parallel()
	d := lanes.Drawing{}
	add := func(n int, past bool) {
		for range n {
			e := lanes.Entry{Letter: 'A' + rune(len(d.Legend)), Job: int64(500 + len(d.Legend)), Worker: "w1", Past: past, How: lanes.Work}
			if past {
				e.How = lanes.Blank
			}
			d.Legend = append(d.Legend, e)
		}
	}
	plain := newTheme(true, true)
	told := func() []string {
		lines := plain.laneLetters(d, 60, 8)
		for i := range lines {
			lines[i] = ansi.Strip(lines[i])
		}
		return lines
	}
	add(16, true)
	if lines := told(); len(lines) != 2 || !strings.HasSuffix(strings.TrimSpace(lines[1]), "more") {
		t.Errorf("told:\n%s", strings.Join(lines, "\n"))
	}
	d.Legend = nil
	add(16, false)
	add(9, true)
	lines := told()
	if all := strings.Join(lines, "\n"); len(lines) < 4 || len(lines) > 6 || !strings.Contains(all, "P 515 w1") || !strings.Contains(all, "Q 516 w1 ended") || !strings.Contains(all, "more") {
		t.Errorf("told:\n%s", all)
	}
}

// A lane keeps the width of its name: a worker that has been idle for a minute is in no lane of
// the last minute, or just within, and what stands beside the lanes does not move for that.
func TestLanesKeepTheWidthOfTheirNames(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	var r lanes.Recorder
	held := lanes.Held{Job: 1, Worker: "w1@vm:24925", Queue: "emails", Since: now, Expires: now.Add(time.Minute)}
	r.See(now, []lanes.Held{held}, nil)
	r.See(now.Add(time.Second), nil, nil)
	for second := 1; second < 120; second++ {
		r.See(now.Add(time.Duration(second)*time.Second), nil, nil)
		s := swim{now: now.Add(time.Duration(second) * time.Second), span: time.Minute}
		if got := strings.Join(newTheme(true, true).swim(&r, s, 120, 10), "\n"); strings.Contains(got, "w1…") || second < 50 && !strings.Contains(got, "w1@vm:24925") {
			t.Fatalf("after %d s:\n%s", second, got)
		}
		if label := laneLabel(&r, 120); label != 1+len("w1@vm:24925")+4 {
			t.Fatalf("after %d s the label has %d cells", second, label)
		}
	}
}
