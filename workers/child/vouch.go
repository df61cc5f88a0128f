package child

import (
	"context"
	"os"
	"syscall"
	"time"

	"github.com/leasetop/leasetop/workers"
)

// A worker that is stopped (SIGSTOP, ctrl+z, a debugger) ends no child when its lease
// runs out, and somebody else does the job. So the guard is told until when each group
// may run, and told again as heartbeats prolong that.

// mustEnd is when the child of a job must have ended if nothing more is heard from
// this process, by bootClock; 0 when that is not known.
func mustEnd(ctx context.Context) (until time.Duration) {
	for range 2 {
		now, ok := bootClock() // first: a stop after it makes the time shorter, not longer
		if !ok {
			return 0
		}
		left, ok := workers.TrustedFor(ctx)
		if !ok {
			return 0
		}
		until = max(now+left, 1)
		if after, _ := bootClock(); after-now < soonest {
			break // else it is shorter for nothing
		}
	}
	return until
}

// The guard is told of a heartbeat this much later: a twentieth of the time left, within
// these bounds. What is stopped in between has the time that was left before it.
const (
	soonest = 20 * time.Millisecond
	latest  = 200 * time.Millisecond
)

// vouch prolongs what the guard was told, for as long as the child lives, soon after
// each heartbeat: a stop that is shorter than what is left of the lease kills nothing.
func (p *process) vouch(ctx context.Context, exited <-chan struct{}) {
	for {
		until := mustEnd(ctx)
		if until == 0 {
			return
		}
		groups.prolong(p.group(), until)
		now, _ := bootClock()
		timer := time.NewTimer(min(max((until-now)/20, soonest), latest))
		select {
		case <-timer.C:
		case <-exited:
			timer.Stop()
			return
		}
	}
}

// overdue tells whether it may be the guard that killed a child, which must have
// ended by then: that is no poison.
func overdue(state *os.ProcessState, until time.Duration) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	now, _ := bootClock()
	return ok && status.Signal() == syscall.SIGKILL && until != 0 && until <= now
}
