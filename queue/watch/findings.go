package watch

import (
	"cmp"
	"slices"
	"time"
)

// Finding is one judgement on the queue's health.
type Finding struct {
	Grade  Grade
	About  string // "oldest transaction", "index jobs_ready"
	Figure string // how it is, in a few words: "open for 3h5m", "missing"
	Why    string // what that does to the queue or the feed; "" when it does nothing
	Cure   string // what to do: a statement or a command, in words; "" when nothing need be done
	Source Source // the connection of the feed that it is about; Unknown when it is about none
}

// Grade is how bad a [Finding] is.
type Grade int

// The grades, from the best to the worst. Hidden is for what cannot be judged here.
const (
	Fine Grade = iota
	Hidden
	Caution
	Danger
)

// String is the grade in a word: "ok", "hidden", "caution" or "danger".
func (g Grade) String() string {
	switch g {
	case Fine:
		return "ok"
	case Hidden:
		return "hidden"
	case Caution:
		return "caution"
	}
	return "danger"
}

// From when on a figure is worth a look (caution), and when it does harm (danger).
const (
	// A change shows within 0.2 s: what takes a second is seen to be late.
	linkSlow = time.Second
	// Leases go by the database's clock alone. But people compare its times with those
	// in the logs of this machine.
	skewMuch = 5 * time.Second

	// Autovacuum comes once a minute. What it could not remove five times over makes
	// every claim walk past it; after an hour the table has grown for good.
	openLong, openTooLong = 5 * time.Minute, time.Hour
	// Shorter transactions are the work itself.
	openMoment = 10 * time.Second

	// A stream that keeps up holds a few segments of 16 MB. Disks of database servers have
	// gigabytes to spare, not tens of them.
	heldMuch, heldTooMuch = 256 << 20, 4 << 30

	// A migration waits two seconds for the table and gives way. Who waits longer has the
	// whole queue stand still.
	waitLong, waitTooLong = 2 * time.Second, 10 * time.Second

	// The notification queue is empty where every listener listens. PostgreSQL warns in
	// its log from one half; at nine tenths the triggers no longer signal; full, it fails
	// every commit that signals.
	notificationsMany, notificationsTooMany = 0.1, 0.5

	// Dead rows wait a minute for autovacuum, which at a thousand jobs a second is twenty
	// times the threshold at which it comes.
	deadMany, deadTooMany = 100, 1000 // times the threshold
	// Past the threshold for so long, with autovacuum once a minute, something keeps it away.
	vacuumLate = 10 * time.Minute

	// PostgreSQL vacuums at this age in any case. Twice that, and it did not succeed; at
	// the second it drops all else to do so; at two billion the server stops writing.
	ageMuch    = 2 // times the age at which it vacuums
	ageTooMuch = 1_600_000_000
)

// Findings judges State's health, worst first: the connections and their lag, the last
// comparison with the table, the clocks, and what the checkup found. now is the time by
// the database's clock, for the ages in it; see [Clock.Now]. Texts may hold names that
// others chose.
func (s *State) Findings(now time.Time) []Finding {
	j := judge{State: s, now: now}
	list := slices.Concat(j.links(), j.drift(), j.skew())
	if s.Health.Read.IsZero() {
		list = append(list, Finding{Grade: Hidden, About: "the rest", Figure: "not known yet", Why: s.Health.Reason})
	} else {
		if s.Health.Reason != "" {
			list = append(list, Finding{Grade: Hidden, About: "checkup", Figure: "none since " + inWords(now.Sub(s.Health.At)) + " ago", Why: s.Health.Reason})
		}
		list = slices.Concat(list, j.refused(), j.waiting(), j.open(), j.paths(), j.held(), j.notifications(), j.dead(), j.vacuum(), j.age())
		if !s.Server.SchemaOld && !s.Server.SchemaMissing { // else that is the one thing to say
			list = slices.Concat(list, j.indexes(), j.triggers(), j.publication())
			if s.Health.PartsOld {
				list = append(list, Finding{Grade: Hidden, About: "indexes and triggers", Figure: "as before", Why: "somebody has the table locked, or waits for that"})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Finding) int { return cmp.Compare(b.Grade, a.Grade) })
	return list
}

// judge looks at one State at one moment.
type judge struct {
	*State
	now time.Time // database clock
}

// grade compares a figure with its two thresholds.
func grade[T cmp.Ordered](figure, caution, danger T) Grade {
	switch {
	case figure >= danger:
		return Danger
	case figure >= caution:
		return Caution
	}
	return Fine
}

// ago is how long ago the local clock read t.
func (j judge) ago(local time.Time) time.Duration {
	return max(j.now.Sub(j.Clock.Now(local)), 0)
}

// links judges the feed's connections.
func (j judge) links() []Finding {
	return []Finding{
		j.link(FromWAL, j.WAL, "behind", "depths, leases and events come late"),
		j.link(Notice, j.Notify, "to an answer", "dead letters and pauses show late"),
		j.link(Polled, j.Polling, "to an answer", "what is polled shows late"),
	}
}

func (j judge) link(of Source, l Link, lag, late string) Finding {
	f := Finding{About: linkNames[of], Source: of}
	switch {
	case l.Attaching:
		f.Grade, f.Figure, f.Why = Hidden, "in the making for "+inWords(j.ago(l.Since).Truncate(time.Second)), l.Reason
	case !l.OK && l.Reason == switchedOff:
		f.Grade, f.Figure = Hidden, switchedOff
	case !l.OK:
		f.Grade, f.Figure, f.Why = Caution, "down for "+inWords(j.ago(l.Since)), l.Reason
		if of == Polled {
			f.Grade = Danger
		}
	case l.Lag >= linkSlow:
		f.Grade, f.Figure, f.Why = Caution, inWords(l.Lag)+" "+lag, late
	default:
		f.Figure = "under " + inWords(l.Lag.Truncate(100*time.Millisecond)+100*time.Millisecond) + " " + lag
	}
	return f
}

// drift judges the last comparison of the counts with the table.
func (j judge) drift() []Finding {
	d := j.Health.Drift
	f := Finding{Grade: Hidden, About: "counts against the table", Figure: "not compared yet"}
	if !d.Checked.IsZero() {
		f.Grade = Fine
		f.Figure = grouped(d.Off) + " figures off, " + grouped(d.Jobs) + " jobs compared, " + inWords(j.ago(d.Checked).Truncate(time.Second)) + " ago"
	}
	switch {
	case d.Off > 0:
		f.Grade, f.Why, f.Cure = Caution, "the counts shown before were wrong; the stream attached again since", "compare once more, and report it should it happen again"
	case d.Reason != "":
		f.Grade, f.Why = Hidden, "the last try: "+d.Reason
	}
	return []Finding{f}
}

// skew judges the two clocks.
func (j judge) skew() []Finding {
	c := j.Clock
	f := Finding{About: "clocks", Figure: "not known yet"}
	switch {
	case !c.Known:
		f.Grade = Hidden
	case c.Skew.Abs() < 20*time.Millisecond:
		f.Figure = "agree"
	case c.Skew > 0:
		f.Figure = "the database is " + inWords(c.Skew.Round(10*time.Millisecond)) + " ahead of here"
	default:
		f.Figure = "the database is " + inWords(-c.Skew.Round(10*time.Millisecond)) + " behind here"
	}
	if c.Skew.Abs() >= skewMuch {
		f.Grade = Caution
		f.Why = "leases go by the database's clock and are not touched, but its times do not fit those in logs"
		f.Cure = "set both machines by NTP"
	}
	return []Finding{f}
}
