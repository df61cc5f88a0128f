package ui

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers"
)

// crewTab is the workers of this process: a table, below it who held which job when, of
// all workers of the database, and what the one under the cursor runs and has met.
type crewTab struct {
	pic   *picture
	list  selection[string]
	spans spans
	lanes crewLanes
}

// Show takes a new picture.
func (c *crewTab) Show(p *picture) {
	c.pic = p
	keys := make([]string, len(p.workers))
	c.spans.Begin()
	for i, w := range p.workers {
		keys[i] = w.Name
		for _, r := range w.Running {
			c.spans.See(spanKey{r.JobID, w.Name}, kindOf(r.Queue, r.Kind), r.Since, r.Trust, p.local)
		}
	}
	c.spans.End()
	c.list.SetKeys(keys)
}

// Move moves the cursor.
func (c *crewTab) Move(m motion) { c.list.Move(m) }

// Cycle changes what is below the table: the table is what is moved in.
func (c *crewTab) Cycle(int) { c.lanes.away = !c.lanes.away }

// Worker returns the worker under the cursor.
func (c *crewTab) Worker() (workers.Snapshot, bool) {
	if c.list.at < len(c.pic.workers) {
		return c.pic.workers[c.list.at], true
	}
	return workers.Snapshot{}, false
}

// ended tells whether a worker will never work again.
func ended(w workers.Snapshot) bool { return w.State == workers.Crashed || w.State == workers.Stopped }

// Keys are what the table's keys do.
func (c *crewTab) Keys(a *app) []action {
	w, ok := c.Worker()
	name := w.Name
	alone := a.watching()
	none := pick(ok, "", "no worker under the cursor")
	over := ""
	if ok && ended(w) {
		over = name + " is " + string(w.State) + " already"
	}
	fellow := c.fellow(w)
	return append([]action{
		key("n", "spawn", "spawn a worker on queues of your choice", func() tea.Cmd {
			a.ask(newSpawn(a, w))
			return nil
		}).never(alone).unless(a.readOnly()),
		key("d", "drain", "drain: claim nothing more, finish what runs, stop", func() tea.Cmd {
			return a.drain(w)
		}).alone().never(alone).unless(none).unless(over),
		key("K", "kill", "kill: crash in process, or SIGKILL to a process of its own; its leases run out", func() tea.Cmd {
			a.ask(newKill(a, w))
			return nil
		}).never(alone).unless(none).unless(over),
		key("F", "freeze", "freeze: a zombie without heartbeats", func() tea.Cmd {
			a.ask(newFreeze(a, w))
			return nil
		}).never(alone).unless(none).unless(over),
		a.breakKey(name),
		key("+ =", "", "one more worker like this one", func() tea.Cmd {
			return a.spawn(w.Queues, w.Slots, w.Pid != 0)
		}).alone().never(alone).unless(none).unless(a.readOnly()),
		key("-", "", "one less: drain the newest like this one", func() tea.Cmd {
			return a.drain(fellow)
		}).alone().never(alone).unless(none).unless(pick(fellow.Name != "", "", "no live worker takes these queues")),
		key("backspace", "", "take an ended worker off the list", func() tea.Cmd {
			return a.order(name+" taken off the list", func() error { return a.cfg.Workers.Remove(name) })
		}).alone().never(alone).unless(none).unless(pick(ended(w), "", name+" has not ended")),
	}, c.lanes.keys()...)
}

// fellow is the newest live worker with the same queues, in a process of its own where
// the other is.
func (c *crewTab) fellow(like workers.Snapshot) workers.Snapshot {
	for _, w := range slices.Backward(c.pic.workers) {
		if (w.State == workers.Idle || w.State == workers.Busy) && (w.Pid == 0) == (like.Pid == 0) && slices.Equal(w.Queues, like.Queues) {
			return w
		}
	}
	return workers.Snapshot{}
}

