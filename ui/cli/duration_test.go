package cli

import (
	"testing"
	"time"
)

func TestParseDurationKnowsDays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "36h": 36 * time.Hour, "7d": 7 * 24 * time.Hour, "1d12h": 36 * time.Hour,
		"0s": 0, "0": 0, "1.5h": 90 * time.Minute, "36500d": maxDuration,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "7", "d", "7days", "1.5d", "2w", "-1s", "+1s", "-0s", "1d-1s", "1h1d", "36501d", "36500d1s", "99999999999999999999d", "99999999999h"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q is %v; want it refused", text, got)
		}
	}
}
