package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/editor"
	"github.com/leasetop/leasetop/ui/mask"
	"github.com/leasetop/leasetop/ui/safe"
)

// Editing says how a payload is edited.
type Editing struct {
	ID      int64
	Payload json.RawMessage // nil: in the operator's editor
	Redrive bool
	Why     string
	DryRun  bool
}

// Edit replaces the payload of a job that waits or is a dead letter, with what it is
// given or what the operator's editor makes of it, and prints what it did. Whatever
// goes wrong, a text that was typed is kept in a file that the error names.
func Edit(ctx context.Context, p Printer, q *queue.Queue, e Editing) error {
	job, err := editable(ctx, q, e)
	if err != nil {
		return err
	}
	if e.Payload != nil {
		return p.edit(ctx, q, e, job, e.Payload)
	}
	program, err := editor.Find()
	if err != nil {
		return err
	}
	was := strings.TrimRight(readable(job.Payload), "\n") + "\n"
	draft, err := editor.NewDraft(fmt.Sprintf("job-%d.json", e.ID), was)
	if err != nil {
		return fmt.Errorf("%w: `leasetop edit %d --payload @FILE` takes the new payload from a file", err, e.ID)
	}
	if _, secrets := mask.JSON(string(job.Payload)); secrets > 0 { // the editor shows them
		seen := queue.Act{By: Operator(), What: "reveal", Reason: "to edit the payload", IDs: []int64{e.ID}}
		if err := q.Logged(ctx, seen, func(context.Context) (int, int, error) { return 1, 0, nil }); err != nil {
			draft.Remove()
			return err
		}
	}
	for _, path := range editor.Sweep() {
		fmt.Fprintf(p.Err, "leasetop: an edit that was killed left its text in %s: delete it when you are done\n", path)
	}
	// An interrupt that is typed in the editor is the editor's, and no end of the command.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	ctx, stop := signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err = typed(ctx, program, draft); err == nil {
		err = p.editTo(ctx, q, e, job, draft, was)
	}
	if err != nil && (draft.Changed() || draft.Beside()) {
		redrive := ""
		if e.Redrive {
			redrive = " --redrive"
		}
		return fmt.Errorf("%w\nYour text is kept: mend it and run `leasetop edit %d%s --payload @%s`", err, e.ID, redrive, draft.Path)
	}
	draft.Remove()
	return err
}

// editable reads the job, if it is one that can be edited.
func editable(ctx context.Context, q *queue.Queue, e Editing) (*queue.Job, error) {
	job, err := q.Get(ctx, e.ID)
	switch {
	case errors.Is(err, queue.ErrNotFound):
		if _, _, archived := q.PreviewArchived(ctx, e.ID, 0); archived == nil {
			return nil, fmt.Errorf("job %d is discarded: `leasetop restore %[1]d` brings it back to be edited", e.ID)
		}
		return nil, err
	case err != nil:
		return nil, err
	case job.Status.IsDeadLetter():
		return job, nil
	case job.Status != queue.Pending:
		return nil, fmt.Errorf("job %d is %s: only what waits and dead letters can be edited", e.ID, job.Status)
	case e.Redrive:
		return nil, fmt.Errorf("job %d is pending, and no dead letter to be redriven: leave --redrive out", e.ID)
	}
	return job, nil
}

// typed has the operator edit the draft.
func typed(ctx context.Context, program editor.Editor, draft *editor.Draft) error {
	session := editor.NewSession(ctx, program, draft)
	session.SetStdin(os.Stdin)
	session.SetStdout(os.Stdout)
	if err := session.Run(); err != nil {
		return fmt.Errorf("the editor %s: %w", program.Name, err)
	}
	return nil
}

// editTo writes what the draft has become.
func (p Printer) editTo(ctx context.Context, q *queue.Queue, e Editing, job *queue.Job, draft *editor.Draft, was string) error {
	text, err := draft.Text()
	switch {
	case err != nil:
		return err
	case strings.TrimSpace(text) == strings.TrimSpace(was):
		fmt.Fprintln(p.Err, "leasetop: the text is as it was: nothing was changed")
		return p.edited(nil, nil, e)
	}
	if problem := editor.Check(text); problem != nil {
		return fmt.Errorf("the payload is no JSON: %w\n%s\n%s^", problem, safe.Text(problem.Says), strings.Repeat(" ", indentOf(problem)))
	}
	return p.edit(ctx, q, e, job, json.RawMessage(text))
}

// indentOf is how many cells stand before what is wrong in its line.
func indentOf(p *editor.Problem) int {
	before := []rune(p.Says)
	return safe.Width(safe.Text(string(before[:min(p.Column-1, len(before))])))
}

// edit writes a payload and prints that it did; in a dry run it prints what it would.
func (p Printer) edit(ctx context.Context, q *queue.Queue, e Editing, job *queue.Job, payload json.RawMessage) error {
	if e.DryRun {
		return p.tryEdit(e, job, payload)
	}
	what := "edit"
	if e.Redrive {
		what = "edit and redrive"
	}
	changed := false
	err := entered(ctx, q, what, Chosen{IDs: []int64{e.ID}, Why: e.Why}, func(ctx context.Context) (done, skipped int, err error) {
		changed, err = q.EditPayload(ctx, Operator(), queue.Edit{ID: e.ID, Was: job.Payload, Payload: payload, Reason: e.Why, Redrive: e.Redrive})
		switch {
		case err != nil:
			return 0, 0, err
		case !changed && !e.Redrive:
			return 0, 1, nil
		}
		return 1, 0, nil
	})
	if err != nil {
		return err
	}
	var edited, redriven []int64
	if changed {
		edited = []int64{e.ID}
	} else {
		fmt.Fprintln(p.Err, "leasetop: the payload is the same: it was not edited")
	}
	if e.Redrive {
		redriven = []int64{e.ID}
	}
	return p.edited(edited, redriven, e)
}

// edited prints which jobs were edited, and which redriven.
func (p Printer) edited(edited, redriven []int64, e Editing) error {
	if p.Format == JSON {
		return line(p.Out, map[string]any{"edited": list(edited), "redriven": list(redriven)})
	}
	text := fmt.Sprintf("edited %d", len(edited))
	if e.Redrive {
		text += fmt.Sprintf(", redriven %d", len(redriven))
	}
	_, err := fmt.Fprintln(p.Out, text)
	return err
}

// tryEdit prints what an edit would do.
func (p Printer) tryEdit(e Editing, job *queue.Job, payload json.RawMessage) error {
	if p.Format == JSON {
		return line(p.Out, map[string]any{"dry_run": true, "id": e.ID, "status": job.Status, "was": job.Payload, "payload": payload, "redrive": e.Redrive})
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "job %d, which is %s, would be edited", e.ID, job.Status)
	if e.Redrive {
		b.WriteString(" and redriven")
	}
	var v veil
	section(&b, "from", v.payload(readable(job.Payload)))
	section(&b, "to", v.payload(readable(payload)))
	if v.masked > 0 {
		fmt.Fprintf(&b, "\nsecrets are masked: `leasetop show %d --reveal` prints those that are there\n", e.ID)
	}
	b.WriteString("\nNothing was changed.\n")
	_, err := p.Out.Write(b.Bytes())
	return err
}
