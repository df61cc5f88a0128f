package ui

import (
	"github.com/leasetop/leasetop/ui/safe"
)

// banner is the line under the tabs that says what is wrong with the feed, and
// the cure. Empty when all is well.
func banner(p *picture, w int) []string {
	s := p.state
	if s.Version == 0 {
		return nil
	}
	type trouble struct{ what, reason string }
	var all []trouble
	if !s.Polling.OK {
		all = append(all, trouble{"no reading", s.Polling.Reason})
	}
	if !s.Notify.OK {
		all = append(all, trouble{"no LISTEN", s.Notify.Reason})
	}
	if !s.WAL.OK {
		all = append(all, trouble{"no WAL", s.WAL.Reason})
	}
	if len(all) == 0 {
		return nil
	}
	text := "! " + all[0].what
	if all[0].reason != "" {
		text += ": " + all[0].reason
	}
	if more := len(all) - 1; more > 0 {
		text += " · and " + plural(more, "other") + ", see ?"
	}
	k := p.theme.warn
	if !s.Polling.OK {
		k = p.theme.bad
	}
	return []string{" " + k.draw(safe.Fit(text, w-2)) + " "}
}
