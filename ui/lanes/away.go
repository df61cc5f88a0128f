package lanes

import (
	"slices"
	"time"

	"github.com/leasetop/leasetop/ui/safe"
)

// Outage is a time in which something that all workers need was not there.
type Outage struct {
	Text     string // "the server is away"
	From, To time.Time
	Took     time.Duration // where the caller knows better than From and To; 0: it does not
}

// Gap is where an outage is in a drawing.
type Gap struct {
	Text        string // safe to print
	First, Last int    // columns
	Took        time.Duration
	Goes        bool // it goes on
}

// outagesMost is how many outages are kept.
const outagesMost = 100

// Away notes the outages there were, in place of those noted before: oldest first. One
// without an end goes on.
func (r *Recorder) Away(all []Outage) {
	r.away = slices.Clone(all[max(len(all)-outagesMost, 0):])
}

// Interrupted reports whether there is an outage in the span before a moment.
func (r *Recorder) Interrupted(now time.Time, span time.Duration) bool {
	return slices.ContainsFunc(r.away, func(o Outage) bool {
		return !o.From.After(now) && (o.To.IsZero() || o.To.After(now.Add(-span)))
	})
}

// gaps are the outages on a scale.
func (r *Recorder) gaps(s scale) (gaps []Gap) {
	for _, o := range r.away {
		to := s.now
		goes := o.To.IsZero() || o.To.After(s.now)
		if !goes {
			to = later(o.To, o.From)
		}
		if o.From.After(s.now) || to.Before(s.start) {
			continue
		}
		gaps = append(gaps, Gap{
			Text: safe.Text(o.Text), First: max(s.column(o.From), 0), Last: min(s.column(to), s.width-1),
			Took: pick(o.Took > 0, o.Took, to.Sub(o.From)), Goes: goes,
		})
	}
	return gaps
}

// shade marks the columns of an outage where a worker that is well holds nothing: it could
// claim nothing either.
func (c *canvas) shade(g Gap) {
	for x := g.First; x <= g.Last; x++ {
		if c.whose[x] == nil && c.cells[x].Style == Idle {
			c.cells[x] = Cell{'▒', Away}
		}
	}
}
