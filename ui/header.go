package ui

import (
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/safe"
)

// part is a styled stretch of a line; when the line is too long the parts of
// the highest rank go first, and rank 0 never.
type part struct {
	text string
	rank int
}

// spread writes parts to the left and to the right end of a line of w cells.
func spread(left, right []part, w int) string {
	const gap = 2
	all := append(append([]part(nil), left...), right...)
	gone := make([]bool, len(all))
	width := func() int {
		sum := 2
		for i, p := range all {
			if !gone[i] && p.text != "" {
				sum += safe.Width(p.text) + gap
			}
		}
		return sum
	}
	for width() > w {
		worst := -1
		for i, p := range all {
			if !gone[i] && p.rank > 0 && (worst < 0 || p.rank > all[worst].rank) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		gone[worst] = true
	}
	line := func(from, to int) string {
		var texts []string
		for i := from; i < to; i++ {
			if !gone[i] && all[i].text != "" {
				texts = append(texts, all[i].text)
			}
		}
		return strings.Join(texts, strings.Repeat(" ", gap))
	}
	a, b := line(0, len(left)), line(len(left), len(all))
	blank := max(w-2-safe.Width(a)-safe.Width(b), 0)
	return safe.FitStyled(" "+a+strings.Repeat(" ", blank)+b+" ", w)
}

// header is the first line: what is shown, through which sources, and whether
// it is the present.
func header(p *picture, origin string, frozen bool, w int) string {
	t, s := p.theme, p.state.Server
	left := []part{{t.lead.draw("leasetop"), 1}} // before where the counts come from
	if s.Database != "" {
		name := s.Database
		if s.Schema != "" && s.Schema != "leasetop" {
			name += "." + s.Schema
		}
		known := s.Version != "" // else the server has not answered yet
		mode := ""
		switch {
		case known && s.ReadOnly:
			mode = t.chip(caution, "RO")
		case known:
			mode = t.chip(quiet, "RW")
		}
		left = append(left, part{join(t.strong.draw(safe.Text(name)), mode), 0})
		if known {
			left = append(left, part{t.dim.draw("pg " + safe.Text(release(s.Version))), 4})
		}
		left = append(left, part{t.dim.draw(safe.Text(s.User + "@" + s.Host)), 6})
	}
	if origin != "" {
		left = append(left, part{t.dim.draw(safe.Text(origin)), 5})
	}
	right := append(p.feed(), part{p.drift(), 6}, part{p.skew(), 7}, part{p.healthChip(), 1}, part{p.alertChip(), 1}, part{p.life(frozen), 0})
	return spread(left, right, w)
}

// feed is the sources of the picture. The first is that of the counts: WAL when the
// stream keeps them, exactly; POLL ~ when they are read now and then. What each mark means
// is in the help: see sources.
func (p *picture) feed() []part {
	t, s := p.theme, p.state
	wal, poll := part{p.link("WAL", s.WAL), 2}, part{p.link("poll", s.Polling), 3}
	if s.Depths.Source == watch.Polled {
		poll = part{p.link("POLL ~", s.Polling), 1}
		if s.Polling.OK && s.Polling.Lag < slow {
			poll.text = t.warn.draw("POLL ~")
		}
		return []part{poll, wal, {p.link("NOTIFY", s.Notify), 2}}
	}
	if s.Depths.Source == watch.FromWAL {
		wal.rank = 1
	}
	return []part{wal, {p.link("NOTIFY", s.Notify), 2}, poll}
}

// release is a server's version without its packager's words: 15.18.
func release(version string) string {
	number, _, _ := strings.Cut(version, " ")
	return number
}

// slow is the lag from which it is told.
const slow = time.Second

// link is one connection of the feed: whether it works and, when it lags, how far.
func (p *picture) link(name string, l watch.Link) string {
	t := p.theme
	switch {
	case p.state.Version == 0, l.Attaching:
		return t.dim.draw(name + " …")
	case !l.OK:
		return t.bad.draw(name + " ✗")
	case l.Lag >= slow:
		return t.warn.draw(name + " ! " + age(l.Lag))
	}
	return t.dim.draw(name+" ") + t.good.draw("✓")
}

// skew is how far the database's clock is from this machine's, when that is worth a
// word. It is rounded: each reading of a clock far away finds it a little elsewhere.
func (p *picture) skew() string {
	c := p.state.Clock
	if !c.Known || c.Skew.Abs() < 20*time.Millisecond {
		return ""
	}
	sign := "+"
	if c.Skew < 0 {
		sign = "-"
	}
	text := "skew " + sign + short(c.Skew.Abs().Round(10*time.Millisecond))
	if c.Skew.Abs() > 5*time.Second {
		return p.theme.warn.draw(text)
	}
	return p.theme.dim.draw(text)
}

// life says whether the counts are of the present.
func (p *picture) life(frozen bool) string {
	t, s := p.theme, p.state
	clock := p.now.UTC().Format("15:04Z")
	old, stale := p.stale(s.Depths.Read)
	switch {
	case frozen:
		return t.chip(caution, "‖ PICTURE FROZEN "+p.now.UTC().Format("15:04:05Z"))
	case s.Version == 0, s.Depths.Source == watch.Unknown && s.Polling.Attaching:
		return t.chip(quiet, "CONNECTING")
	case stale:
		return t.chip(danger, "! STALE "+age(old)) + " " + t.text.draw(clock)
	case !s.Polling.OK && (s.Depths.Source != watch.FromWAL || !s.WAL.OK):
		return t.chip(danger, "! STALE") + " " + t.text.draw(clock)
	}
	return t.good.draw("● LIVE") + " " + t.text.draw(clock)
}
