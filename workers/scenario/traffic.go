package scenario

import (
	"context"
	"fmt"
	"time"
)

// traffic is what stories about servers have going on: a load and its workers.
type traffic struct {
	*Load
	before uint64 // jobs that were completed when the last mark was made
}

// seenFlow is so many jobs that on the curve what happens before and after stands apart.
const seenFlow = 50

// setUp starts the workers.
func (t *traffic) setUp(ctx context.Context, s *Stage, o CrewOptions) error {
	o.Slots, o.Work, o.Backoff = 4, Labour, promptly
	_, err := s.Crew(ctx, o)
	s.PlotThroughput()
	return err
}

// begin begins the load.
func (t *traffic) begin(s *Stage) {
	t.Load = s.Load(25 * time.Millisecond)
	t.mark(s, "")
}

// mark marks the moment: from now on the workers are to be seen at work.
func (t *traffic) mark(s *Stage, text string) {
	t.before = s.completed()
	if text != "" {
		s.Mark(throughputPlot, text)
	}
}

// end ends the load, and says what of it was refused.
func (t *traffic) end(s *Stage) {
	t.Stop()
	if n, _ := t.Refused(); n > 0 {
		s.Note("", fmt.Sprintf("%d enqueues were refused while the server was away: their callers were told so", n))
	}
}

// flows tells whether jobs were completed since the last mark.
func (t *traffic) flows(text string) Expect {
	return Expect{
		Text: text, Within: 10 * time.Second,
		Holds: func(ctx context.Context, s *Stage) (bool, string, error) {
			n := s.completed() - t.before
			return n >= seenFlow, fmt.Sprintf("%d so far", n), nil
		},
	}
}

// there tells whether all that was acknowledged is there.
func (t *traffic) there(text string) Expect {
	return Expect{
		Text: text,
		Holds: func(ctx context.Context, s *Stage) (bool, string, error) {
			ids := t.Jobs()
			jobs, err := s.Q.ByID(ctx, ids...)
			return len(jobs) == len(ids), fmt.Sprintf("%d of %d are there", len(jobs), len(ids)), err
		},
	}
}
