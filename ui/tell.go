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
	count  int // how many jobs it is about, when it is about no single one
	glyph  string
	kind   tone
	text   string
	about  string // the kind of the job, or its queue

	// The text in columns: what happened, to which queue's kind of job, to or by whom,
	// and what else.
	word, task, who, note string
}

// tell puts a happening in words.
func (p *picture) tell(h happening) entry {
	switch {
	case h.work != nil:
		return p.ofWorker(h.work)
	case h.feed != nil:
		return p.ofFeed(h.feed)
	}
	// The feed keeps so many that a list which is open and goes on misses none.
	text := thousands(int64(h.missed)) + " events are gone: another tab was open, or this list stood still"
	return entry{at: h.at, glyph: "…", kind: caution, word: missedWhat, text: text, note: text}
}

// feedWords is how the feed's events are told: who stands between the words and
// the name of the owner.
var feedWords = map[watch.What]struct {
	glyph      string
	kind       tone
	words, who string
}{
	watch.Enqueued:    {"+", quiet, "enqueued", ""},
	watch.Claimed:     {"→", quiet, "claimed", "by"},
	watch.Completed:   {"✓", okay, "completed", "by"},
	watch.Retried:     {"↻", caution, "retried", "by"},
	watch.Renewed:     {"·", quiet, "renewed", "by"},
	watch.Released:    {"↩", quiet, "released", "from"}, // by its owner, or by an operator who takes it back: the row does not tell
	watch.Lost:        {"!", danger, "lease lost", "by"},
	watch.Reclaimed:   {"↩", caution, "reclaimed", ""},
	watch.Failed:      {"✗", danger, "failed for good", "by"},
	watch.Buried:      {"✗", danger, "buried", "by"},
	watch.CancelAsked: {"⊘", caution, "cancel asked", ""},
	watch.Cancelled:   {"⊘", caution, "cancelled", ""},
	watch.Redriven:    {"↑", okay, "redriven", ""},
	watch.TakenBack:   {"↓", caution, "taken back", ""},
	watch.Paused:      {pausedMark, caution, "paused", ""},
	watch.Resumed:     {"▸", okay, "resumed", ""},
	watch.Edited:      {"~", caution, "edited", ""},
	watch.Discarded:   {"↓", caution, "discarded", ""},
	watch.Restored:    {"↑", okay, "restored", ""},
	watch.Deleted:     {"-", caution, "deleted", ""},
	watch.Truncated:   {"-", caution, "truncated", ""},
}

// ofFeed puts an event of the feed in words.
func (p *picture) ofFeed(e *watch.Event) entry {
	said := masked(e.Note) // it may hold the words of a server
	out := entry{
		at: e.At, source: string(e.Source), job: e.JobID, count: e.Count, about: pick(e.Kind != "", e.Kind, e.Queue),
		word: string(e.What), task: kindOf(e.Queue, e.Kind), note: inShort(said),
	}
	if e.Owner != "" {
		out.who = p.holder(e.Owner).name
	}
	if e.What == watch.Health {
		out.glyph, out.kind, out.text = "!", caution, said
		return out
	}
	told, ok := feedWords[e.What]
	if !ok {
		told.glyph, told.words = "·", string(e.What)
	}
	out.glyph, out.kind, out.text = told.glyph, told.kind, told.words
	if e.Owner != "" && told.who != "" {
		out.text += " " + told.who + " " + out.who
	}
	note := said
	switch e.What {
	case watch.Paused, watch.Resumed:
		out.text, out.about, note = join("queue "+e.Queue+" "+told.words, note), "", ""
	case watch.CancelAsked, watch.Cancelled:
		// The note is "by ann": who wanted it comes before whose job it was.
		out.text += " " + note
		note = out.who
	}
	if e.What == watch.Reclaimed && e.Owner != "" {
		out.text = "lease of " + out.who + " ran out → pending"
	}
	if e.What == watch.Buried && e.OwnerLost() {
		out.text, note = ranOutDead(out.who), strings.TrimSuffix(note, ", worker lost")
	}
	if strings.HasPrefix(note, "attempt ") && e.Attempt <= 1 && e.What != watch.Retried {
		_, note, _ = strings.Cut(note, ", ") // the first attempt is the rule, and not worth a word
	}
	if note != "" {
		out.text += " · " + inShort(note)
	}
	return out
}

// inShort writes the attempts in a note as the lists do: 2/5.
func inShort(note string) string {
	if rest, ok := strings.CutPrefix(note, "attempt "); ok {
		return strings.Replace(rest, " of ", "/", 1)
	}
	return note
}

func ranOutDead(worker string) string { return "lease of " + worker + " ran out → dead" }

// ofWorker puts an event of the workers in words, on the database's clock. Where
// its text spells out owners in full, the names of the screen stand instead.
func (p *picture) ofWorker(e *workers.Event) entry {
	out := entry{at: p.state.Clock.Now(e.At), source: "work", job: e.JobID, about: e.Queue, glyph: "·", word: string(e.What), task: e.Queue, who: e.Worker}
	text := join(e.Worker, string(e.What))
	detail := masked(e.Text)
	has := func() string {
		if e.Owner != "" {
			return p.holder(e.Owner).name + " has it"
		}
		_, state, _ := strings.Cut(detail, ": ")
		return state
	}
	switch e.What {
	case workers.Spawned, workers.Thawed:
		out.glyph, out.kind = "+", okay
	case workers.DrainBegun, workers.WorkerEnded:
		out.glyph = "-"
	case workers.Killed:
		out.glyph, out.kind = "✗", danger
		text = e.Worker + " killed (crashed in process)"
		if strings.Contains(e.Text, "process ") { // one of its own
			text = e.Worker + " killed"
		}
	case workers.Froze:
		out.glyph, out.kind = "✱", danger
	case workers.StaleFenced:
		out.glyph, out.kind = "⊘", caution
		what, _, _ := strings.Cut(e.Text, " of job")
		what = pick(what != "", what, "late write")
		text, detail = join(what, "of "+e.Worker+" fenced"), has()
		out.note = what + " · " + detail
	case workers.LeaseLost:
		out.glyph, out.kind = "!", caution
		text, detail = e.Worker+" lost the lease", has()
	case workers.TrustEnded, workers.StuckFound, workers.DBTrouble, workers.Mishap, workers.RowRefused:
		out.glyph, out.kind = "!", caution
	case workers.Panicked:
		out.glyph, out.kind = "✗", danger
		text = e.Worker
	case workers.ReapedBack, workers.ReapedDead:
		out.source, out.glyph, out.kind, out.who = "reap", "↩", caution, p.holder(e.Owner).name
		text, detail = "lease of "+out.who+" ran out → pending", short(e.Late)+" late"
		out.note = "its lease ran out · " + detail
		if e.What == workers.ReapedDead {
			out.glyph, out.kind, out.word = "✗", danger, string(watch.Buried)
			text = ranOutDead(out.who)
		}
	}
	out.text = text
	if out.note == "" {
		out.note = detail
	}
	if detail != "" {
		out.text += " · " + detail
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
