package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// RunAt reads what --run-at says: "now", a time with its offset (RFC 3339), a
// distance from the database's now such as +90s, +2h30m or +3d, "infinity" or
// "-infinity".
//
// There is no local time among them, so a change of summer time can make none of
// them ambiguous: +1d is 24 hours.
func RunAt(said string) (at queue.Time, delay time.Duration, err error) {
	switch said {
	case "", "now":
		return queue.Time{}, 0, nil
	case "infinity":
		return queue.Time{Infinity: 1}, 0, nil
	case "-infinity":
		return queue.Time{Infinity: -1}, 0, nil
	}
	if distance, relative := strings.CutPrefix(said, "+"); relative {
		delay, err := ParseDuration(distance)
		if err != nil {
			return queue.Time{}, 0, Usage(fmt.Sprintf("--run-at %q: after + write how long from now, like +90s, +2h30m or +3d, at most 100 years", said))
		}
		return queue.Time{}, delay, nil
	}
	t, err := time.Parse(time.RFC3339Nano, said)
	if err != nil {
		return queue.Time{}, 0, Usage(fmt.Sprintf("--run-at %q: use a time with its offset like 2026-03-29T09:00:00+02:00 or …Z, a distance from now like +90s, or infinity", said))
	}
	return queue.At(t), 0, nil
}
