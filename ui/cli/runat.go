package cli

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// days are a unit that time.ParseDuration does not know.
var days = regexp.MustCompile(`^(\d+)d(.*)$`)

// maxDelay keeps relative times within what a Duration and an interval can hold.
const maxDelay = 100 * 365 * 24 * time.Hour

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
		delay, err := parseDistance(distance)
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

func parseDistance(text string) (time.Duration, error) {
	var whole time.Duration
	if m := days.FindStringSubmatch(text); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil || n > int(maxDelay/(24*time.Hour)) {
			return 0, fmt.Errorf("%s days are too many", m[1])
		}
		whole = time.Duration(n) * 24 * time.Hour
		if text = m[2]; text == "" {
			return whole, nil
		}
	}
	rest, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, err
	case rest < 0 || strings.HasPrefix(text, "+"):
		return 0, fmt.Errorf("%s is signed", text)
	case rest > maxDelay-whole:
		return 0, fmt.Errorf("%s is too long", text)
	}
	return whole + rest, nil
}
