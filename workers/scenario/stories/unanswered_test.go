package stories

import (
	"testing"
	"time"

	"github.com/leasetop/leasetop/workers/scenario"
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
		{Job: 2, Worker: "w1", Attempt: 1, Expires: back.Add(6 * time.Second)},              // w1 is at it
		{Job: 3, Worker: "w2", Attempt: 1, Expires: back.Add(lease + 100*time.Millisecond)}, // claimed since
		{Job: 4, Worker: "w2", Attempt: 1, Expires: back.Add(-time.Millisecond)},            // the reaper's
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
