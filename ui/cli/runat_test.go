package cli

import (
	"errors"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

func TestRunAtReadsTimesThatMeanOneMoment(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	for said, want := range map[string]struct {
		at    queue.Time
		delay time.Duration
	}{
		"":                          {},
		"now":                       {},
		"infinity":                  {at: queue.Time{Infinity: 1}},
		"-infinity":                 {at: queue.Time{Infinity: -1}},
		"+90s":                      {delay: 90 * time.Second},
		"+2h30m":                    {delay: 150 * time.Minute},
		"+0s":                       {},
		"+3d":                       {delay: 3 * day},
		"+1d12h":                    {delay: 36 * time.Hour},
		"+36500d":                   {delay: 36500 * day},
		"2026-03-29T02:30:00+02:00": {at: queue.At(time.Date(2026, 3, 29, 0, 30, 0, 0, time.UTC))},
		"2026-03-29T00:30:00.25Z":   {at: queue.At(time.Date(2026, 3, 29, 0, 30, 0, 250e6, time.UTC))},
	} {
		at, delay, err := RunAt(said)
		if err != nil || at.Infinity != want.at.Infinity || !at.Time.Equal(want.at.Time) || delay != want.delay {
			t.Errorf("RunAt(%q) = %v, %v, %v; want %v, %v", said, at, delay, err, want.at, want.delay)
		}
	}
}

// A local time would mean two moments, or none, when the clocks change.
func TestRunAtRefusesWhatMeansNoOneMoment(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"tomorrow", "90s", "+", "+s", "+-5s", "++5s", "+5", "-5s", "+1d-1s", "+36501d", "+99999999999999999999d", "+36500d1s",
		"2026-03-29T02:30:00", "2026-03-29 02:30:00+02", "2026-02-30T00:00:00Z", "2026-03-29", "never",
	} {
		if at, delay, err := RunAt(said); !errors.Is(err, ErrUsage) {
			t.Errorf("RunAt(%q) = %v, %v, %v; want it refused", said, at, delay, err)
		}
	}
}
