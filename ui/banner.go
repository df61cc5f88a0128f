package ui

import (
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/safe"
)

// grace is how long a connection may be made, or made again, before that is worth a line:
// a line that comes and goes moves all that is below it. The header tells at once.
const grace = 2 * time.Second

// banner is the line under the tabs that says what is wrong with the feed, and
// the cure. Empty when all is well.
func banner(p *picture, w int) []string {
	s := p.state
	if p.serverDown != "" { // the cause of all that the feed lacks
		return []string{" " + p.theme.bad.draw(oneLine("! "+p.serverDown, "", w-2)) + " "}
	}
	if s.Version == 0 {
		return nil
	}
	var down, late []link
	for _, l := range links(p) {
		switch {
		case l.OK, p.local.Sub(l.Since) < grace:
		case l.Attaching:
			late = append(late, l)
		default:
			down = append(down, l)
		}
	}
	k, text, brief := p.theme.warn, "", ""
	switch {
	case len(down) == 3:
		k, text = p.theme.bad, "! no connection: "+down[0].Reason
	case len(down) > 0:
		text = "! no " + down[0].name
		rest := ""
		if down[0].Reason != "" {
			rest = ": " + down[0].Reason
		}
		if more := len(down) - 1; more > 0 {
			rest += " · and " + thousands(int64(more)) + " more, see ?"
		}
		text, brief = text+", "+down[0].lost+rest, text+rest
		if s.Depths.Source != watch.FromWAL && !s.Polling.OK {
			k = p.theme.bad
		}
	case len(late) > 0:
		news := make([]string, len(late))
		for i, l := range late {
			news[i] = l.name + " " + l.Reason
		}
		k, text = p.theme.dim, "… "+strings.Join(news, ", ")
	default:
		return nil
	}
	return []string{" " + k.draw(oneLine(text, brief, w-2)) + " "}
}

// oneLine is a text in w cells, or a briefer one that says the same. What has to be cut off
// stands in the help.
func oneLine(text, brief string, w int) string {
	text, brief = safe.Text(text), safe.Text(brief)
	if safe.Width(text) <= w {
		return safe.Fit(text, w)
	}
	if brief == "" {
		brief = text
	}
	if safe.Width(brief) <= w {
		return safe.Fit(brief, w)
	}
	const more = " · see ?"
	return safe.Fit(safe.Fit(brief, w-len(more)+1)+more, w)
}

// link is one connection of the feed under its name.
type link struct {
	watch.Link
	name  string
	feeds string // what hangs on it
	lost  string // what becomes of that without it
	lag   string // what a long Lag means: "its last answer took"
}

// links are the connections, the one that hurts most to lose first.
func links(p *picture) []link {
	s := p.state
	poll := link{s.Polling, "poll", "the server, its clock and health, pauses", "so pauses and health are not read", "the last reading took"}
	notify := link{s.Notify, "NOTIFY", "dead letters and pauses, within milliseconds", "so dead letters are polled", "the last answer took"}
	wal := link{s.WAL, "WAL", "counts, exactly; leases, rates and events", "so counts are polled", "it is behind by"}
	if s.Depths.Source == watch.FromWAL {
		return []link{wal, notify, poll}
	}
	poll.feeds, poll.lost = "counts and leases"+pick(s.Every > 0, ", up to "+apart(s.Every)+" apart", "")+"; "+poll.feeds, "so nothing is fresh"
	return []link{poll, notify, wal}
}

// sources says for the help where each figure comes from and how old it is, then how
// each connection is: what the screen says by marks.
func sources(p *picture) []string {
	if p.state.Version == 0 {
		return []string{"nothing is connected yet"}
	}
	notes := figures(p)
	if p.serverDown != "" {
		notes = append(notes, p.serverDown)
	}
	for _, l := range links(p) {
		text := l.name + ": " + l.feeds
		switch {
		case l.Attaching:
			text += " · " + l.Reason + ", for " + age(p.local.Sub(l.Since))
		case !l.OK:
			text += " · not for " + age(p.local.Sub(l.Since)) + ": " + l.Reason
		case l.Lag >= slow:
			text += " · slow: " + l.lag + " " + age(l.Lag)
		default:
			text += " · ok for " + age(p.local.Sub(l.Since))
		}
		notes = append(notes, text)
	}
	return notes
}

// figures says where the figures come from.
func figures(p *picture) []string {
	s := p.state
	var notes []string
	add := func(name, how string, known time.Time) {
		text := name + ": " + how
		if old, stale := p.stale(known); stale {
			text += " · " + age(old) + " old"
		}
		notes = append(notes, text)
	}
	switch s.Depths.Source {
	case watch.FromWAL:
		add("Counts", "kept by the WAL stream, exact; after ~ estimated, when it attached or since completed jobs were purged", s.Depths.Read)
	case watch.Polled:
		add("Counts", "polled, up to "+apart(s.Every)+" apart; with + no further than that, after ~ estimated", s.Depths.Read)
	}
	switch s.Leases.Source {
	case watch.FromWAL:
		add("Leases", "kept by the WAL stream, exact", s.Leases.Read)
	case watch.Polled:
		add("Leases", "polled", s.Leases.Read)
	}
	switch s.Dead.Source {
	case watch.Notice:
		add("Dead letters", "read whenever a notification says that they changed", p.deadKnown())
	case watch.Polled:
		add("Dead letters", "polled", p.deadKnown())
	}
	if s.Pauses.Source != watch.Unknown && s.Pauses.Reason == "" {
		add("Pauses", "polled, and read after a notification", s.Pauses.Read)
	}
	switch s.Traffic.Source {
	case watch.Unknown:
		add("Rates", "those there are come from the differences of polls; pickup times need the WAL stream", s.Depths.Read)
	default:
		add("Rates, pickup", "counted in the WAL stream, over 10 s and a minute", s.Depths.Read)
	}
	notes = append(notes, "60s, the small bars: how many jobs left (OUT) in each second of the last minute; a dot is none, a blank was not counted")
	if s.Depths.Source == watch.FromWAL {
		notes = append(notes, "drift: how many figures of the stream's were not those of the table when the two were last compared, if they were since the stream attached; h says when. That is done a minute after it attached and every quarter of an hour by itself, where no more than 200,000 jobs are not completed, and by h, c at any time")
	}
	if p.claims.Count > 0 {
		notes = append(notes, "Claim times: measured by the workers of this process, over a minute")
	}
	return notes
}

// apart is how long it may be between two readings, in whole seconds.
func apart(d time.Duration) string { return age(d + time.Second - 1) }
