package ui

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/workers"
)

// How often the screen may change, besides its clocks. A change that comes among a
// thousand a second is on it after 120 ms in the middle; with pictures four times a
// second it took 320 (BenchmarkLatency in ui/e2e).
const (
	frameEvery  = 100 * time.Millisecond
	ledgerEvery = 2 * time.Second
)

// pulledMsg is the newest State, and what the workers of this process tell.
type pulledMsg struct {
	state   *watch.State
	workers []workers.Snapshot
	news    []workers.Event // since the pull before
	last    uint64          // the number of the last event
	claims  workers.Latency
	fenced  uint64
	reaped  workers.Recovery
	changed <-chan struct{} // closed when the workers have more to tell
}

type (
	secondMsg struct{}
	wakeMsg   struct{}
	faultMsg  struct{ err error }
	ledgerMsg struct {
		ledger Ledger
		err    error
	}
)

// io makes a command: the only place where this program waits. A panic in it
// ends the program in good order.
func (a *app) io(f func(context.Context) tea.Msg) tea.Cmd { return a.ioWithin(ioTimeout, f) }

// ioWithin is io for what may take longer, or less long.
func (a *app) ioWithin(limit time.Duration, f func(context.Context) tea.Msg) tea.Cmd {
	return a.ioUnder(a.ctx, func(ctx context.Context) tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return f(ctx)
	})
}

// ioUnder is io for what somebody may cancel: ctx is what it waits under.
func (a *app) ioUnder(ctx context.Context, f func(context.Context) tea.Msg) tea.Cmd {
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = faultMsg{caught(r)}
			}
		}()
		return f(ctx)
	}
}

// panicError is a panic somewhere in the program, with where it came from.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

func caught(value any) error { return &panicError{value, debug.Stack()} }

// fail ends the program with an error.
func (a *app) fail(err error) tea.Cmd {
	if a.fault == nil {
		a.fault = err
	}
	return tea.Quit
}

// pull waits for something newer than was pulled before, and not less than a
// frame, and takes it.
func (a *app) pull(before pulledMsg) tea.Cmd {
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = faultMsg{caught(r)}
			}
		}()
		if before.state != nil {
			if !a.sleep(a.ctx, frameEvery) {
				return nil
			}
			select {
			case <-a.cfg.Feed.Changed(before.state.Version):
			case <-before.changed:
			case <-a.ctx.Done():
				return nil
			}
		}
		next := pulledMsg{}
		if a.cfg.Workers != nil {
			next.changed = a.cfg.Workers.Changed()
			next.workers = a.cfg.Workers.Workers()
			next.news, next.last = a.cfg.Workers.Events(before.last)
			next.claims = a.cfg.Workers.ClaimLatency()
			next.fenced = a.cfg.Workers.Fenced()
			next.reaped = a.cfg.Workers.Recovery()
		}
		next.state = a.cfg.Feed.State()
		return next
	}
}

// pulled takes what was pulled and goes on pulling.
func (a *app) pulled(m pulledMsg) tea.Cmd {
	m.news = append(a.latest.news, m.news...)
	if over := len(m.news) - 2*journalKept; over > 0 {
		m.news = m.news[over:]
	}
	a.latest = m
	a.pic.lanes.Feed(m, a.now())
	if !a.frozen {
		a.adopt(m)
		return tea.Batch(a.pull(m), a.judge()) // so that one screen has one count
	}
	return a.pull(m)
}

// adopt makes what was pulled the picture.
func (a *app) adopt(m pulledMsg) {
	first := a.pic.state.Version == 0 && m.state.Version != 0
	a.pic.take(m)
	if first {
		a.tick() // the database's clock is known now
		return
	}
	a.show()
}

// refresh has the feed look at once.
func (a *app) refresh() tea.Cmd {
	return a.io(func(context.Context) tea.Msg {
		a.cfg.Feed.Refresh()
		return nil
	})
}

// second is the clock of countdowns and ages.
func (a *app) second() tea.Cmd {
	now := a.now()
	return a.after(now.Truncate(time.Second).Add(time.Second).Sub(now), secondMsg{})
}

// after delivers a message when some time has passed.
func (a *app) after(d time.Duration, msg tea.Msg) tea.Cmd {
	return func() tea.Msg {
		if !a.sleep(a.ctx, d) {
			return nil
		}
		return msg
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// readLedger counts the demonstration's effects, after a while.
func (a *app) readLedger(after time.Duration) tea.Cmd {
	if a.cfg.Demo == nil {
		return nil
	}
	return a.io(func(ctx context.Context) tea.Msg {
		if after > 0 && !a.sleep(ctx, after) {
			return nil
		}
		ledger, err := a.cfg.Demo.Ledger(ctx)
		return ledgerMsg{ledger, err}
	})
}
