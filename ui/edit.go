package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/editor"
	"github.com/leasetop/leasetop/ui/mask"
)

// editMost is how many characters of a payload are edited here.
const editMost = 1 << 20

// edit is a payload on its way through the operator's editor. It is read whole, given to
// the editor in a private file, looked at when it comes back (editreview.go), and written
// if nobody else has changed it since. What was typed is never lost without a word: where
// it cannot be written the file stays, and is named.
type edit struct {
	id     int64
	status queue.Status // when it began
	was    json.RawMessage
	text   string // what the editor was given first
	editor editor.Editor
	draft  *editor.Draft
}

// program is the editor's name, in short.
func (e *edit) program() string { return brief(filepath.Base(e.editor.Name), 24) }

// drafts is the edit that is under way; there is one at a time.
type drafts struct {
	open *edit
	left []string // files of edits of programs that were killed
}

// leave ends the edit with the program. A draft that would be lost stays, and is named.
func (d *drafts) leave() (says []string) {
	if len(d.left) > 0 {
		says = append(says, "an edit that was killed left its text in "+strings.Join(d.left, ", ")+": delete it when you are done")
	}
	e := d.open
	if e == nil {
		return says
	}
	d.open = nil
	if e.draft.Changed() {
		return append(says, fmt.Sprintf("the edited payload of job %d was not written; it is in %s", e.id, e.draft.Path))
	}
	e.draft.Remove()
	return says
}

// editKey has the operator edit a job's payload.
func editKey(a *app, job *queue.Job) action {
	return key("e", "edit", "edit the payload in $EDITOR; it is looked at before it is written, and the original is kept", func() tea.Cmd {
		id := job.ID
		a.say(quiet, fmt.Sprintf("reading the payload of job %d…", id))
		d, ok := a.page().(*detail)
		revealed := ok && d.id == id && d.revealed
		return a.io(func(ctx context.Context) tea.Msg { return a.beginEdit(ctx, id, revealed) })
	}).alone().unless(a.readOnly()).unless(pick(a.drafts.open == nil, "", "another edit is under way"))
}

// editMsg is a payload that is ready for the editor, or why there is none.
type editMsg struct {
	edit *edit
	left []string // see [editor.Sweep]
	err  error
}

// beginEdit reads the payload and puts it into a file. Whoever edits it sees its
// secrets, which is entered in the operator log first.
func (a *app) beginEdit(ctx context.Context, id int64, revealed bool) editMsg {
	e, err := editor.Find()
	if err != nil {
		return editMsg{err: err}
	}
	job, length, err := a.cfg.Jobs.Preview(ctx, id, editMost)
	switch {
	case err != nil:
		return editMsg{err: err}
	case length > editMost:
		return editMsg{err: fmt.Errorf("the payload of job %d has %s characters, too many to edit here: `leasetop edit %d --payload @FILE` takes the new one from a file", id, thousands(int64(length)), id)}
	case job.Status != queue.Pending && !job.Status.IsDeadLetter():
		return editMsg{err: fmt.Errorf("job %d is %s by now", id, job.Status)}
	}
	if _, secrets := mask.JSON(string(job.Payload)); secrets > 0 && !revealed {
		if err := a.cfg.Jobs.Logged(ctx, reveal(a.cfg.By, id, "to edit the payload"), nothing); err != nil {
			return editMsg{err: err}
		}
	}
	text := byLine(job.Payload)
	draft, err := editor.NewDraft(fmt.Sprintf("job-%d.json", id), text)
	if err != nil {
		return editMsg{err: err}
	}
	return editMsg{edit: &edit{id: id, status: job.Status, was: job.Payload, text: text, editor: e, draft: draft}, left: editor.Sweep()}
}

// byLine breaks a payload into lines. Nothing else changes: numbers stay as they are written.
func byLine(payload json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, payload, "", "  ") != nil { // ten thousand levels deep
		return string(payload) + "\n"
	}
	return b.String() + "\n"
}

func (a *app) editReady(m editMsg) tea.Cmd {
	if m.err != nil {
		a.say(danger, "not edited: "+m.err.Error())
		return nil
	}
	if a.drafts.open != nil { // two keys, one after the other
		draft := m.edit.draft
		return a.io(func(context.Context) tea.Msg { draft.Remove(); return nil })
	}
	a.flash = flash{}
	a.drafts.open, a.drafts.left = m.edit, m.left
	return a.openEditor(m.edit)
}