// Heading counts the workers and their slots.
func (c *crewTab) Heading() heading {
	live, busy, slots, running := 0, 0, 0, 0
	for _, w := range c.pic.workers {
		if w.State == workers.Idle || w.State == workers.Busy {
			live++
			slots += w.Slots
			running += len(w.Running)
		}
		if w.State == workers.Busy {
			busy++
		}
	}
	h := heading{name: "WORKERS", rest: strconv.Itoa(live)}
	if n := len(c.pic.workers); n != live {
		h.rest += " of " + strconv.Itoa(n)
	}
	h.rest += " · " + strconv.Itoa(running) + "/" + strconv.Itoa(slots) + " slots busy"
	return h
}

var crewColumns = []column{
	{title: "NAME", min: 4, max: 4},
	{title: "STATE", min: 10},
	{title: "QUEUES", min: 8, max: 8, rank: 2},
	{title: "SLOTS", min: 5, max: 8, rank: 4},
	{title: "JOB", min: 5, max: 7, right: true},
	{title: "KIND", min: 6, max: 6, rank: 3},
	{title: "ATT", min: 3, right: true, rank: 5},
	{title: "TRUST", min: 5, right: true},
	{title: "", min: 8, max: 16, rank: 6, grows: true},
	{title: "DONE", min: 5, max: 7, right: true},
	{title: "ERRORS", min: 6, right: true},
	{title: "LOST", min: 4, right: true},
	{title: "FENCED", min: 6, right: true},
	{title: "SINCE", min: 6, right: true, rank: 1},
}

// View draws the tab.
func (c *crewTab) View(w, h int) []string {
	t := c.pic.theme
	frame, in, edges := t.boxed, w-2, 2
	if w < wideWidth {
		frame, in, edges = t.ruled, w, 1
	}
	if c.lanes.large && (!c.pic.alone || c.pic.lanes.fed > 0) {
		return c.swimming(w, h)
	}
	if len(c.pic.workers) == 0 {
		none := []string{"", t.dim.draw(" no workers yet · ") + t.accent.draw("n") + t.dim.draw(" spawns one")}
		h0 := heading{name: "WORKERS", rest: "0"}
		if c.pic.alone {
			none = []string{
				"", t.dim.draw(" This dashboard is only watching: no workers run in this process."),
				t.dim.draw(" Below is who holds which job, whoever it is."),
			}
			h0.rest = ""
		}
		top := len(none) + 1 + edges
		return append(frame(h0, none, w, top, true), c.swimming(w, h-top)...)
	}
	top := min(len(c.pic.workers)+1+edges, max(pick(c.lanes.away, h*3/5, h/2), edges+2))
	if h-top < 4 {
		top = h
	}
	lines := frame(c.Heading(), c.table(in, top-edges), w, top, true)
	if top == h {
		return lines
	}
	one, _ := c.Worker()
	if !c.lanes.away {
		swim := h - top
		runs := pick(w < wideWidth, runsLeast-2, runsLeast)
		if want := max(c.lanes.wants(c.pic, swim-runs-edges)+edges, lanesLeast); want+runs <= swim {
			swim = want
		}
		if swim >= lanesLeast {
			lines = append(lines, c.swimming(w, swim)...)
			top += swim
		}
	}
	rest := h - top
	if rest == 0 {
		return lines
	}
	if w < wideWidth {
		runH := min(max(len(one.Running), 1)+1+edges, rest/2+1)
		lines = append(lines, frame(c.runHeading(one), c.running(one, in), w, runH, false)...)
		return append(lines, frame(heading{name: "EVENTS OF " + one.Name}, c.met(one, in, rest-runH-edges), w, rest-runH, false)...)
	}
	left := w / 2
	return append(lines, beside(
		frame(c.runHeading(one), c.running(one, left-2), left, rest, false),
		frame(heading{name: "EVENTS OF " + one.Name, note: "newest first"}, c.met(one, w-left-2, rest-2), w-left, rest, false),
	)...)
}

func (c *crewTab) runHeading(w workers.Snapshot) heading {
	h := heading{name: w.Name + " RUNS", rest: strconv.Itoa(len(w.Running)) + " of " + plural(w.Slots, "slot")}
	if w.Pid != 0 {
		h.rest += " · process " + strconv.Itoa(w.Pid)
	}
	return h
}

