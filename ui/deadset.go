package ui

import (
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
	says   []string // what they are, a line each, styled and safe: for the question
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
	return set
}

// gathering finds the ids of a set, and shows how far it is.
type gathering struct {
	wants         []string // filters
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
	err           error
}

// gather finds what is wanted, then puts the question. Nothing is done before that.
func (a *app) gather(wants []string, then func(deadSet) tea.Cmd) tea.Cmd {
	ctx, cancel := context.WithCancel(a.ctx)
	g := &gathering{wants: wants, stop: cancel, news: newNews(), then: then}
	a.ask(g)
	a.dialogs.deaf = a.now() // it was asked for, and nothing in it acts
	return tea.Batch(a.ioUnder(ctx, func(ctx context.Context) tea.Msg {
		defer cancel()
		defer close(g.news)
		return g.find(ctx, a.cfg.Jobs)
	}), a.hear(g.news))
}

// find asks for the ids of each want. A job that two of them want is in the set once.
func (g *gathering) find(ctx context.Context, jobs Jobs) tea.Msg {
	m := gatherMsg{g: g, done: true}
	has := map[int64]bool{}
	for at, one := range g.wants {
		where, err := filter.Parse(one)
		if err != nil {
			m.err = err
			return m
		}
		ids, err := jobs.Matching(ctx, queue.Filter{Statuses: queue.DeadLetters, Where: where}, func(found, looked int) {
			g.news.tell(gatherMsg{g: g, at: at, found: found, looked: looked})
		})
		if err != nil {
			m.err = err
			return m
		}
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
	}
	return m
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
	set := deadSet{ids: m.ids, filter: strings.Join(wants, "  or  ")}
	wide := len(thousands(int64(slices.Max(m.counts))))
	for i, one := range wants[:min(len(wants), setListed)] {
		line := t.strong.draw(safe.FitRight(thousands(int64(m.counts[i])), wide)) + "  "
		if len(wants) == 1 {
			line += t.text.draw(pick(m.counts[i] == 1, "dead letter matches", "dead letters match"))
			set.says = append(set.says, line, "")
			line = ""
		}
		for k, part := range bound(wrap(one, 64-wide), 4, 64-wide) {
			set.says = append(set.says, pick(k == 0, line, strings.Repeat(" ", cells(line)))+t.accent.draw(part))
		}
	}
	if n := len(wants) - setListed; n > 0 {
		set.says = append(set.says, t.dim.draw("and "+plural(n, "group")+" more"))
	}
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