// openEditor gives the terminal to the editor.
func (a *app) openEditor(e *edit) tea.Cmd {
	return tea.Exec(editor.NewSession(a.ctx, e.editor, e.draft), func(err error) tea.Msg { return editorMsg{e, err} })
}

// editorMsg is that the editor has ended.
type editorMsg struct {
	edit *edit
	err  error
}

// editorEnded reads what the editor left.
func (a *app) editorEnded(m editorMsg) tea.Cmd {
	return a.io(func(context.Context) tea.Msg {
		text, err := m.edit.draft.Text()
		if err != nil {
			return reviewMsg{edit: m.edit, err: err, kept: m.edit.draft.Changed() || m.err != nil && m.edit.draft.Beside()}
		}
		r := reviewMsg{edit: m.edit, text: text, ended: m.err, problem: editor.Check(text)}
		if r.problem == nil {
			r.same = compact(text) == compact(m.edit.text)
			r.kept = r.same && m.err != nil && m.edit.draft.Beside()
		}
		return r
	})
}

// compact is a JSON text without the blanks that mean nothing.
func compact(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}

// reviewMsg is what came back from the editor.
type reviewMsg struct {
	edit    *edit
	text    string
	ended   error // how the editor ended, when badly
	problem *editor.Problem
	same    bool  // nothing was changed
	err     error // it could not be read
	kept    bool  // there is something to keep that is not under review
}

func (a *app) review(m reviewMsg) tea.Cmd {
	switch {
	case m.err != nil && m.kept:
		a.drafts.open = nil
		a.ask(newLate(editedMsg{edit: m.edit, err: m.err}))
	case m.err != nil:
		a.drafts.open = nil
		a.say(danger, m.err.Error())
	case m.same && m.kept:
		a.drafts.open = nil
		a.ask(newLate(editedMsg{edit: m.edit, err: fmt.Errorf("%s ended with %w, and left something beside the file", m.edit.program(), m.ended)}))
	case m.same:
		a.drafts.open = nil
		if m.ended != nil {
			a.say(danger, m.edit.program()+" ended with "+m.ended.Error()+": nothing was changed")
		} else {
			a.say(quiet, fmt.Sprintf("nothing was changed in the payload of job %d", m.edit.id))
		}
		draft := m.edit.draft
		return a.io(func(context.Context) tea.Msg { draft.Remove(); return nil })
	default:
		a.ask(newReview(a, m))
	}
	return nil
}

// editedMsg is what came of writing an edited payload.
type editedMsg struct {
	edit    *edit
	redrive bool
	changed bool
	err     error
}

// writeEdit writes the new payload, and brings the job back if that is wanted.
func (a *app) writeEdit(e *edit, text string, redrive bool) tea.Cmd {
	return a.io(func(ctx context.Context) tea.Msg {
		changed := false
		act := queue.Act{By: a.cfg.By, What: pick(redrive, "edit and redrive", "edit"), IDs: []int64{e.id}, Asked: 1}
		err := a.cfg.Jobs.Logged(ctx, act, func(ctx context.Context) (done, skipped int, err error) {
			if changed, err = a.cfg.Jobs.EditPayload(ctx, a.cfg.By, queue.Edit{ID: e.id, Was: e.was, Payload: json.RawMessage(compact(text)), Redrive: redrive}); err != nil {
				return 0, 0, err
			}
			e.draft.Remove()
			if !changed && !redrive {
				return 0, 1, nil
			}
			return 1, 0, nil
		})
		a.cfg.Feed.Refresh()
		return editedMsg{e, redrive, changed, err}
	})
}

func (a *app) edited(m editedMsg) {
	r, _ := a.dialogs.Top().(*reviewDialog)
	ours := r != nil && r.edit == m.edit
	a.changed(m.edit.id)
	switch {
	case m.err == nil:
		a.drafts.open = nil
		if ours {
			a.dialogs.Pop()
		}
		what := pick(m.changed, fmt.Sprintf("edited job %d; the original is kept", m.edit.id), fmt.Sprintf("the payload of job %d is the same: it was not edited", m.edit.id))
		a.say(okay, what+pick(m.redrive, "; redriven: pending again", ""))
	case errors.Is(m.err, queue.ErrEdited), errors.Is(m.err, queue.ErrNotFound):
		a.drafts.open = nil
		if ours {
			a.dialogs.Pop()
		}
		a.ask(newLate(m))
	case ours:
		r.writing, r.failed = false, m.err
	}
}
