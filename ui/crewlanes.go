package ui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/lanes"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/faults"
)

// lanesEvery is how often the lanes take what there is at most.
const lanesEvery = 250 * time.Millisecond

// laneFeed records who holds which job, of all workers of the database, whether it is
// looked at or not: what was before the tab was opened is the half of it.
type laneFeed struct {
	lanes.Recorder
	at    time.Time // this machine's clock, when it was fed last
	fed   uint64    // how often
	owed  bool      // what came since has not been taken
	cut   time.Time // this machine's clock: since when the workers of this dashboard reach no database; zero: they do
	heals time.Time // and since when they do again
	names map[string]string
	plays []string // whose queues are no concern of these lanes: they have their own
}

// playsMost is how many plays are known at most: leases of older ones are long gone.
const playsMost = 100

// Without leaves a play out from now on: what its queues' names begin with.
func (f *laneFeed) Without(play string) {
	if play == "" || slices.Contains(f.plays, play) {
		return
	}
	f.plays = append(f.plays, play)
	f.plays = f.plays[max(len(f.plays)-playsMost, 0):]
}

// foreign reports whether a queue is a play's.
func (f *laneFeed) foreign(queue string) bool {
	return slices.ContainsFunc(f.plays, func(play string) bool { return queue == play || strings.HasPrefix(queue, play+"-") })
}

// Feed takes what was pulled, unless it took something only just; then Catch does.
func (f *laneFeed) Feed(m pulledMsg, now time.Time) {
	since := now.Sub(f.at)
	if f.owed = since >= 0 && since < lanesEvery; !f.owed {
		f.take(m, now)
	}
}

// Catch takes what was too soon for Feed.
func (f *laneFeed) Catch(m pulledMsg, now time.Time) {
	if f.owed {
		f.take(m, now)
	}
}

func (f *laneFeed) take(m pulledMsg, now time.Time) {
	f.at, f.owed = now, false
	leases := m.state.Leases
	if leases.Source == watch.Unknown {
		return
	}
	f.fed++
	crew := make([]lanes.Worker, len(m.workers))
	if f.names == nil || len(f.names) > 1000 {
		f.names = map[string]string{}
	}
	for i, w := range m.workers {
		state, since := f.state(w)
		crew[i] = lanes.Worker{Name: w.Name, State: string(state), Since: m.state.Clock.Now(since), Slots: w.Slots, Done: w.Processed}
		f.names[w.Owner] = w.Name
	}
	held := make([]lanes.Held, 0, len(leases.List))
	for _, l := range leases.List {
		if f.foreign(l.Queue) {
			continue
		}
		name, ours := f.name(l.Owner)
		held = append(held, lanes.Held{
			Job: l.JobID, Worker: name, Attempt: l.Attempts, Queue: l.Queue, Kind: l.Kind,
			Since: l.LockedAt, Expires: l.ExpiresAt, Renews: ours, Running: isRunning(m.workers, l.Owner, l.JobID),
		})
	}
	f.See(leases.At, held, crew)
}

// Broken notes what is broken on purpose: the network of this dashboard's workers may be.
func (f *laneFeed) Broken(list []faults.Broken, now time.Time) {
	was := f.cut
	f.cut = time.Time{}
	for _, b := range list {
		if b.Name == "partition" || b.Name == "cut" {
			f.cut = b.Since
		}
	}
	if !f.cut.Equal(was) {
		f.owed, f.heals = true, now
	}
}

// state is how a worker is, and since when. What is cut off is busy or idle for all it knows.
func (f *laneFeed) state(w workers.Snapshot) (workers.State, time.Time) {
	switch w.State {
	case workers.Idle, workers.Busy, workers.Draining:
		if !f.cut.IsZero() {
			return cutOff, f.cut
		}
		if w.Since.Before(f.heals) {
			return w.State, f.heals
		}
	}
	return w.State, w.Since
}

// isRunning reports whether a worker of this process runs a job that it holds.
func isRunning(crew []workers.Snapshot, owner string, job int64) bool {
	token, ok := queue.ParseToken(owner)
	if !ok {
		return false
	}
	for i := range crew {
		if w := &crew[i]; w.Owner == token.Process+"/"+token.Worker {
			return w.Pid == 0 && slices.ContainsFunc(w.Running, func(r workers.Running) bool { return r.JobID == job })
		}
	}
	return false
}

