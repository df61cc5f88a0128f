package stories

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/leasetop/leasetop/workers/scenario"
)

// unansweredFor is for so long nobody works on a job before its claim is taken for lost: a
// handler that has just ended, or is about to begin, is none.
const unansweredFor = time.Second

// claim is one claim of a job.
type claim struct {
	job     int64
	attempt int
}

// unanswered are claims that were committed, but whose answer was lost with the server: the
// row names a worker that knows nothing of it. Nothing can be done but wait for the end of
// the lease.
type unanswered struct {
	since map[claim]time.Time // when it was first seen that nobody works on its job
	told  map[claim]bool
}

// look returns the leases of such claims among these. Those that were taken or renewed well
// after the server was back have had their answer; an end of a lease is known as late as the
// look at it was.
func (u *unanswered) look(now, back time.Time, lease time.Duration, leases []scenario.Lease, runs func(worker string, job int64, attempt int) bool) (lost []scenario.Lease) {
	before := u.since
	u.since = map[claim]time.Time{}
	for _, l := range leases {
		if l.Expires.Add(-lease).After(back.Add(unansweredFor)) || runs(l.Worker, l.Job, l.Attempt) {
			continue
		}
		first, seen := before[claim{l.Job, l.Attempt}]
		switch {
		case !seen && l.Expires.Before(now): // the reaper's, at any moment
			continue
		case !seen:
			first = now
		}
		u.since[claim{l.Job, l.Attempt}] = first
		if now.Sub(first) >= unansweredFor {
			lost = append(lost, l)
		}
	}
	return lost
}

// first reports whether a claim has not been told of before.
func (u *unanswered) first(l scenario.Lease) bool {
	id := claim{l.Job, l.Attempt}
	if u.told[id] {
		return false
	}
	if u.told == nil {
		u.told = map[claim]bool{}
	}
	u.told[id] = true
	return true
}

// tellUnanswered tells the audience of claims that were never answered, now that the server
// is back, and counts down to the end of their leases. Mostly there is none.
func tellUnanswered(s *scenario.Stage, lease time.Duration) {
	var u unanswered
	var looked time.Time
	var bar scenario.Bar
	back := time.Now()
	beside(s, scenario.LookEvery, func() (over bool) {
		p := s.Picture()
		if !p.Looked.After(back) || p.Looked.Equal(looked) { // what it shows was so before
			return false
		}
		looked = p.Looked
		now := time.Now()
		left := 0.0
		var jobs []string
		for _, l := range u.look(now, back, lease, p.Leases, s.Runs) {
			in := max(l.Expires.Sub(now).Seconds(), 0) // then it is there until the reaper has been
			left = max(left, math.Round(in*10)/10)
			jobs = append(jobs, fmt.Sprint(l.Job))
			if u.first(l) {
				s.Note("", fmt.Sprintf("job %d: %s's claim was never answered; its lease runs out in %.1f s", l.Job, l.Worker, in))
			}
		}
		was := bar
		switch {
		case len(jobs) > 0:
			bar = scenario.Bar{Name: "lost claim: lease", Value: left, Unit: "s", Most: lease.Seconds(), Note: "until it runs out nobody does job " + strings.Join(jobs, ", ")}
		case bar.Name != "":
			bar.Value, bar.Over, bar.Note = 0, true, "it ran out: the job was taken back"
		}
		if bar != was {
			s.Bar(bar)
		}
		return false
	})
}
