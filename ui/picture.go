package ui

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/alert"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers"
)

// picture is everything the panes draw from, as of one moment. Its clock moves
// once a second and no oftener, so countdowns and ages move together and a
// frame in between changes only what really changed.
type picture struct {
	theme   *theme
	state   *watch.State
	workers []workers.Snapshot
	news    []workers.Event // what the workers told, oldest first
	fenced  uint64          // stale writes of our workers that changed nothing
	reaped  workers.Recovery
	claims  workers.Latency // how long our claims take; Count 0 when nothing was claimed
	ledger  *Ledger         // nil without a demonstration
	counted time.Time       // this machine's clock, when it was counted
	alone   bool            // no workers run in this process

	serverDown string       // why the private server is down; "" when it is not, or there is none
	alarm      *alert.Alarm // judges also while this picture is frozen
	now        time.Time    // the database's clock
	local      time.Time    // this machine's clock at the same moment

	totals   totals
	whole    watch.QueueDepth // all queues together
	partial  bool             // the rates of whole lack those of some queue
	unserved unserved
	lanes    *laneFeed // goes on while this picture is frozen
}

// take makes what was pulled the picture, and finds out what every frame needs of it.
func (p *picture) take(m pulledMsg) {
	p.state, p.workers, p.news, p.claims, p.fenced, p.reaped = m.state, m.workers, m.news, m.claims, m.fenced, m.reaped
	p.totals.count(p.state.Depths.Queues)
	p.whole, p.partial = p.totals.all(&p.state.Traffic)
	p.unserved = p.findUnserved()
}

// staleAfter is how old a figure may be before it is marked, however long it is
// until the next reading is due.
const staleAfter = 3 * time.Second

// stale reports whether what was known at a moment is too old to pass for the present,
// and how old it is.
func (p *picture) stale(known time.Time) (time.Duration, bool) {
	if known.IsZero() {
		return 0, false
	}
	old := p.local.Sub(known)
	return old, old > staleAfter
}

// oldNote is what a heading says about stale figures, "" about fresh ones.
func (p *picture) oldNote(known time.Time) string {
	if old, stale := p.stale(known); stale {
		return "stale: " + age(old) + " old"
	}
	return ""
}

// provenance adds to a heading what there is to say about the figures below it: that they
// are polled, or not those of the present.
func (p *picture) provenance(h heading, source watch.Source, known time.Time) heading {
	if source == watch.Polled {
		h.note, h.must = strings.TrimPrefix(h.note+" · polled", " · "), "polled"
	}
	if note := p.oldNote(known); note != "" {
		h.note, h.must = note, "stale"
	}
	return h
}

// deadKnown is up to when the dead letters are known to be as shown. As long as
// notifications arrive, nothing changed since the last: an old reading is as good as new,
// unless a newer one was asked for and has not been made.
func (p *picture) deadKnown() time.Time {
	dead, notify := p.state.Dead, p.state.Notify
	switch {
	case dead.Source != watch.Notice:
		return dead.Read
	case !dead.Owed.IsZero():
		return dead.Owed
	case notify.OK:
		return p.local
	case notify.Heard.After(dead.Read):
		return notify.Heard
	}
	return dead.Read
}

// holder is who holds a lease, in words.
type holder struct {
	name  string
	state workers.State // of a worker in this process; "" for others
}

// holder finds out who an owner is. Workers of this process go by their names,
// those of other leasetop processes by name and host, others by what they wrote.
func (p *picture) holder(owner string) holder {
	token, ok := queue.ParseToken(owner)
	if !ok {
		return holder{name: owner}
	}
	base := token.Process + "/" + token.Worker
	for _, w := range p.workers {
		if w.Owner == base {
			return holder{name: w.Name, state: w.State}
		}
	}
	return holder{name: token.Worker + "@" + host(token.Process)}
}

// host is the first part of a process's name.
func host(process string) string {
	for i := range len(process) {
		if process[i] == ':' {
			return process[:i]
		}
	}
	return process
}

// gone says in a word that a worker no longer looks after its jobs.
func (h holder) gone() string {
	switch h.state {
	case workers.Crashed, workers.Frozen, workers.Stopped:
		return string(h.state)
	}
	return ""
}

// kindCell is what runs a job; without its queue where the column is too narrow
// for the full names of all rows.
func (t *theme) kindCell(queue, kind string, full int) cell {
	return cell{paint: func(w int) string {
		text := kindOf(queue, kind)
		if kind != "" && w < full {
			text = kind
		}
		return t.dim.draw(safe.Fit(text, w))
	}}
}

// whereCell draws a job's queue and kind. Where there is no room for both, the middle of
// the queue's name goes: two queues must not look alike.
func (t *theme) whereCell(queue, kind string) cell {
	return cell{paint: func(w int) string {
		text := safe.Text(kindOf(queue, kind))
		if over := safe.Width(text) - w; over > 0 && text != safe.Text(queue) {
			if room := safe.Width(safe.Text(queue)) - over; room >= 3 {
				text = middled(safe.Text(queue), room) + "/" + safe.Text(kind)
			} else {
				text = middled(text, w)
			}
		} else if over > 0 {
			text = middled(text, w)
		}
		return t.dim.draw(safe.Fit(text, w))
	}}
}

// middled cuts the middle out of a safe text, for it to have w cells at most.
func middled(text string, w int) string {
	wide := safe.Width(text)
	if wide <= w || w < 3 {
		return safe.Fit(text, max(w, 0))
	}
	tail := (w - 1) / 2
	return ansi.Truncate(text, w-1-tail, "") + "…" + ansi.TruncateLeft(text, wide-tail, "")
}

// kindOf names what runs a job: its kind, within its queue when that says more.
func kindOf(queue, kind string) string {
	if kind == "" || kind == queue {
		return queue
	}
	return queue + "/" + kind
}
