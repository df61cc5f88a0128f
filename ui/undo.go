package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
)

// undoable is an act of this dashboard that can be taken back: a plan, or a discard.
type undoable struct {
	plan int64   // 0: a discard
	ids  []int64 // of which these were moved to the archive
	what string  // "the discard of 60 jobs"
}

// done notes an act that can be taken back.
func (a *app) done(act undoable) { a.undoables = append(a.undoables, act) }

// latestUndoable is the act that u takes back: the latest of which there is something to
// take back. why says that there is none.
func (a *app) latestUndoable() (latest undoable, why string) {
	for _, one := range slices.Backward(a.undoables) {
		if one.plan == 0 {
			return one, ""
		}
		p := a.plans.of(one.plan).plan
		is := planUndoable(&p)
		if is == "" {
			return one, ""
		}
		if why == "" {
			why = fmt.Sprintf("plan %d, the latest of this dashboard: %s; l lists all plans", one.plan, is)
		}
	}
	if why == "" {
		why = "nothing was redriven or discarded from this dashboard yet: l lists all plans"
	}
	return undoable{}, why
}

// undoKey takes back the latest act of this dashboard.
func (a *app) undoKey() action {
	latest, why := a.latestUndoable()
	one := key("u", "", "take back the latest redrive or discard of this dashboard, after asking: of a redrive, the jobs that nobody has claimed yet", func() tea.Cmd {
		if latest.plan != 0 {
			return a.askUndo(latest.plan)
		}
		a.ask(a.newRestore(latest))
		return nil
	}).unless(a.readOnly()).unless(why)
	one.out = len(a.undoables) == 0
	return one
}

// undoes says that u takes back what was just done, where it does.
func (a *app) undoes() string {
	if one, ok := find(a.keys(), "u"); ok && one.why == "" {
		return " · u undoes"
	}
	return ""
}

// newRestore asks whether to take back a discard.
func (a *app) newRestore(act undoable) *confirm {
	n := len(act.ids)
	return &confirm{
		title:   strings.ToUpper("UNDO " + act.what),
		subject: func() []string { return []string{a.pic.theme.strong.draw(act.what)} },
		says:    "Just " + pick(n == 1, "this job is", "these "+thousands(int64(n))+" jobs are") + " taken out of the archive again: dead letters as before, with all they were. Those that somebody has restored or purged meanwhile are skipped.",
		yes:     "restore " + plural(n, "job"), no: pick(n == 1, "leave it", "leave them"),
		do: func() tea.Cmd { return a.restore(act) },
	}
}

// restoredMsg is what came of a restore.
type restoredMsg struct {
	act  undoable
	done queue.Done
	err  error
}

// restore brings jobs back from the archive, as one entry of the operator log.
func (a *app) restore(act undoable) tea.Cmd {
	n := len(act.ids)
	a.say(quiet, "restoring "+plural(n, "job")+"…")
	entry := queue.Act{By: a.cfg.By, What: "restore", Reason: "undo of " + act.what, IDs: act.ids[:min(n, 100)], Asked: int64(n)}
	return a.ioWithin(startPatience, func(ctx context.Context) tea.Msg {
		m := restoredMsg{act: act}
		m.err = a.cfg.Jobs.Logged(ctx, entry, func(ctx context.Context) (int, int, error) {
			for batch := range slices.Chunk(act.ids, discardBatch) {
				done, err := a.cfg.Jobs.Restore(ctx, a.cfg.By, batch...)
				m.done.IDs = append(m.done.IDs, done.IDs...)
				m.done.Skipped = append(m.done.Skipped, done.Skipped...)
				if err != nil {
					return len(m.done.IDs), len(m.done.Skipped), err
				}
			}
			return len(m.done.IDs), len(m.done.Skipped), nil
		})
		a.cfg.Feed.Refresh()
		return m
	})
}

// restored says what came of a restore.
func (a *app) restored(m restoredMsg) {
	if m.err == nil {
		a.undoables = slices.DeleteFunc(a.undoables, func(one undoable) bool {
			return one.plan == 0 && slices.Equal(one.ids, m.act.ids)
		})
	}
	a.acted(deadSet{})
	a.report("restored "+thousands(int64(len(m.done.IDs)))+": dead letters again", len(m.done.Skipped), m.done.Skipped, m.err)
}

// archivedMsg is what is still in the archive of what an entry of the operator log says
// was discarded.
type archivedMsg struct {
	act int64
	ids []int64
	err error
}

// undoActKey takes back what an entry of the operator log is about: just what that redrive
// or discard did, whoever did it.
func (a *app) undoActKey(act *queue.Act) action {
	why := "only a redrive and a discard can be undone"
	switch {
	case act == nil:
		why = "no entry under the cursor"
	case act.Plan != 0, act.What == "discard":
		why = ""
	}
	one := key("u", "undo", "take back the redrive or the discard of the entry under the cursor, after asking", func() tea.Cmd {
		if act.Plan != 0 {
			return a.askUndo(act.Plan)
		}
		id := act.ID
		return a.io(func(ctx context.Context) tea.Msg {
			ids, err := a.cfg.Jobs.ArchivedByAct(ctx, id)
			return archivedMsg{id, ids, err}
		})
	})
	return one.unless(a.readOnly()).never(why)
}

// foundArchived asks whether to restore what was found.
func (a *app) foundArchived(m archivedMsg) {
	switch {
	case m.err != nil:
		a.say(danger, m.err.Error())
	case len(m.ids) == 0:
		a.say(caution, fmt.Sprintf("of what entry %d discarded nothing is in the archive any more", m.act))
	default:
		a.ask(a.newRestore(undoable{ids: m.ids, what: fmt.Sprintf("the discard of %s, entry %d", plural(len(m.ids), "job"), m.act)}))
	}
}
