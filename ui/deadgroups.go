package ui

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/filter"
)

// How the groups are read: the newest dead letters first, so that something is to be seen
// at once; then all there are, so seldom.
const (
	groupsFirst   = 20_000
	groupsTimeout = time.Minute
	groupsBetween = time.Second // from one reading to the next, or
	groupsRest    = 10          // so many times as long as it took
)

// groupKey is what the dead letters of a group have in common, and the filter that they
// were grouped under: under another one it is another group.
type groupKey struct {
	queue, kind, fingerprint string
	where                    string
}

// text is the filter that finds them, as it can be typed: what they were grouped under, but
// for words that the group says again.
func (k groupKey) text() string {
	group := filter.Group(k.queue, k.kind, k.fingerprint).String()
	said := map[string]bool{}
	for _, w := range filter.Words(group) {
		said[group[w.From:w.To]] = true
	}
	var words []string
	for _, w := range filter.Words(k.where) {
		if word := k.where[w.From:w.To]; !said[word] {
			words = append(words, word)
		}
	}
	return strings.Join(append(words, group), " ")
}

// oneFilter is the filter that finds all of some groups, as it can be typed: of groups of
// one queue and kind. "" where there is none.
func oneFilter(keys []groupKey) string {
	first, prints := keys[0], make([]string, len(keys))
	for i, k := range keys {
		if k.queue != first.queue || k.kind != first.kind || k.where != first.where {
			return ""
		}
		prints[i] = filter.Quote(k.fingerprint)
	}
	if len(keys) == 1 {
		return first.text()
	}
	text := strings.TrimSuffix(first.text(), filter.Quote(first.fingerprint)) + strings.Join(prints, ",")
	if _, err := filter.Parse(text); err != nil || len(text) > typedMost {
		return ""
	}
	return text
}

// deadGroups are the dead letters that pass a filter by what they died of, the largest
// group first.
type deadGroups struct {
	pic   *picture
	found queue.DeadGroups
	list  selection[groupKey]

	filter  filter.Filter
	version int // of the filter line that they are of

	read    bool
	loading bool
	cancel  context.CancelFunc
	choice  int       // counts up with every filter: answers of another are dropped
	asked   time.Time // local clock: when the last question was put, and
	heard   time.Time // when the last one that was answered was, and
	ended   time.Time // when its answer came
	wakes   time.Time // when the next may be put, if it has to wait
	took    time.Duration
	err     error
	failed  time.Time
	signal  uint64    // of the dead channel, when they were asked for
	again   bool      // they are to be read again at once
	part    bool      // they are of the newest alone, and all are read next
	since   time.Time // where the first of the bars begins that were drawn last
	joined  int       // bars that are drawn as one
}

// groupsMsg is an answer.
type groupsMsg struct {
	choice int
	look   int
	at     time.Time
	found  queue.DeadGroups
	took   time.Duration
	err    error
}

// Group returns the group under the cursor.
func (g *deadGroups) Group() (*queue.DeadGroup, bool) {
	if g.list.at < len(g.found.Groups) {
		return &g.found.Groups[g.list.at], true
	}
	return nil, false
}

// Again has them read again at once.
func (g *deadGroups) Again() { g.again = true }

// Load returns the command that reads the groups; nil when what is shown is of the present
// or a question is on its way.
func (g *deadGroups) Load(a *app, line *filterLine) tea.Cmd {
	if g.version != line.version {
		g.other(line)
	}
	signal := g.pic.state.Dead.Signal
	if g.loading || g.read && !g.again && !g.part && g.err == nil && (g.signal == signal || a.frozen) {
		return nil
	}
	now := a.now()
	soonest, look := time.Duration(0), 0
	if !g.read {
		look = groupsFirst
	}
	if g.read && !g.again && !g.part {
		soonest = max(groupsBetween, groupsRest*g.took)
	}
	if g.err != nil {
		soonest = max(soonest, afterError)
	}
	if early := soonest - now.Sub(g.ended); early > 0 {
		if now.Before(g.wakes) {
			return nil
		}
		g.wakes = now.Add(early)
		return a.after(early, wakeMsg{})
	}
	g.loading, g.again, g.asked, g.signal = true, false, now, signal
	ctx, cancel := context.WithTimeout(a.ctx, groupsTimeout)
	g.cancel = cancel
	choice, where := g.choice, g.filter
	return a.ioUnder(ctx, func(ctx context.Context) tea.Msg {
		defer cancel()
		began := a.now()
		found, err := a.cfg.Jobs.DeadGroups(ctx, where, look)
		return groupsMsg{choice, look, now, found, a.now().Sub(began), err}
	})
}

// other begins anew, by another filter. What was asked for the one before is cancelled;
// nothing is asked until that has ended.
func (g *deadGroups) other(line *filterLine) {
	if g.cancel != nil {
		g.cancel()
	}
	*g = deadGroups{pic: g.pic, filter: line.applied, version: line.version, choice: g.choice + 1, loading: g.loading, list: selection[groupKey]{height: g.list.height}}
}

// Took takes an answer, at a moment of the local clock.
func (g *deadGroups) Took(m *groupsMsg, now time.Time) {
	g.loading = false
	if m.choice != g.choice {
		return
	}
	g.ended = now
	if m.err != nil {
		if g.err == nil {
			g.failed = m.at
		}
		g.err = m.err
		return
	}
	g.err, g.read, g.heard, g.took, g.found = nil, true, m.at, m.took, m.found
	g.part = m.look > 0 && !m.found.Whole
	keys := make([]groupKey, len(m.found.Groups))
	for i := range keys {
		keys[i] = g.keyOf(&m.found.Groups[i])
	}
	g.list.Settle(keys)
}

func (g *deadGroups) keyOf(one *queue.DeadGroup) groupKey {
	return groupKey{one.Queue, one.Kind, one.Fingerprint, g.filter.String()}
}

// find returns a group that is listed; nil when it is not.
func (g *deadGroups) find(key groupKey) *queue.DeadGroup {
	if i := slices.Index(g.list.keys, key); i >= 0 {
		return &g.found.Groups[i]
	}
	return nil
}

// total is how many dead letters pass a filter, where that is known.
func (g *deadGroups) total(f filter.Filter) (n int64, atLeast, known bool) {
	if !g.read || g.filter.String() != f.String() {
		return 0, false, false
	}
	return g.found.Total, !g.found.Whole, !g.part
}
