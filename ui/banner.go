package ui

import (
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/safe"
)

// banner is the line under the tabs that says what is wrong with the feed, and
// the cure. Empty when all is well.
func banner(p *picture, w int) []string {
	s := p.state
	if s.Version == 0 {
		return nil
	}
	var bad []link
	for _, l := range links(p) {
		if !l.OK {
			bad = append(bad, l)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	text := "! no " + bad[0].name
	if bad[0].Reason != "" {
		text += ": " + bad[0].Reason
	}
	if more := len(bad) - 1; more > 0 {
		text += " · and " + thousands(int64(more)) + " more, see ?"
	}
	k := p.theme.warn
	if !s.Polling.OK {
		k = p.theme.bad
	}
	return []string{" " + k.draw(safe.Fit(text, w-2)) + " "}
}

// link is one source of the feed under its name and with what it feeds.
type link struct {
	watch.Link
	name, feeds string
	lag         string // what a long Lag means: "its last answer took"
}

// links are the sources, the one that hurts most to lose first.
func links(p *picture) []link {
	return []link{
		{p.state.Polling, "poll", "depths, leases and pauses", "the last reading took"},
		{p.state.Notify, "NOTIFY", "dead letters, within milliseconds", "the last answer took"},
		{p.state.WAL, "WAL", "events", "it is behind by"},
	}
}

// sources says for the help how each source is: what the header says by a mark.
func sources(p *picture) []string {
	var notes []string
	read, old := p.stale(p.state.Depths.Read)
	for _, l := range links(p) {
		text := l.name + ": " + l.feeds
		switch {
		case p.state.Version == 0:
			text += " · not connected yet"
		case !l.OK:
			text += " · not for " + age(p.local.Sub(l.Since)) + ": " + l.Reason
		case l.Lag >= slow:
			text += " · slow: " + l.lag + " " + age(l.Lag)
		case !old || l.name != "poll":
			text += " · ok for " + age(p.local.Sub(l.Since))
		}
		if old && l.name == "poll" {
			text += " · its figures are " + age(read) + " old"
			if l.OK && p.state.Every > 0 {
				text += ", and come up to " + age(p.state.Every) + " apart"
			}
		}
		notes = append(notes, text)
	}
	return notes
}
