package ui

import (
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/workers"
)

// entry is a happening in words.
type entry struct {
	at     time.Time // the database's clock
	source string    // wal, poll, notify, work, reap
	job    int64
	glyph  string
	kind   tone
	text   string
}

// tell puts a happening in words.
func (p *picture) tell(h happening) entry {
	if h.work != nil {
		return p.ofWorker(h.work)
	}
	return p.ofFeed(h.feed)
}

// ofFeed puts an event of the feed in words.
func (p *picture) ofFeed(e *watch.Event) entry {
	out := entry{at: e.At, source: string(e.Source), job: e.JobID, text: string(e.What)}
	by := func(words, preposition string) string {
		if e.Owner == "" {
			return words
		}
		return words + " " + preposition + " " + p.holder(e.Owner).name
	}
	switch e.What {
	case watch.Enqueued:
		out.glyph = "+"
	case watch.Claimed:
		out.glyph = "→"
		out.text = by("claimed", "by")
	case watch.Completed:
		out.glyph, out.kind = "✓", okay
		out.text = by("completed", "by")
	case watch.Retried:
		out.glyph, out.kind = "↻", caution
		out.text = by("failed", "by")
	case watch.Released:
		out.glyph = "↩"
		out.text = by("released", "by")
	case watch.Reclaimed:
		out.glyph, out.kind = "↩", caution
		out.text = by("reclaimed", "from")
	case watch.Failed:
		out.glyph, out.kind = "✗", danger
		out.text = by("out of attempts", "under")
	case watch.Buried:
		out.glyph, out.kind = "✗", danger
		out.text = by("dead", "under")
	case watch.Redriven:
		out.glyph, out.kind = "↑", okay
	case watch.Edited:
		out.glyph, out.kind = "~", caution
	case watch.Deleted, watch.Truncated:
		out.glyph, out.kind = "-", caution
	case watch.Health:
		out.glyph, out.kind, out.text = "!", caution, e.Note
	default:
		out.glyph = "·"
	}
	if e.What != watch.Health {
		switch {
		case e.Note == "" || strings.HasPrefix(e.Note, "attempt ") && e.Attempt <= 1 && e.What != watch.Retried:
			// The first attempt is the rule, and said by saying nothing.
		default:
			// As in the lists: 2/5.
			out.text += " · " + strings.Replace(strings.TrimPrefix(e.Note, "attempt "), " of ", "/", 1)
		}
		out.text = join(pick(e.Kind != "", e.Kind, e.Queue), out.text)
	}
	return out
}

// ofWorker puts an event of the workers in words, on the database's clock.
func (p *picture) ofWorker(e *workers.Event) entry {
	out := entry{at: p.state.Clock.Now(e.At), source: "work", job: e.JobID, text: join(e.Worker, string(e.What))}
	if e.Worker == "" {
		out.text = string(e.What)
	}
	switch e.What {
	case workers.Spawned, workers.Thawed:
		out.glyph, out.kind = "+", okay
	case workers.DrainBegun, workers.WorkerEnded:
		out.glyph = "-"
	case workers.Killed:
		out.glyph, out.kind, out.text = "✗", danger, join(e.Worker, "killed (crashed in process)")
	case workers.Froze:
		out.glyph, out.kind = "✱", danger
	case workers.StaleFenced:
		out.glyph, out.kind, out.text = "⊘", caution, join(e.Worker, "late outcome fenced, nothing written")
	case workers.LeaseLost, workers.TrustEnded, workers.StuckFound, workers.DBTrouble:
		out.glyph, out.kind = "!", caution
	case workers.Panicked:
		out.glyph, out.kind = "✗", danger
	case workers.ReapedBack, workers.ReapedDead:
		out.source, out.glyph, out.kind = "reap", "↩", caution
		out.text = "lease of " + p.holder(e.Owner).name + " ran out → pending"
		if e.What == workers.ReapedDead {
			out.glyph, out.kind = "✗", danger
			out.text = "lease of " + p.holder(e.Owner).name + " ran out → dead"
		}
		if e.Late > 0 {
			out.text += " · " + short(e.Late) + " late"
		}
	default:
		out.glyph = "·"
	}
	if e.Text != "" {
		out.text += " · " + e.Text
	}
	if e.Queue != "" {
		out.text = e.Queue + " " + out.text
	}
	return out
}

// join parts words by a space, where there are two.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}
