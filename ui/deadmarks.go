package ui

import (
	"github.com/leasetop/leasetop/ui/safe"
)

// deadMarks are the dead letters that somebody chose, by one of three ways at a time:
// one by one, group by group, or all that match a filter. They hold on to what they name,
// whatever is listed meanwhile.
type deadMarks struct {
	jobs   map[int64]subject
	groups map[groupKey]int64 // and how many there were
	all    *allMarked
}

// allMarked is all that match a filter: those that do when something is done to them,
// counted then, not the rows that are loaded.
type allMarked struct {
	where   string // "" is all dead letters
	n       int64  // how many there were, where that was known
	atLeast bool
	known   bool
}

// Any tells whether anything is marked.
func (m *deadMarks) Any() bool { return len(m.jobs) > 0 || len(m.groups) > 0 || m.all != nil }

// Clear takes all marks away.
func (m *deadMarks) Clear() { *m = deadMarks{} }

// Unmark takes the marks of jobs away.
func (m *deadMarks) Unmark(ids []int64) {
	for _, id := range ids {
		delete(m.jobs, id)
	}
}

// ToggleJob marks a job, or takes its mark away.
func (m *deadMarks) ToggleJob(one subject) {
	if _, ok := m.jobs[one.id]; ok {
		delete(m.jobs, one.id)
		return
	}
	m.MarkJob(one)
}

// MarkJob marks a job.
func (m *deadMarks) MarkJob(one subject) {
	if m.jobs == nil {
		m.jobs = map[int64]subject{}
	}
	m.jobs[one.id] = one
}

// ToggleGroup marks a group, or takes its mark away.
func (m *deadMarks) ToggleGroup(key groupKey, n int64) {
	if _, ok := m.groups[key]; ok {
		delete(m.groups, key)
		return
	}
	m.MarkGroup(key, n)
}

// MarkGroup marks a group.
func (m *deadMarks) MarkGroup(key groupKey, n int64) {
	if m.groups == nil {
		m.groups = map[groupKey]int64{}
	}
	m.groups[key] = n
}

// unlike says why jobs, or groups, cannot be marked now; "" when they can.
func (m *deadMarks) unlike(groups bool) string {
	switch {
	case m.all != nil:
		return "all that match are marked: esc takes that away first"
	case groups && len(m.jobs) > 0:
		return plural(len(m.jobs), "job") + " marked in the list: esc takes the marks away first"
	case !groups && len(m.groups) > 0:
		return plural(len(m.groups), "group") + " marked: esc takes the marks away first"
	}
	return ""
}

// marked is the line that says what is marked; "" without marks.
func (d *deadTab) marked(w int) string {
	t, m := d.pic.theme, &d.marks
	text, out := "", 0
	switch {
	case m.all != nil:
		text = "all "
		if m.all.known {
			text += bounded(m.all.n, m.all.atLeast, 12) + " "
		}
		text += pick(m.all.where == "", "dead letters marked", "matching marked: "+masked(m.all.where))
	case len(m.groups) > 0:
		n := int64(0)
		for key, count := range m.groups {
			if one := d.groups.find(key); one != nil {
				count = one.Count
			} else {
				out++
			}
			n += count
		}
		text = plural(len(m.groups), "group") + " marked, " + plural(int(n), "job")
	case len(m.jobs) > 0:
		listed := 0
		for i := range d.list.rows {
			if _, ok := m.jobs[d.list.rows[i].ID]; ok {
				listed++
			}
		}
		out = len(m.jobs) - listed
		text = thousands(int64(len(m.jobs))) + " marked"
	}
	if out > 0 {
		text += ", " + thousands(int64(out)) + " not in sight"
	}
	line := ""
	if text != "" {
		line = " " + t.accent.draw("◆") + " " + t.text.draw(safe.Text(text))
	}
	if n := d.ranged(); n > 0 {
		line += " " + t.accent.draw("v") + " " + t.text.draw("a range of "+plural(n, "row")+": space marks it, esc drops it")
	}
	if line == "" {
		return ""
	}
	return safe.FitStyled(line, w)
}
