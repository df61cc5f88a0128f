package stories

import (
	"context"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/workers/scenario"
)

// traffic is what stories about servers have going on: a load and its workers.
type traffic struct {
	*scenario.Load
	before int64 // jobs that were completed when the last mark was made
}

// seenFlow is so many jobs that on the curve what happens before and after stands apart.
const seenFlow = 50

// setUp starts the workers.
func (t *traffic) setUp(ctx context.Context, s *scenario.Stage, o scenario.CrewOptions) error {
	o.Slots, o.Work, o.Backoff = 4, scenario.Labour, promptly
	_, err := s.Crew(ctx, o)
	plotThroughput(s)
	return err
}

// begin begins the load.
func (t *traffic) begin(s *scenario.Stage) {
	t.Load = s.Load(25 * time.Millisecond)
	t.mark(s, "")
}

// mark marks the moment: from now on the workers are to be seen at work.
func (t *traffic) mark(s *scenario.Stage, text string) {
	t.before = s.Completed()
	if text != "" {
		s.Mark(throughputPlot, text)
	}
}

// end ends the load, and says what of it was refused.
func (t *traffic) end(s *scenario.Stage) {
	t.Stop()
	if n, _ := t.Refused(); n > 0 {
		s.Note("", fmt.Sprintf("%d enqueues were refused while the server was away: their callers were told so", n))
	}
}

// flows tells whether jobs were completed since the last mark.
func (t *traffic) flows(text string) scenario.Expect {
	return scenario.Expect{
		Text: text, Within: 10 * time.Second,
		Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
			n := s.Completed() - t.before
			return n >= seenFlow, fmt.Sprintf("%d so far", n), nil
		},
	}
}

// there tells whether all that was acknowledged is there.
func (t *traffic) there(text string) scenario.Expect {
	return scenario.Expect{
		Text: text,
		Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
			ids := t.Jobs()
			jobs, err := s.Q.ByID(ctx, ids...)
			return len(jobs) == len(ids), fmt.Sprintf("%d of %d are there", len(jobs), len(ids)), err
		},
	}
}

// promptly is a backoff for stories that are about something else.
func promptly(int) time.Duration { return 100 * time.Millisecond }
