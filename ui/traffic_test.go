package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/leasetop/leasetop/queue/watch"
)

func TestTrafficLeavesOutWhatThereIsNoRoomFor(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	for _, c := range []struct {
		w, lines int
		want     []string
	}{
		{140, 1, []string{"10 min: dead 0.4/min · leases expired 2 · failed tries 2.1/s · pickup p50 3.0 ms p99 40 ms · claim p50 0.4 ms p99 2.1 ms"}},
		{80, 1, []string{"10 min: dead 0.4/min · leases expired 2 · pickup p50 3.0 ms p99 40 ms"}},
		{64, 2, []string{"10 min: dead 0.4/min · leases expired 2 · failed tries 2.1/s", "pickup p50 3.0 ms p99 40 ms · claim p50 0.4 ms p99 2.1 ms"}},
		{60, 1, []string{"10 min: dead 0.4/min · leases expired 2"}},
		{30, 1, []string{"10 min: dead 0.4/min"}},
		{20, 0, nil},
	} {
		lines := s.app.pic.traffic(c.w, c.lines)
		if got := ansi.Strip(strings.Join(lines, "|")); got != strings.Join(prefixed(" ", c.want), "|") {
			t.Errorf("in %d lines of %d cells: %q", c.lines, c.w, got)
		}
	}
}

func prefixed(with string, lines []string) []string {
	var out []string
	for _, line := range lines {
		out = append(out, with+line)
	}
	return out
}

// A window that grows must not have the screen drawn anew every second.
func TestWindowIsToldInMinutes(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "<1 min", 59 * time.Second: "<1 min", time.Minute: "1 min", 9*time.Minute + 50*time.Second: "10 min", 10 * time.Minute: "10 min",
	} {
		if got := window(d); got != want {
			t.Errorf("%v is told as %q, want %q", d, got, want)
		}
	}
}

func TestWhatTheStreamAloneKnowsIsNotMadeUp(t *testing.T) {
	t.Parallel()
	w := newWorld()
	polled(w.state, noStream)
	s := newStage(t, w, 200, 50)
	s.sees("claim p50 0.4 ms p99 2.1 ms · dead/min, expired leases and pickup need the WAL stream")
	w.state.Traffic = watch.Traffic{Source: watch.FromWAL, Window: 20 * time.Second}
	s.pull()
	s.sees("<1 min: dead 0/min · leases expired 0 · claim") // nothing was claimed: no pickup times
	s.seesNot("pickup")
}
