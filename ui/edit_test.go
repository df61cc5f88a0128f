package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/editor"
	"github.com/leasetop/leasetop/ui/term"
)

// editing opens the page of a job and its payload in an editor, which is the test.
func editing(t *testing.T, w *world, j *queue.Job, width, height int) *stage {
	t.Helper()
	t.Setenv("VISUAL", "true")
	t.Setenv("TMPDIR", t.TempDir())
	s := atJob(t, w, j, width, height)
	s.press("e")
	if s.editor != 1 || s.app.drafts.open == nil {
		t.Fatalf("the editor was called %d times:\n%s", s.editor, s.screen().Text())
	}
	return s
}

// types has the editor leave a text, and end.
func (s *stage) types(text string, ended error) {
	s.t.Helper()
	e := s.app.drafts.open
	if err := os.WriteFile(e.draft.Path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.send(editorMsg{e, ended})
}

// leftBehind are the files that are left of edits.
func leftBehind(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(os.TempDir(), "leasetop-edit-*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// CASES "Numbers": unchanged in edit.
func TestEditedPayloadIsSavedAsItIsWritten(t *testing.T) {
	for _, c := range []struct {
		key     string
		redrive bool
		says    string
	}{
		{"s", false, "✓ edited job 88007; the original is kept"},
		{"r", true, "✓ edited job 88007; the original is kept; redriven: pending again"},
	} {
		w := newWorld()
		j := sampleJob(88007)
		j.Payload = json.RawMessage(`{"to": "ann@exmaple.com", "n": [1970670598291982290, 1e400, -0]}`)
		s := editing(t, w, j, 120, 36)
		given, err := s.app.drafts.open.draft.Text()
		if want := "{\n  \"to\": \"ann@exmaple.com\",\n  \"n\": [\n    1970670598291982290,\n    1e400,\n    -0\n  ]\n}\n"; err != nil || given != want {
			t.Fatalf("the editor was given %q, %v; want %q", given, err, want)
		}
		s.types(strings.Replace(given, "exmaple", "example", 1), nil)
		s.sees("EDITED PAYLOAD OF JOB 88007", `-   "to": "ann@exmaple.com",`, `+   "to": "ann@example.com",`, "1 line of the payload changed")
		if len(w.edits) > 0 {
			t.Fatal("it was written before anybody said so")
		}
		s.later(c.key)
		s.sees(c.says)
		if len(w.edits) != 1 {
			t.Fatalf("%d edits", len(w.edits))
		}
		e := w.edits[0]
		if e.ID != 88007 || e.Redrive != c.redrive || string(e.Was) != string(j.Payload) ||
			string(e.Payload) != `{"to":"ann@example.com","n":[1970670598291982290,1e400,-0]}` {
			t.Errorf("%+v", e)
		}
		if a := s.entered(); a.What != pick(c.redrive, "edit and redrive", "edit") || a.Done != 1 || a.IDs[0] != 88007 {
			t.Errorf("entered: %+v", a)
		}
		if left := leftBehind(t); len(left) > 0 || s.app.drafts.open != nil {
			t.Errorf("left: %v", left)
		}
	}
}

func TestEditThatIsNoJSONGoesOnWithNothingLost(t *testing.T) {
	w := newWorld()
	s := editing(t, w, sampleJob(88007), 120, 36)
	s.types("{\n  \"to\": \"ann\",\n  \"n\": 1,,\n}\n", nil)
	s.sees("This is no JSON: line 3, column 10", `"n": 1,,`, "nothing you typed is lost")
	s.later("s")
	s.sees("no JSON yet")
	s.later("e")
	if s.editor != 2 {
		t.Fatalf("the editor was called %d times", s.editor)
	}
	if text, _ := s.app.drafts.open.draft.Text(); !strings.Contains(text, `1,,`) {
		t.Errorf("the editor finds %q", text)
	}
	s.types(`{"to": "ann"}`, nil)
	s.later("s")
	s.sees("✓ edited job 88007")
}

func TestEditThatChangesNothingWritesNothing(t *testing.T) {
	w := newWorld()
	s := editing(t, w, sampleJob(88007), 120, 36)
	given, _ := s.app.drafts.open.draft.Text()
	s.types(strings.ReplaceAll(given, "  ", "\t"), nil) // blanks mean nothing
	s.sees("nothing was changed in the payload of job 88007")
	s = editing(t, w, sampleJob(88007), 120, 36)
	given, _ = s.app.drafts.open.draft.Text()
	s.types(given, errors.New("exit status 1"))
	s.sees("true ended with exit status 1: nothing was changed")
	if left := leftBehind(t); len(left) > 0 || len(w.edits) > 0 {
		t.Errorf("left %v, edits %v", left, w.edits)
	}
}

func TestEditorThatCrashedLosesNothing(t *testing.T) {
	s := editing(t, newWorld(), sampleJob(88007), 120, 36)
	s.types(`{"to": "bob"}`, errors.New("signal: killed"))
	s.sees("true ended with signal: killed; this is what it left")
	s.later("G")
	s.sees(`+   "to": "bob"`)
	s.later("s")
	s.sees("✓ edited job 88007")
}

func TestEditThatComesTooLateIsKept(t *testing.T) {
	w := newWorld()
	s := editing(t, w, sampleJob(88007), 120, 36)
	s.types(`{"to": "bob"}`, nil)
	w.refuses = fmt.Errorf("job 88007: %w", queue.ErrEdited)
	path := s.app.drafts.open.draft.Path
	s.later("s")
	s.sees("NOT WRITTEN: JOB 88007", "Somebody else changed", filepath.Base(path))
	if text, err := os.ReadFile(path); err != nil || string(text) != `{"to": "bob"}` {
		t.Errorf("%s holds %q, %v", path, text, err)
	}
	s.later("enter")
	s.seesNot("NOT WRITTEN")
}

func TestEditThatTheDatabaseRefusesCanBeTriedAgain(t *testing.T) {
	w := newWorld()
	s := editing(t, w, sampleJob(88007), 120, 36)
	s.types(`{"to": "bob"}`, nil)
	w.refuses = errors.New("unsupported Unicode escape sequence")
	s.later("s")
	s.sees("not written: unsupported Unicode escape sequence", "Your text is kept", "save")
	w.refuses = nil
	s.later("s")
	s.sees("✓ edited job 88007")
}

func TestEditIsThrownAwayOnlyWhenThatIsConfirmed(t *testing.T) {
	w := newWorld()
	s := editing(t, w, sampleJob(88007), 120, 36)
	s.types(`{"to": "bob"}`, nil)
	s.later("esc")
	s.sees("THROW THE EDIT AWAY")
	s.later("esc")
	s.sees("EDITED PAYLOAD")
	s.later("esc")
	s.later("y")
	s.sees("thrown away: nothing was written")
	s.seesNot("EDITED PAYLOAD")
	if left := leftBehind(t); len(left) > 0 || len(w.edits) > 0 || s.app.drafts.open != nil {
		t.Errorf("left %v, edits %v", left, w.edits)
	}
}

// What comes back and cannot be looked at stays in its file, which is named.
func TestEditThatCannotBeReadIsKept(t *testing.T) {
	for name, leave := range map[string]func(path string) error{
		"larger than 16 MB": func(path string) error { return os.WriteFile(path, make([]byte, 17<<20), 0o600) },
		"no file":           func(path string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)) },
		"beside the file":   func(path string) error { return os.WriteFile(path+".swp", []byte("half"), 0o600) },
	} {
		s := editing(t, newWorld(), sampleJob(88007), 120, 36)
		e := s.app.drafts.open
		if err := leave(e.draft.Path); err != nil {
			t.Fatal(err)
		}
		s.send(editorMsg{e, errors.New("signal: killed")})
		s.sees("NOT WRITTEN: JOB 88007", name, "Your text is kept", filepath.Base(e.draft.Path))
		if len(leftBehind(t)) == 0 || s.app.drafts.open != nil {
			t.Errorf("%s: left %v", name, leftBehind(t))
		}
	}
}

// Whoever edits a payload sees its secrets, so that is entered first; the summary does not
// show them to others.
func TestSecretsInAnEditAreEnteredAndNotShown(t *testing.T) {
	w := newWorld()
	s := editing(t, w, secretive(88007), 120, 36)
	if a := s.entered(); a.What != "reveal" || a.Reason != "to edit the payload" {
		t.Errorf("entered: %+v", a)
	}
	given, _ := s.app.drafts.open.draft.Text()
	if !strings.Contains(given, "s3cret-one") {
		t.Errorf("the editor was given %s", given)
	}
	s.types(strings.Replace(given, "s3cret-one", "s3cret-new", 1), nil)
	s.sees("only values of secrets changed", "1 secret value changed: ")
	s.seesNot("0 lines")
	s.seesNot("s3cret")
	s.later("s")
	if !strings.Contains(string(w.edits[0].Payload), "s3cret-new") {
		t.Errorf("saved %s", w.edits[0].Payload)
	}

	w.logDown = errors.New("permission denied for table operator_log")
	s = atJob(t, w, secretive(88007), 120, 36)
	s.press("e")
	s.sees("not edited: permission denied for table operator_log")
	if s.editor != 0 || len(leftBehind(t)) > 0 {
		t.Errorf("the editor was called %d times, left %v", s.editor, leftBehind(t))
	}
}

// A mask hides that a secret changed: the review counts and names those that did.
func TestReviewCountsTheSecretsThatChanged(t *testing.T) {
	for _, c := range []struct {
		change []string // old, new
		sees   string
	}{
		{[]string{"hunter2", "hunter3", "s3cret", "s3cret2", "ann", "bob"}, "1 line of the payload changed, and 2 secret values changed: password, deep.api_key."},
		{[]string{"hunter2", "hunter3", "s3cret", "s3cret2"}, "2 secret values changed: password, deep.api_key."},
		{[]string{"ann", "bob"}, "1 line of the payload changed. The original is kept."},
		{[]string{"hunter2", `a much longer one`, "\n", "\n\t "}, "1 secret value changed: password."},
	} {
		j := sampleJob(88007)
		j.Payload = json.RawMessage(`{"user": "ann", "password": "hunter2", "deep": {"api_key": "s3cret", "n": 1}}`)
		w := newWorld()
		s := editing(t, w, j, 120, 36)
		given, _ := s.app.drafts.open.draft.Text()
		s.types(strings.NewReplacer(c.change...).Replace(given), nil)
		s.sees(c.sees)
		s.seesNot("hunter", "s3cret", "0 lines")
		if shown := strings.Contains(s.screen().Text(), "only values of secrets changed"); shown == strings.Contains(c.sees, "of the payload") {
			t.Errorf("%q: only secrets: %t", c.sees, shown)
		}
		s.app.drafts.leave()
	}
}

func TestWhatCannotBeEditedSaysWhy(t *testing.T) {
	t.Setenv("VISUAL", "true")
	t.Setenv("TMPDIR", t.TempDir())
	large := sampleJob(88007)
	large.Payload = json.RawMessage(`"` + strings.Repeat("x", editMost) + `"`)
	s := atJob(t, newWorld(), large, 120, 36)
	s.press("e")
	s.sees("too many to edit here")
	running := sampleJob(88007)
	running.Status, running.DiedAt, running.LockedBy = queue.Processing, nil, owner("w1", 3)
	s = atJob(t, newWorld(), running, 120, 36)
	s.press("e")
	s.sees("edit: a worker has its payload")
	t.Setenv("VISUAL", "no-such-editor")
	s = atJob(t, newWorld(), sampleJob(88007), 120, 36)
	s.press("e")
	s.sees(`not edited: VISUAL is "no-such-editor"`)
	if s.editor != 0 || len(leftBehind(t)) > 0 {
		t.Errorf("the editor was called %d times, left %v", s.editor, leftBehind(t))
	}
}

// An edit that is under way when the program ends is kept where something was typed.
func TestEditUnderWayAtTheEndIsKept(t *testing.T) {
	s := editing(t, newWorld(), sampleJob(88007), 120, 36)
	if says := s.app.drafts.leave(); len(says) > 0 || len(leftBehind(t)) > 0 {
		t.Errorf("nothing was typed: %v, left %v", says, leftBehind(t))
	}
	s = editing(t, newWorld(), sampleJob(88007), 120, 36)
	s.types(`{"to": `, nil)
	says := s.app.drafts.leave()
	if left := leftBehind(t); len(left) != 1 || len(says) != 1 || !strings.Contains(says[0], left[0]) {
		t.Errorf("left %v, says %v", left, says)
	}
}

func TestEditReviewIsDrawn(t *testing.T) {
	t.Parallel()
	edited := strings.Replace(strings.Replace(byLine(sampleJob(1).Payload), "jane@", "june@", 1), `"sku": "A-17",`, `"sku": "A-18", "gift": true,`, 1)
	for _, size := range [][2]int{{120, 36}, {80, 24}, {60, 20}} {
		for name, text := range map[string]string{"changes": edited, "mistake": strings.Replace(edited, `"retry": null`, `"retry": nil`, 1)} {
			t.Run(fmt.Sprintf("%s %dx%d", name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				s := atJob(t, newWorld(), sampleJob(88007), size[0], size[1])
				e := &edit{id: 88007, status: queue.Dead, text: byLine(sampleJob(88007).Payload), editor: editor.Editor{Name: "vi"}}
				s.send(reviewMsg{edit: e, text: text, problem: editor.Check(text)})
				s.pass(swallow * 2)
				s.send(wakeMsg{})
				term.Golden(t, s.screen())
			})
		}
	}
}

func TestEditFromTheListOfDeadLetters(t *testing.T) {
	t.Setenv("VISUAL", "true")
	t.Setenv("TMPDIR", t.TempDir())
	s := newStage(t, newWorld(), 120, 36)
	s.press("3", "tab")
	s.press("e")
	if s.editor != 1 || s.app.drafts.open == nil || s.app.drafts.open.id != 88007 {
		t.Fatalf("the editor was called %d times:\n%s", s.editor, s.screen().Text())
	}
	s.app.drafts.leave()
}
