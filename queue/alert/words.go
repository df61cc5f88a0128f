package alert

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Name is what a measure is called.
func (m Measure) Name() string {
	switch m {
	case Dead:
		return "dead letters"
	case DeadRate:
		return "deaths a minute"
	case Age:
		return "the oldest ready job"
	case Expired:
		return "leases that ran out and nobody takes back"
	case ExpiredRate:
		return "leases that run out a minute"
	}
	return string(m)
}

// Says tells a figure: "41 dead letters", "the oldest ready job has waited 12m4s in emails".
// It may hold a queue's name, which may be anything.
func (f Figure) Says(m Measure) string {
	amount := Amount(m, f.Value)
	if f.AtLeast {
		amount = "at least " + amount
	}
	one := f.Value == 1 && !f.AtLeast
	switch m {
	case Dead:
		return amount + plural(one, " dead letter", " dead letters")
	case DeadRate:
		return amount + plural(one, " death a minute", " deaths a minute")
	case Age:
		if f.Of == "" {
			return "no job is ready"
		}
		return "the oldest ready job has waited " + amount + " in " + f.Of
	case Expired:
		return amount + plural(one, " lease ran out and nobody takes it back", " leases ran out and nobody takes them back")
	case ExpiredRate:
		return amount + plural(one, " lease runs out a minute", " leases run out a minute")
	}
	return amount + " " + string(m)
}

// Says tells it: "41 dead letters, more than 10".
func (b Breach) Says() string {
	return b.Figure.Says(b.Measure) + ", more than " + Amount(b.Measure, b.Limit)
}

// Brief tells it in few cells: "dead 41 > 10", "oldest 12m4s in emails > 5m".
func (b Breach) Brief() string { return b.brief(" > ") }

func (b Breach) brief(than string) string {
	name, unit := map[Measure]string{Dead: "dead", DeadRate: "deaths", Age: "oldest", Expired: "expired", ExpiredRate: "expiring"}[b.Measure], ""
	switch b.Measure {
	case DeadRate, ExpiredRate:
		unit = "/min"
	case Age:
		if b.Figure.Of != "" {
			unit = " in " + b.Figure.Of
		}
	}
	least := ""
	if b.Figure.AtLeast {
		least = "+"
	}
	return name + " " + Amount(b.Measure, b.Figure.Value) + least + unit + than + Amount(b.Measure, b.Limit)
}

// Says tells it: "dead letters: it is not known".
func (d Doubt) Says() string { return d.Measure.Name() + ": " + d.Why }

// Amount writes how much of a measure there is: 1,204, 0.4, 12m4s.
func Amount(m Measure, v float64) string {
	switch m {
	case Age:
		return span(time.Duration(min(max(v, 0), 1e9) * float64(time.Second)))
	case Dead, Expired:
		return grouped(strconv.FormatFloat(v, 'f', 0, 64))
	}
	if v >= 100 {
		return grouped(strconv.FormatFloat(v, 'f', 0, 64))
	}
	// Two digits that count, so that little is not nothing.
	digits := 1
	if v > 0 && v < 1 {
		digits = min(1-int(math.Floor(math.Log10(v))), 6)
	}
	text := strconv.FormatFloat(v, 'f', digits, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// span writes a length of time in whole seconds and the two units that matter: 45s, 12m4s, 5m, 3d2h.
func span(d time.Duration) string {
	units := []struct {
		long time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}}
	text, from := "", -1
	for i, u := range units {
		if from >= 0 && i > from+1 {
			break
		}
		if n := d / u.long; n > 0 {
			text += strconv.Itoa(int(n)) + u.name
			d -= n * u.long
			if from < 0 {
				from = i
			}
		}
	}
	if text == "" {
		return "0s"
	}
	return text
}

// grouped sets the thousands of a whole number apart.
func grouped(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func plural(one bool, single, many string) string {
	if one {
		return single
	}
	return many
}
