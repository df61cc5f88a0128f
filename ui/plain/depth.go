package plain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue/watch"
)

const (
	// staleAfter is from when on the age of the depths is told.
	staleAfter = 3 * time.Second
	// named is how many queues a line tells of: those with most to do and to mend.
	named = 50
)

// known reports whether there is anything to say about depths: a reading, or why there is none.
func known(s *watch.State) bool {
	return s.Depths.Source != watch.Unknown || s.Polling.Reason != "" && !s.Polling.Attaching
}

// depth prints how deep the queues are, or why nobody knows.
func (p *printer) depth(s *watch.State, local time.Time) {
	now := s.Clock.Now(local)
	if s.Depths.Source != watch.FromWAL && !s.Polling.OK && s.Polling.Reason != "" {
		p.line(now, "depth", "not known: "+s.Polling.Reason)
		return
	}
	if len(s.Depths.Queues) == 0 {
		p.line(now, "depth", "no jobs"+provenance(s.Depths, local))
		return
	}
	shown := busiest(s.Depths.Queues)
	parts := make([]string, 0, len(shown)+1)
	for _, q := range shown {
		estimate, least, name := "", q.AtLeast, q.Queue
		if pause, ok := s.Pauses.Of(q.Queue); ok {
			name += " (paused by " + pause.By + ")"
		}
		if !q.CompletedExact {
			estimate = "~"
		}
		parts = append(parts, fmt.Sprintf("%s: ready %s, scheduled %s, processing %s, completed %s%d, failed %s, dead %s",
			name, bounded(q.Ready, least.Ready), bounded(q.Scheduled, least.Scheduled), bounded(q.Processing, least.Processing),
			estimate, q.Completed, bounded(q.Failed, least.Failed), bounded(q.Dead, least.Dead)))
	}
	if more := len(s.Depths.Queues) - len(shown); more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more queues", more))
	}
	p.line(now, "depth", strings.Join(parts, " | ")+provenance(s.Depths, local))
}

// busiest are the queues with most jobs that are not completed, by name.
func busiest(queues []watch.QueueDepth) []watch.QueueDepth {
	if len(queues) <= named {
		return queues
	}
	live := func(q watch.QueueDepth) int64 { return q.Ready + q.Scheduled + q.Processing + q.Failed + q.Dead }
	most := slices.Clone(queues)
	slices.SortStableFunc(most, func(a, b watch.QueueDepth) int { return cmp.Compare(live(b), live(a)) })
	most = most[:named]
	slices.SortFunc(most, func(a, b watch.QueueDepth) int { return cmp.Compare(a.Queue, b.Queue) })
	return most
}

// provenance says where depths come from when it is not the stream, and how old they are
// when that is not to be expected.
func provenance(d watch.Depths, local time.Time) string {
	var words []string
	if d.Source == watch.Polled {
		words = append(words, "polled")
	}
	if old := local.Sub(d.Read); !d.Read.IsZero() && old > staleAfter {
		words = append(words, old.Truncate(time.Second).String()+" old")
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// bounded writes a count; a lower bound is followed by a plus.
func bounded(n int64, atLeast bool) string {
	if atLeast {
		return fmt.Sprintf("%d+", n)
	}
	return fmt.Sprint(n)
}
