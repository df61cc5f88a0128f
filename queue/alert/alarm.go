package alert

import "time"

const (
	// Hold is for how long a figure has to be within its limit again before its alert is
	// over. One that swings around its limit raises one alert.
	Hold = 30 * time.Second
	// Patience is for how long a figure has to be missing before that is worth a word: a
	// connection that is made again within moments is none.
	Patience = 5 * time.Second
)

// Alert is a limit that was passed, and not yet kept for [Hold] again.
type Alert struct {
	Breach           // with the newest figure that is known
	Since  time.Time // it was first passed
	// Within is since when it has been kept again; zero while it is passed, and while
	// that cannot be told.
	Within time.Time
}

// Says tells it: "41 dead letters, more than 10"; and when it is kept again: "9 dead
// letters, no more than 10 again".
func (a Alert) Says() string {
	if a.Within.IsZero() {
		return a.Breach.Says()
	}
	return a.Figure.Says(a.Measure) + ", no more than " + Amount(a.Measure, a.Limit) + " again"
}

// Brief tells it in few cells: "dead 41 > 10"; and when it is kept again: "dead 9 ≤ 10 again".
func (a Alert) Brief() string {
	if a.Within.IsZero() {
		return a.Breach.Brief()
	}
	return a.brief(" ≤ ") + " again"
}

// Alarm judges figures as they come. It is for one goroutine.
type Alarm struct {
	Limits   Limits
	alerts   []Alert // in the order of Measures
	doubts   []Doubt
	doubtful map[Measure]time.Time // since when
}

// Alerts are those that stand.
func (a *Alarm) Alerts() []Alert { return a.alerts }

// Doubts are the limits of which it cannot be told, and has not been for [Patience],
// whether they are kept.
func (a *Alarm) Doubts() []Doubt { return a.doubts }

// Take judges the figures of a moment, which must not be before that of the last ones. It
// returns the alerts that are new, and those that are over.
func (a *Alarm) Take(f Figures, now time.Time) (fresh, over []Alert) {
	breaches, doubts := a.Limits.Judge(f)
	a.doubt(doubts, now)
	stood := make(map[Measure]Alert, len(a.alerts))
	for _, one := range a.alerts {
		stood[one.Measure] = one
	}
	passed := make(map[Measure]Breach, len(breaches))
	for _, b := range breaches {
		passed[b.Measure] = b
	}
	a.alerts = nil
	for _, m := range Measures {
		one, stands := stood[m]
		b, passes := passed[m]
		_, unknown := a.doubtful[m]
		switch {
		case passes && stands:
			one.Breach, one.Within = b, time.Time{}
		case passes:
			one = Alert{Breach: b, Since: now}
			fresh = append(fresh, one)
		case !stands:
			continue
		case unknown:
			one.Within = time.Time{}
		default:
			one.Figure = f[m]
			if one.Within.IsZero() {
				one.Within = now
			}
			if now.Sub(one.Within) >= Hold {
				over = append(over, one)
				continue
			}
		}
		a.alerts = append(a.alerts, one)
	}
	return fresh, over
}

// doubt notes what cannot be told, and since when.
func (a *Alarm) doubt(doubts []Doubt, now time.Time) {
	since := make(map[Measure]time.Time, len(doubts))
	a.doubts = nil
	for _, d := range doubts {
		from, before := a.doubtful[d.Measure]
		if !before {
			from = now
		}
		since[d.Measure] = from
		if now.Sub(from) >= Patience {
			a.doubts = append(a.doubts, d)
		}
	}
	a.doubtful = since
}