func (c *crewTab) table(w, h int) []string {
	t := c.pic.theme
	columns := append([]column(nil), crewColumns...)
	each := func(text func(workers.Snapshot) string) func(func(string) bool) {
		return func(yield func(string) bool) {
			for _, one := range c.pic.workers {
				if !yield(text(one)) {
					return
				}
			}
		}
	}
	columns[0].max = widest(4, 12, each(withPid))
	columns[0].min = columns[0].max
	columns[2].max = widest(8, 28, each(func(s workers.Snapshot) string { return c.queues(s) }))
	columns[5].max = widest(6, 16, each(func(s workers.Snapshot) string { return firstKind(s) }))
	g := arrange(columns, w-2)
	lines := []string{" " + g.header(t.dim)}
	from, to := c.list.Window(max(h-1, 1))
	for i := from; i < to; i++ {
		row := g.row(c.cells(c.pic.workers[i]))
		if ended(c.pic.workers[i]) && len(c.pic.workers[i].Running) == 0 {
			row = t.dim.fade(row)
		}
		lines = append(lines, t.lineOf(row, w, i == c.list.at, false))
	}
	return lines
}

// queues lists what a worker takes, with a mark before what is paused.
func (c *crewTab) queues(s workers.Snapshot) string {
	names := slices.Clone(s.Queues)
	for i, name := range names {
		if _, paused := c.pic.state.Pauses.Of(name); paused {
			names[i] = pausedMark + name
		}
	}
	return strings.Join(names, ",")
}

// withPid is a worker's name, and the number of its process where that is its own.
func withPid(s workers.Snapshot) string {
	if s.Pid == 0 {
		return s.Name
	}
	return s.Name + " " + strconv.Itoa(s.Pid)
}

func firstKind(s workers.Snapshot) string {
	if len(s.Running) == 0 {
		return ""
	}
	return pick(s.Running[0].Kind != "", s.Running[0].Kind, s.Running[0].Queue)
}

func (c *crewTab) cells(s workers.Snapshot) []cell {
	t := c.pic.theme
	number := func(n uint64, some ink) cell {
		k := some
		if n == 0 {
			k = t.faint
		}
		return cell{paint: func(w int) string { return k.draw(safe.FitRight(count(int64(n), false, w), w)) }}
	}
	glyph, k := stateMark(t, s.State)
	cells := []cell{
		{paint: func(w int) string {
			return t.strong.draw(safe.Fit(s.Name, len(s.Name))) + t.dim.draw(safe.Fit(withPid(s)[len(s.Name):], w-len(s.Name)))
		}},
		{text: glyph + " " + string(s.State), ink: k},
		{text: c.queues(s), ink: t.dim},
		{paint: func(w int) string { return c.slots(s, w) }},
	}
	if len(s.Running) == 0 {
		dash := cell{text: "–", ink: t.faint}
		cells = append(cells, dash, cell{}, dash, dash, cell{})
	} else {
		r := c.soonest(s)
		trust, bar := c.trust(s, r)
		cells = append(cells,
			cell{text: strconv.FormatInt(r.JobID, 10), ink: t.strong},
			cell{text: pick(r.Kind != "", r.Kind, r.Queue), ink: t.dim},
			cell{text: strconv.Itoa(r.Attempt), ink: pick(r.Attempt > 1, t.warn, t.dim)},
			trust, bar)
	}
	return append(cells,
		number(s.Completed, t.text), number(s.Failed, t.warn), number(s.Lost, t.bad), number(s.Fenced, t.other),
		cell{text: age(c.pic.local.Sub(s.Since)), ink: t.dim})
}

