package ui

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/filter"
)

// deadTab is the dead letters: first by what they died of, then one by one. A filter and
// marks hold for both.
type deadTab struct {
	pic    *picture
	line   filterLine
	groups deadGroups
	list   deadList
	listed bool // the list is shown, else the groups
	marks  deadMarks
	from   *came // where the list was opened from; nil when tab opened it

	rangeJob   *int64    // where a range of the list begins
	rangeGroup *groupKey // or one of the groups
}

// came is what esc goes back to from the list of one group.
type came struct {
	text   string
	groups deadGroups
	count  int64 // of the dead letters of the group that was opened
}

// Show takes a new picture.
func (d *deadTab) Show(p *picture) {
	d.pic, d.groups.pic, d.list.pic = p, p, p
	d.list.heed()
}

// Stale has the dead letters read again.
func (d *deadTab) Stale() {
	d.list.Again()
	d.groups.Again()
}

// Move moves the cursor.
func (d *deadTab) Move(m motion) {
	if d.listed {
		d.list.Move(m)
		return
	}
	d.groups.list.Move(m)
}

// Cycle switches between the groups and the list. The filter holds for both.
func (d *deadTab) Cycle(int) {
	d.listed, d.from = !d.listed, nil
	d.dropRange()
}

// Input is the filter while it is typed.
func (d *deadTab) Input() *input { return d.line.Input() }

// Typed takes what was changed in it.
func (d *deadTab) Typed() { d.line.Typed(d.known) }

// Load returns the command that reads what the tab lacks.
func (d *deadTab) Load(a *app) tea.Cmd {
	wait := d.line.Load(a)
	if d.listed {
		return tea.Batch(wait, d.list.Load(a, &d.line))
	}
	return tea.Batch(wait, d.groups.Load(a, &d.line))
}

// Took takes an answer about the list.
func (d *deadTab) Took(m deadMsg) {
	d.marks.Unmark(d.list.Took(&m))
}

// Job returns the dead letter under the cursor of the list.
func (d *deadTab) Job() (queue.Job, bool) {
	if job, ok := d.list.Job(); ok && d.listed {
		return *job, true
	}
	return queue.Job{}, false
}

// known is what there is to complete a filter with.
func (d *deadTab) known() filter.Known {
	known := d.pic.known()
	for i := range d.groups.found.Groups {
		known.Kinds = append(known.Kinds, d.groups.found.Groups[i].Kind)
	}
	for i := range d.list.rows {
		known.Kinds = append(known.Kinds, d.list.rows[i].Kind)
	}
	return tidy(known)
}

// open lists the dead letters of the group under the cursor. What was shown before is kept
// for the way back.
func (d *deadTab) open() {
	key, ok := d.groups.list.Key()
	if !ok {
		return
	}
	d.dropRange()
	d.groups.list.Hold()
	d.from = &came{d.line.text, d.groups, d.groups.found.Groups[d.groups.list.at].Count}
	d.line.Set(key.text())
	d.listed = true
}

// back goes back to the groups that the list was opened from.
func (d *deadTab) back() {
	from := d.from
	d.from, d.listed = nil, false
	d.dropRange()
	d.line.Set(from.text)
	now := d.groups // what is being read of it is dropped
	if now.cancel != nil {
		now.cancel()
	}
	d.groups = from.groups
	d.groups.pic, d.groups.version, d.groups.choice, d.groups.loading = d.pic, d.line.version, now.choice+1, now.loading
}

// startRange begins a range at the cursor.
func (d *deadTab) startRange() {
	d.hold()
	if d.listed {
		if id, ok := d.list.list.Key(); ok {
			d.rangeJob = &id
		}
		return
	}
	if key, ok := d.groups.list.Key(); ok {
		d.rangeGroup = &key
	}
}

// hold keeps the cursor on its row: something was begun there.
func (d *deadTab) hold() {
	if d.listed {
		d.list.list.Hold()
	} else {
		d.groups.list.Hold()
	}
}

func (d *deadTab) dropRange() { d.rangeJob, d.rangeGroup = nil, nil }

