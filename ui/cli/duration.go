package cli

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// days are a unit that time.ParseDuration does not know.
var days = regexp.MustCompile(`^(\d+)d(.*)$`)

// maxDuration keeps what is said within what a Duration and an interval can hold.
const maxDuration = 100 * 365 * 24 * time.Hour

// ParseDuration reads a length of time such as 90s, 2h30m, 7d or 1d12h: a day is 24
// hours. It refuses signs, and what is longer than 100 years.
func ParseDuration(text string) (time.Duration, error) {
	var whole time.Duration
	if m := days.FindStringSubmatch(text); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil || n > int(maxDuration/(24*time.Hour)) {
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
	case rest < 0 || strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-"):
		return 0, fmt.Errorf("%s is signed", text)
	case rest > maxDuration-whole:
		return 0, fmt.Errorf("%s is too long", text)
	}
	return whole + rest, nil
}