// stateMark is the glyph and the ink of a state; the word stands beside them.
func stateMark(t *theme, s workers.State) (string, ink) {
	switch s {
	case workers.Busy:
		return "●", t.good
	case workers.Draining:
		return "◐", t.warn
	case workers.Frozen:
		return "✱", t.other
	case workers.Crashed, killed:
		return "✗", t.bad
	case workers.Stopped:
		return "–", t.dim
	case cutOff:
		return "≠", t.other
	}
	return "○", t.dim
}

// States that lanes and plays have beside those of the runtime.
const (
	cutOff = workers.State("partitioned") // it cannot reach the database
	killed = workers.State("killed")      // its process was
)

// slots draws a dot for each slot, filled when a handler runs in it.
func (c *crewTab) slots(s workers.Snapshot, w int) string {
	t := c.pic.theme
	busy := len(s.Running)
	if s.Slots > w || busy > s.Slots {
		return t.text.draw(safe.Fit(strconv.Itoa(busy)+"/"+strconv.Itoa(s.Slots), w))
	}
	return t.accent.draw(strings.Repeat("▮", busy)) + t.faint.draw(strings.Repeat("▯", s.Slots-busy)) + strings.Repeat(" ", w-s.Slots)
}

// soonest is the running job whose lease will be trusted for the shortest time.
func (c *crewTab) soonest(s workers.Snapshot) workers.Running {
	return slices.MinFunc(s.Running, func(a, b workers.Running) int { return a.Trust.Compare(b.Trust) })
}

// trust draws how long the worker goes on without a heartbeat.
func (c *crewTab) trust(s workers.Snapshot, r workers.Running) (cell, cell) {
	t := c.pic.theme
	long := c.spans.See(spanKey{r.JobID, s.Name}, kindOf(r.Queue, r.Kind), r.Since, r.Trust, c.pic.local)
	rest := min(r.Trust.Sub(c.pic.local), long)
	if rest <= 0 {
		return cell{text: "ended", ink: t.alarm}, cell{}
	}
	share := portion(rest, long)
	return cell{text: left(rest), ink: pick(share <= 0.2, t.bad, t.text)}, cell{paint: func(w int) string { return t.bar(share, w) }}
}

// running lists what a worker runs.
func (c *crewTab) running(s workers.Snapshot, w int) []string {
	t := c.pic.theme
	var lines []string
	if s.LastError != "" {
		for _, line := range wrap("! "+masked(s.LastError), w-2) {
			lines = append(lines, " "+t.bad.draw(line))
		}
	}
	if len(s.Running) == 0 {
		return append(lines, "", " "+t.dim.draw("nothing just now"))
	}
	g := arrange([]column{
		{title: "JOB", min: 7, right: true},
		{title: "QUEUE/KIND", min: 10, max: 24},
		{title: "ATT", min: 3, right: true},
		{title: "FOR", min: 6, right: true},
		{title: "TRUST", min: 5, right: true},
		{title: "", min: 10, max: 24, rank: 1},
	}, w-2)
	lines = append(lines, " "+g.header(t.dim))
	for _, r := range s.Running {
		trust, bar := c.trust(s, r)
		if by := c.pic.cancelledBy(r.JobID); by != "" {
			bar = cell{paint: func(w int) string { return t.cancelling(by, w) }}
		}
		lines = append(lines, " "+g.row([]cell{
			{text: strconv.FormatInt(r.JobID, 10), ink: t.strong},
			{text: kindOf(r.Queue, r.Kind), ink: t.dim},
			{text: strconv.Itoa(r.Attempt), ink: pick(r.Attempt > 1, t.warn, t.dim)},
			{text: age(c.pic.local.Sub(r.Since)), ink: t.text},
			trust, bar,
		}))
	}
	return lines
}

// met lists what happened to a worker, newest first.
func (c *crewTab) met(s workers.Snapshot, w, h int) []string {
	var lines []string
	for _, e := range c.pic.journalOf(s) {
		if len(lines) >= h {
			break
		}
		lines = append(lines, " "+c.pic.tell(e).draw(c.pic.theme, w-2))
	}
	if len(lines) == 0 {
		return []string{"", " " + c.pic.theme.dim.draw("nothing yet")}
	}
	return lines
}
