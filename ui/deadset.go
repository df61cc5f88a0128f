package ui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/filter"
	"github.com/leasetop/leasetop/ui/safe"
)

// deadSet is what an act on dead letters is about: ids that are fixed from the moment the
// question is put, whatever dies, is redriven or matches later.
type deadSet struct {
	ids    []int64  // oldest death first
	filter string   // what chose them, as it was typed; "" when they were named one by one
	groups int      // how many groups they are of, where no one filter says which; 0 where one does
	says   []string // what they are, a line each, styled and safe: for the question
	queues []queueShare
}

// queueShare is how many of a set are in a queue.
type queueShare struct {
	name string
	n    int64
}

// vastSet is how many jobs are more than anybody discards by one key too many.
const vastSet = 1000

// vast tells whether the set is so large, or reaches so far, that its number is to be
// typed before it is discarded.
func (s *deadSet) vast() bool { return len(s.ids) > vastSet || len(s.queues) > 1 }

// reach takes how many of the set are in which queue, and says so where they are several.
func (s *deadSet) reach(t *theme, counts map[string]int64) {
	for name, n := range counts {
		s.queues = append(s.queues, queueShare{name, n})
	}
	slices.SortFunc(s.queues, func(a, b queueShare) int { return cmp.Or(cmp.Compare(b.n, a.n), strings.Compare(a.name, b.name)) })
	if len(s.queues) < 2 {
		return
	}
	parts := make([]string, len(s.queues))
	for i, one := range s.queues {
		parts[i] = brief(one.name, 30) + " " + thousands(one.n)
	}
	const w = 68
	var lines []string
	for _, line := range bound(wrap("in "+plural(len(parts), "queue")+": "+strings.Join(parts, " · "), w), 3, w) {
		lines = append(lines, t.warn.draw(line))
	}
	s.says = append(lines, s.says...)
}

// reason is why something is done to the set, with the groups where no filter names them.
func (s *deadSet) reason(typed string) string {
	if s.groups == 0 {
		return typed
	}
	return plural(s.groups, "group") + " of dead letters" + pick(typed == "", "", ": "+typed)
}

// setListed is how many jobs or groups a question lists one by one.
const setListed = 12

// jobSet is the set of jobs that were named one by one.
func (a *app) jobSet(jobs []subject) deadSet {
	t, n := a.pic.theme, len(jobs)
	set := deadSet{ids: make([]int64, n)}
	for i, j := range jobs {
		set.ids[i] = j.id
	}
	idW, whereW := 0, 0
	for _, j := range jobs[:min(n, setListed)] {
		idW = max(idW, len(itoa(j.id)))
		whereW = max(whereW, min(safe.Width(safe.Text(j.where)), 24))
	}
	for _, j := range jobs[:min(n, setListed)] {
		line := briefly(j.says)
		set.says = append(set.says, t.strong.draw(safe.FitRight(itoa(j.id), idW))+"  "+
			t.accent.draw(safe.Fit(j.where, whereW))+"  "+t.dim.draw(safe.Text(line[:min(len(line), 400)])))
	}
	if n > setListed {
		set.says = append(set.says, t.dim.draw("and "+thousands(int64(n-setListed))+" more"))
	}
	counts := map[string]int64{}
	for _, j := range jobs {
		counts[j.queue]++
	}
	set.reach(t, counts)
	return set
}

// gathering finds the ids of a set, and shows how far it is.
type gathering struct {
	wants         []string // filters
	one           string   // which says the same as all of them; "" when none does
	at            int      // the one that is being looked for
	found, looked int      // of it
	before        int      // found for those before
	stop          context.CancelFunc
	news          news
	then          func(deadSet) tea.Cmd
}

// gatherMsg is how far a gathering is, or what came of it.
type gatherMsg struct {
	g             *gathering
	at            int
	found, looked int
	done          bool
	counts        []int
	ids           []int64
	queues        map[string]int64 // how many of the ids are in which
	err           error
}

// gather finds what is wanted, then puts the question. Nothing is done before that. one is
// the one filter that says the same as all wants; "" when none does.
func (a *app) gather(wants []string, one string, then func(deadSet) tea.Cmd) tea.Cmd {
	ctx, cancel := context.WithCancel(a.ctx)
	g := &gathering{wants: wants, one: one, stop: cancel, news: newNews(), then: then}
	a.ask(g)
	a.dialogs.deaf = a.now() // it was asked for, and nothing in it acts
	return tea.Batch(a.ioUnder(ctx, func(ctx context.Context) tea.Msg {
		defer cancel()
		defer close(g.news)
		m := gatherMsg{g: g, done: true}
		m.err = m.find(ctx, a.cfg.Jobs)
		return m
	}), a.hear(g.news))
}