// stretch is the rows of the range from the one where it began to the cursor's; none when
// there is no range, or the row where it began is gone.
func (d *deadTab) stretch() (from, to int) {
	begin, at := -1, 0
	switch {
	case d.listed && d.rangeJob != nil:
		begin, at = slices.Index(d.list.list.keys, *d.rangeJob), d.list.list.at
	case !d.listed && d.rangeGroup != nil:
		begin, at = slices.Index(d.groups.list.keys, *d.rangeGroup), d.groups.list.at
	}
	if begin < 0 {
		return 0, 0
	}
	return min(begin, at), max(begin, at) + 1
}

// ranged is how many rows the range has.
func (d *deadTab) ranged() int {
	from, to := d.stretch()
	return to - from
}

// closeRange marks the rows of the range.
func (d *deadTab) closeRange() {
	from, to := d.stretch()
	d.dropRange()
	for i := from; i < to; i++ {
		if d.listed {
			d.marks.MarkJob(subjects(d.list.rows[i].Job)[0])
		} else {
			d.marks.MarkGroup(d.groups.list.keys[i], d.groups.found.Groups[i].Count)
		}
	}
}

// mark marks the row under the cursor, or takes its mark away, and moves on; a range is
// marked whole.
func (d *deadTab) mark() {
	switch job, ok := d.list.Job(); {
	case d.ranged() > 0:
		d.closeRange()
		return
	case d.listed && ok:
		d.marks.ToggleJob(subjects(*job)[0])
	case !d.listed:
		if one, ok := d.groups.Group(); ok {
			d.marks.ToggleGroup(d.groups.keyOf(one), one.Count)
		}
	}
	d.Move(down)
}

// markAll marks all that match the filter, loaded or not.
func (d *deadTab) markAll() {
	d.dropRange()
	d.marks.Clear()
	all := &allMarked{where: d.line.applied.String()}
	all.n, all.atLeast, all.known = d.groups.total(d.line.applied)
	if dead := d.pic.state.Dead; !all.known && all.where == "" {
		all.n, all.atLeast, all.known = dead.Total, dead.Capped, true
	}
	d.marks.all = all
}

// withChosen calls then with the set of what is marked or, without marks, of what is under
// the cursor. Where that is more than rows of the list, it is found first.
func (d *deadTab) withChosen(a *app, then func(deadSet) tea.Cmd) tea.Cmd {
	d.hold()
	if d.ranged() > 0 {
		d.closeRange()
	}
	switch m := &d.marks; {
	case m.all != nil:
		all := cmp.Or(m.all.where, allDead)
		return a.gather([]string{all}, all, then)
	case len(m.groups) > 0:
		keys := slices.SortedFunc(maps.Keys(m.groups), func(x, y groupKey) int {
			return cmp.Or(cmp.Compare(m.groups[y], m.groups[x]), strings.Compare(x.text(), y.text()))
		})
		return a.gather(wantsOf(keys), oneFilter(keys), then)
	case len(m.jobs) > 0:
		return then(a.jobSet(d.markedJobs()))
	case d.listed:
		if job, ok := d.list.Job(); ok {
			set := a.jobSet(subjects(*job))
			if !d.line.applied.Empty() {
				all := "all"
				if n, atLeast, known := d.groups.total(d.line.applied); known {
					all += " " + bounded(n, atLeast, 12)
				} else if d.list.read && d.list.below.next == nil {
					all += " " + thousands(int64(len(d.list.rows)))
				}
				set.says = append(set.says, a.pic.theme.dim.draw("this one alone: esc, then * marks "+all+" that match"))
			}
			return then(set)
		}
	default:
		if key, ok := d.groups.list.Key(); ok {
			return a.gather([]string{key.text()}, key.text(), then)
		}
	}
	return nil
}

// allDead is all dead letters, as a filter that can be typed.
const allDead = "status:failed,dead"

func wantsOf(keys []groupKey) []string {
	wants := make([]string, len(keys))
	for i, key := range keys {
		wants[i] = key.text()
	}
	return wants
}

// markedJobs are the marked jobs in the list's order, then those not listed by id.
func (d *deadTab) markedJobs() (jobs []subject) {
	listed := map[int64]bool{}
	for i := range d.list.rows {
		if one, ok := d.marks.jobs[d.list.rows[i].ID]; ok {
			jobs = append(jobs, one)
			listed[one.id] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(d.marks.jobs)) {
		if !listed[id] {
			jobs = append(jobs, d.marks.jobs[id])
		}
	}
	return jobs
}
