package stories

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

// A claim that was committed before the server was back, and on whose job nobody works for
// a while, was never answered.
func TestUnansweredClaimsAreThoseNobodyWorksOn(t *testing.T) {
	t.Parallel()
	const lease = 10 * time.Second
	back := time.Now()
	lost := scenario.Lease{Job: 1, Worker: "w1", Attempt: 1, Expires: back.Add(6 * time.Second)}
	leases := []scenario.Lease{
		lost,
		{Job: 2, Worker: "w1", Attempt: 1, Expires: back.Add(6 * time.Second)},           // w1 is at it
		{Job: 3, Worker: "w2", Attempt: 1, Expires: back.Add(lease + unansweredFor + 1)}, // claimed since
		{Job: 4, Worker: "w2", Attempt: 1, Expires: back.Add(-time.Millisecond)},         // the reaper's
	}
	runs := func(worker string, job int64, attempt int) bool { return job == 2 }
	var u unanswered
	for _, one := range []struct {
		after  time.Duration
		leases []scenario.Lease
		lost   bool
	}{
		{0, leases, false},
		{unansweredFor / 2, leases, false},
		{unansweredFor, leases, true},
		{unansweredFor + time.Second, nil, false},
		{unansweredFor + 2*time.Second, leases, false}, // another look at what was gone begins anew
	} {
		got := u.look(back.Add(one.after), back, lease, one.leases, runs)
		if one.lost != (len(got) == 1 && got[0] == lost) || !one.lost && len(got) > 0 {
			t.Errorf("after %v it is %+v", one.after, got)
		}
	}
	if !u.first(lost) || u.first(lost) {
		t.Error("it is not told once")
	}
}

// The audience is told of it, and for how long its job waits, until it is back.
func TestUnansweredClaimIsToldUntilItsJobIsBack(t *testing.T) {
	t.Parallel()
	const lease = 5 * unansweredFor // more than looks take on a busy machine
	scenariotest.Try(t, scenariotest.Ground(t), func(ctx context.Context, s *scenario.Stage) error {
		if _, err := s.Crew(ctx, scenario.CrewOptions{Lease: lease}); err != nil { // its reaper takes the job back
			return err
		}
		ids, err := s.Enqueue(ctx, queue.NewJob{})
		if err != nil {
			return err
		}
		if _, err := s.Q.Claim(ctx, queue.ClaimRequest{Queue: s.Queue(""), Owner: "vm:1:b007/w1#1", Lease: lease, Limit: 1}); err != nil {
			return err
		}
		tellUnanswered(s, lease)
		counted := 0.0
		for giveUp := time.After(time.Minute); ; {
			if bars := s.Picture().Bars; len(bars) == 1 {
				counted = max(counted, bars[0].Value)
				if bars[0].Over {
					break
				}
			}
			select {
			case <-time.After(lookAgain):
			case <-giveUp:
				return fmt.Errorf("no bar has ended: %+v", s.Picture().Bars)
			}
		}
		if job, err := s.Job(ctx, ids[0]); err != nil || job.Status != queue.Pending {
			t.Errorf("the bar is over, and the job is %s: %v", job.Status, err)
		}
		if counted <= 0 || counted > (lease-unansweredFor).Seconds() {
			t.Errorf("it counts down from %v s", counted)
		}
		told := 0
		for _, e := range s.Picture().Events {
			if strings.HasPrefix(e.Text, fmt.Sprintf("job %d: w1's claim was never answered", ids[0])) {
				told++
			}
		}
		if told != 1 {
			t.Errorf("it is told %d times: %+v", told, s.Picture().Events)
		}
		return nil
	})
}