// name is the lane of an owner, and whether it is a worker of leasetop, which renews what
// it holds. Those of other processes go by host and process number too: their names are
// the same in each.
func (f *laneFeed) name(owner string) (name string, ours bool) {
	token, ok := queue.ParseToken(owner)
	if !ok {
		return owner[:min(len(owner), 200)], false
	}
	if name := f.names[token.Process+"/"+token.Worker]; name != "" {
		return name, true
	}
	start := strings.LastIndexByte(token.Process, ':') // of what tells this start of the process from others
	return token.Worker + "@" + token.Process[:start], true
}

// crewLanes are the lanes on the Workers tab: which time they show, and what was drawn.
type crewLanes struct {
	span  int  // of spansShown
	large bool // they are all there is
	away  bool // what the worker under the cursor runs and has met is there instead

	drawn laneKey
	lines []string
}

// laneKey is what a drawing depends on.
type laneKey struct {
	theme *theme
	fed   uint64
	swim  swim
	w, h  int
	stale bool
}

// keys are what can be done with the lanes.
func (l *crewLanes) keys() []action {
	next := spansShown[(l.span+1)%len(spansShown)]
	return []action{
		key("s", "span", "swim-lanes of the last "+spanText(next)+"; they show "+spanText(spansShown[l.span]), func() tea.Cmd {
			l.span = (l.span + 1) % len(spansShown)
			return nil
		}),
		key("v", pick(l.large, "table", "lanes"), pick(l.large, "the table again", "nothing but swim-lanes: who held which job when"), func() tea.Cmd {
			l.large = !l.large
			return nil
		}),
	}
}

// heading says which time the lanes show, and of how many leases where not all are known.
func (l *crewLanes) heading(p *picture) heading {
	h := heading{name: "LANES", rest: spanText(spansShown[l.span]), note: "a letter is a job, a lane who held it", must: "s span"}
	in := p.state.Leases
	if n := len(in.List); in.Total > n {
		h.rest += " · " + strconv.Itoa(n) + " of " + bounded(int64(in.Total), in.Capped, 9) + " leases drawn"
	}
	return p.provenance(h, in.Source, in.Read)
}

// view draws them.
func (l *crewLanes) view(p *picture, lit string, w, h int) []string {
	if p.lanes == nil || p.state.Leases.Source == watch.Unknown {
		return []string{"", " " + p.theme.dim.draw("looking…")}
	}
	_, stale := p.stale(p.state.Leases.Read)
	key := laneKey{p.theme, p.lanes.fed, swim{now: p.now, span: spansShown[l.span], lit: lit}, w, h, stale}
	if key == l.drawn {
		return l.lines
	}
	l.drawn, l.lines = key, p.theme.swim(&p.lanes.Recorder, key.swim, w, h)
	if stale {
		for i, line := range l.lines {
			l.lines[i] = p.theme.dim.fade(line)
		}
	}
	return l.lines
}

// wants is how many lines the lanes can use, beside their edges: for all slots where there
// is room for them, else for all workers.
func (l *crewLanes) wants(p *picture, room int) int {
	most, least := laneLines(&p.lanes.Recorder, swim{now: p.now, span: spansShown[l.span]})
	return pick(most <= room, most, least)
}

// The least heights of which the lanes, and what one worker runs, make something.
const lanesLeast, runsLeast = 7, 8

// swimming draws the lanes in a frame of w × h cells.
func (c *crewTab) swimming(w, h int) []string {
	lit := ""
	if one, ok := c.Worker(); ok {
		lit = one.Name
	}
	if w < wideWidth {
		return c.pic.theme.ruled(c.lanes.heading(c.pic), c.lanes.view(c.pic, lit, w, h-1), w, h, c.lanes.large)
	}
	return c.pic.theme.boxed(c.lanes.heading(c.pic), c.lanes.view(c.pic, lit, w-2, h-2), w, h, c.lanes.large)
}
