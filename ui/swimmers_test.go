package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/workers"
)

// swimmers is a crew of three at work on jobs that take a while, and a worker of another
// process beside them. It goes on with the clock of its stage.
type swimmers struct {
	*stage
	claims int
	silent bool // the worker of the other process renews nothing
}

const swimLease = 6 * time.Second

func newSwimmers(t testing.TB, w, h int, options ...stageOption) *swimmers {
	world := newWorld()
	world.state.Leases.List, world.state.Leases.Total, world.crew = nil, 0, nil
	for n := 1; n <= 3; n++ {
		name := fmt.Sprintf("w%d", n)
		world.crew = append(world.crew, workers.Snapshot{
			Name: name, State: workers.Idle, Since: noon.Add(-time.Hour), Queues: []string{"emails"}, Slots: 1, Owner: sampleProcess + "/" + name,
		})
	}
	s := &swimmers{stage: newStage(t, world, w, h, options...)}
	s.press("4")
	return s
}

// claim gives a job to a worker.
func (s *swimmers) claim(id int64, owner string, attempt int) {
	s.finish(id)
	if !strings.Contains(owner, "/") {
		s.claims++
		owner = fmt.Sprintf("%s/%s#%d", sampleProcess, owner, s.claims)
	}
	s.state.Leases.List = append(s.state.Leases.List, watch.Lease{
		JobID: id, Queue: "emails", Kind: "send", Attempts: attempt, MaxAttempts: 5, Owner: owner, LockedAt: s.now, ExpiresAt: s.now.Add(swimLease),
	})
	s.pass(0)
}

// finish ends a job.
func (s *swimmers) finish(id int64) {
	var rest []watch.Lease
	for _, l := range s.state.Leases.List {
		if l.JobID != id {
			rest = append(rest, l)
		}
	}
	s.state.Leases.List = rest
}

// turn puts a worker in a state.
func (s *swimmers) turn(name string, state workers.State) {
	for i := range s.crew {
		if s.crew[i].Name == name {
			s.crew[i].State, s.crew[i].Since = state, s.now
		}
	}
	s.pass(0)
}

// pass lets seconds pass. Workers that are well renew their leases.
func (s *swimmers) pass(seconds int) {
	for range seconds * 2 {
		s.now = s.now.Add(time.Second / 2)
		for i := range s.state.Leases.List {
			l := &s.state.Leases.List[i]
			if s.well(l.Owner) && l.ExpiresAt.Sub(s.now) <= swimLease*2/3 {
				l.ExpiresAt = s.now.Add(swimLease)
			}
		}
		s.tell()
	}
	s.now = s.now.Add(lanesEvery)
	s.tell()
}

// well reports whether the holder of a lease renews it.
func (s *swimmers) well(owner string) bool {
	for _, w := range s.crew {
		if strings.HasPrefix(owner, w.Owner+"#") {
			return w.State != workers.Crashed && w.State != workers.Frozen
		}
	}
	return !s.silent
}

// tell hands the dashboard a new picture.
func (s *swimmers) tell() {
	state := *s.state
	state.Leases.List = append([]watch.Lease(nil), state.Leases.List...)
	state.Version++
	state.Depths.Read, state.Dead.Read, state.Pauses.Read = s.now, s.now, s.now
	state.Leases.At, state.Leases.Read, state.Leases.Total = s.now, s.now, len(state.Leases.List)
	s.state, s.crew = &state, append([]workers.Snapshot(nil), s.crew...)
	s.pull()
}

// story is a crash, a zombie, and a worker of another process that falls silent.
func (s *swimmers) story() {
	s.pass(4)
	s.claim(88001, "w1", 1)
	s.claim(88002, "w2", 1)
	s.claim(88003, "db7:99:1a2b3c4d/w1#7", 1)
	s.pass(5)
	s.turn("w2", workers.Crashed)
	s.pass(4)
	s.claim(88002, "w3", 2)
	s.pass(4)
	s.finish(88001)
	s.pass(1)
	s.claim(88004, "w1", 1)
	s.pass(5)
	s.turn("w1", workers.Frozen)
	s.pass(4)
	s.finish(88002)
	s.claim(88004, "w3", 2)
	s.silent = true
	s.pass(5)
}
