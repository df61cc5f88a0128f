package watch

import (
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// A job that the server refuses to change is a finding with the server's reason and a cure.
func TestRefusedJobIsAFinding(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var s State
	s.Health.Read, s.Health.At = now, now
	s.Health.Refused = []queue.Refused{{
		Refusal: queue.Refusal{JobID: 5, Act: "claim", SQLSTATE: "P0001", Reason: "frozen by the app", Detail: "ask the app"},
		Queue:   "emails", First: now.Add(-time.Minute), Last: now, Times: 6,
	}}
	for _, f := range s.Findings(now) {
		if f.About != "job 5 in emails" {
			continue
		}
		if f.Grade != Caution || !strings.HasPrefix(f.Figure, "the server refuses to claim it, for 1m") || f.Why != "frozen by the app (ask the app)" || f.Cure == "" {
			t.Errorf("%+v", f)
		}
		return
	}
	t.Error("it is no finding")
}