// find asks for the ids of each want. A job that two of them want is in the set once.
func (m *gatherMsg) find(ctx context.Context, jobs Jobs) error {
	g, has, apart := m.g, map[int64]bool{}, true
	m.queues = map[string]int64{}
	for at, one := range g.wants {
		where, err := filter.Parse(one)
		if err != nil {
			return err
		}
		ids, err := jobs.Matching(ctx, queue.Filter{Statuses: queue.DeadLetters, Where: where}, func(found, looked int) {
			g.news.tell(gatherMsg{g: g, at: at, found: found, looked: looked})
		})
		if err != nil {
			return err
		}
		before := len(m.ids)
		m.counts = append(m.counts, len(ids))
		for _, id := range ids {
			if len(g.wants) == 1 {
				break
			}
			if !has[id] {
				has[id] = true
				m.ids = append(m.ids, id)
			}
		}
		if len(g.wants) == 1 {
			m.ids = ids
		}
		if of := where.Queues(); len(of) == 1 {
			m.queues[of[0]] += int64(len(m.ids) - before)
		} else {
			apart = false
		}
	}
	if !apart && len(m.ids) > 0 { // the filters do not say in which queues they are
		r, err := jobs.Rehearse(ctx, m.ids)
		m.queues = r.Queues
		return err
	}
	return nil
}

// gathered takes news of a gathering. One that was cancelled has none.
func (a *app) gathered(m gatherMsg) tea.Cmd {
	if !slices.Contains(a.dialogs.open, dialog(m.g)) {
		return nil
	}
	if !m.done {
		if m.at > m.g.at {
			m.g.before += m.g.found
		}
		m.g.at, m.g.found, m.g.looked = m.at, m.found, m.looked
		return a.hear(m.g.news)
	}
	a.dialogs.Close(m.g)
	switch {
	case m.err != nil:
		a.say(danger, "nothing was done: "+m.err.Error())
		return nil
	case len(m.ids) == 0:
		a.say(caution, "none matches any more: nothing was done")
		return nil
	}
	return m.g.then(a.gatheredSet(&m))
}

// gatheredSet is the set that was found, with the literal filter in the words for the question.
func (a *app) gatheredSet(m *gatherMsg) deadSet {
	t, wants := a.pic.theme, m.g.wants
	set := deadSet{ids: m.ids, filter: m.g.one}
	if set.filter == "" {
		set.groups = len(wants)
	}
	wide := len(thousands(int64(slices.Max(m.counts))))
	for i, one := range wants[:min(len(wants), setListed)] {
		line := t.strong.draw(safe.FitRight(thousands(int64(m.counts[i])), wide)) + "  "
		if len(wants) == 1 {
			line += t.text.draw(pick(m.counts[i] == 1, "dead letter matches", "dead letters match"))
			set.says = append(set.says, line, "")
			line = ""
		}
		for k, part := range bound(wrap(masked(one), 64-wide), 4, 64-wide) {
			set.says = append(set.says, pick(k == 0, line, strings.Repeat(" ", cells(line)))+t.accent.draw(part))
		}
	}
	if n := len(wants) - setListed; n > 0 {
		set.says = append(set.says, t.dim.draw("and "+plural(n, "group")+" more"))
	}
	set.reach(t, m.queues)
	return set
}

// Heading is the dialog's title.
func (g *gathering) Heading() heading { return heading{name: "FINDING THE DEAD LETTERS"} }

// Grave is not set.
func (g *gathering) Grave() bool { return false }

// Move does nothing: there is nothing to choose.
func (g *gathering) Move(motion) {}

// Keys cancel.
func (g *gathering) Keys(a *app) []action {
	return []action{key("esc", "cancel", "", func() tea.Cmd {
		g.stop()
		a.dialogs.Close(g)
		a.say(quiet, "cancelled: nothing was done")
		return nil
	})}
}

// Lines draws how far it is.
func (g *gathering) Lines(t *theme, w, h int, _ bool) []string {
	lines := []string{""}
	for _, line := range bound(wrap(g.wants[g.at], w), 4, w) {
		lines = append(lines, t.accent.draw(line))
	}
	if n := len(g.wants); n > 1 {
		lines = append(lines, t.dim.draw(fmt.Sprintf("group %s of %s", thousands(int64(g.at+1)), thousands(int64(n)))))
	}
	lines = append(lines, "", t.strong.draw(thousands(int64(g.before+g.found)))+t.text.draw(" found, ")+
		t.strong.draw(thousands(int64(g.looked)))+t.text.draw(" looked at…"), "")
	for _, line := range wrap("The set is fixed when this is done. Nothing happens to it before you say so.", w) {
		lines = append(lines, t.dim.draw(line))
	}
	lines = append(lines, "", t.chip(quiet, "esc  cancel"), "")
	for i := range lines {
		lines[i] = safe.FitStyled(lines[i], w)
	}
	return lines[max(len(lines)-max(h, 0), 0):]
}
