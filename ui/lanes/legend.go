package lanes

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/leasetop/leasetop/ui/safe"
)

// Entry says what a letter stands for.
type Entry struct {
	Letter  rune
	Job     int64
	Queue   string // safe to print, as all that follows
	Kind    string
	Attempt int
	Worker  string // who holds it, or held it last
	From    string // who lost it before; "" when nobody did
	Past    bool   // it is over, and nobody ever lost it
	End     End    // how its last run ended, where How is Blank
	How     Style  // Work, Again, Dead, Silent, Frozen, Parted, Overdue, Buried; Waiting when it was lost; Blank when it ended
}

// ends say how a job ended of which nothing worse is to be said.
var ends = map[End]string{Done: "ended", Failed: "failed", Back: "given back"}

// Text says it in words: B 88123 send · attempt 2 · w3, lost by w2
func (e Entry) Text() string {
	what := e.Kind
	if what == "" {
		what = e.Queue
	}
	text := string(e.Letter) + " " + strconv.FormatInt(e.Job, 10)
	if what != "" {
		text += " " + what
	}
	if e.Attempt > 1 {
		text += " attempt " + strconv.Itoa(e.Attempt)
	}
	text += " " + e.Worker
	switch e.How {
	case Dead:
		text += " crashed"
	case Silent:
		text += " silent"
	case Frozen:
		text += " frozen"
	case Parted:
		text += " cut off"
	case Overdue:
		text += " overdue"
	case Buried:
		text += " dead letter"
	case Waiting:
		text += " lost it"
	case Blank:
		text += " " + ends[e.End]
	}
	if e.From != "" {
		text += ", lost by " + e.From
	}
	return text
}

// legend lists the letters that are drawn: first the jobs whose holder died or fell
// silent, then what is held, longest first, so that it stands still; then the rest.
func legend(rows []*canvas) []Entry {
	seen, last := map[*job]bool{}, map[*job]*hold{}
	var now time.Time
	for _, c := range rows {
		now = c.now
		for x, h := range c.whose {
			if h != nil && h.lettered() > 0 && c.cells[x].Glyph == rune(alphabet[h.lettered()-1]) {
				seen[h.job] = true
			}
		}
		for _, h := range c.holds {
			if before := last[h.job]; before == nil || h.from.After(before.from) {
				last[h.job] = h
			}
		}
	}
	jobs := slices.Collect(maps.Keys(seen))
	const (
		ill = iota
		held
		again
		over
	)
	rank := func(j *job) int {
		switch {
		case j.ill:
			return ill
		case last[j].going(now):
			return held
		case j.story:
			return again
		}
		return over
	}
	slices.SortFunc(jobs, func(a, b *job) int {
		newer := last[b].from.Compare(last[a].from)
		if rank(a) == held {
			newer = -newer
		}
		return cmp.Or(cmp.Compare(rank(a), rank(b)), newer, cmp.Compare(a.id, b.id))
	})
	entries := make([]Entry, len(jobs))
	for i, j := range jobs {
		h := last[j]
		e := Entry{
			Letter: rune(alphabet[j.letter-1]), Job: j.id, Queue: safe.Text(j.queue), Kind: safe.Text(j.kind),
			Attempt: h.attempt, Worker: safe.Text(h.lane.name), How: h.how(now),
			Past: rank(j) > held,
		}
		if e.How == Blank && h.run.End <= Back {
			e.End = h.run.End
		}
		if h.taken != nil {
			e.From = safe.Text(h.taken.lane.name)
		}
		entries[i] = e
	}
	return entries
}

// how is what there is to say about a hold at a moment.
func (h *hold) how(now time.Time) Style {
	switch {
	case !h.run.Dead.IsZero() && !h.run.Dead.After(now):
		return Buried
	case h.going(now) && !h.expires.IsZero() && now.Sub(h.expires) >= overdue:
		return Overdue
	case h.going(now):
	case h.lost:
		return Waiting
	default:
		return Blank
	}
	switch h.lane.at(now).condition {
	case dead, gone:
		return Dead
	case frozen:
		return Frozen
	case parted:
		return Parted
	}
	switch {
	case !h.silent(now).IsZero():
		return Silent
	case h.attempt > 1:
		return Again
	}
	return Work
}
