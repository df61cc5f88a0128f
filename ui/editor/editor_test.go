package editor

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// script makes a program of a shell script.
func script(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// edit has the editor of the environment change a text.
func edit(t *testing.T, text string) (string, error) {
	t.Helper()
	e, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDraft("job-7.json", text)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Remove()
	s := NewSession(t.Context(), e, d)
	s.SetStdin(strings.NewReader(""))
	s.SetStdout(&bytes.Buffer{})
	failed := s.Run()
	after, err := d.Text()
	if err != nil {
		t.Fatal(err)
	}
	return after, failed
}

func TestEditorIsTheOneThatWasAskedFor(t *testing.T) {
	folder := t.TempDir()
	plain := script(t, filepath.Join(folder, "plain"), `echo edited by plain > "$1"`)
	blank := script(t, filepath.Join(folder, "with blank"), `echo edited by blank > "$1"`)
	second := script(t, filepath.Join(folder, "second"), `echo edited by $1 > "$2"`)
	for _, c := range []struct{ visual, editor, want string }{
		{plain, "", "edited by plain"},
		{"", plain, "edited by plain"},
		{blank, plain, "edited by blank"},
		{second + " --wait", plain, "edited by --wait"},
		{"'" + blank + "'", "", "edited by blank"},
		{"X=y " + second + " twice", "", "edited by twice"},
	} {
		t.Setenv("VISUAL", c.visual)
		t.Setenv("EDITOR", c.editor)
		if got, err := edit(t, "before"); err != nil || strings.TrimSpace(got) != c.want {
			t.Errorf("VISUAL=%q EDITOR=%q: %q, %v; want %q", c.visual, c.editor, got, err, c.want)
		}
	}
}

func TestEditorThatIsMissingIsNamed(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "no-such-editor --wait")
	if _, err := Find(); err == nil || !strings.Contains(err.Error(), `EDITOR is "no-such-editor --wait"`) || !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("%v", err)
	}
	t.Setenv("EDITOR", "")
	t.Setenv("PATH", t.TempDir())
	if _, err := Find(); !errors.Is(err, ErrNone) {
		t.Errorf("without any: %v", err)
	}
}

func TestEditorThatFailsLosesNothing(t *testing.T) {
	t.Setenv("VISUAL", script(t, filepath.Join(t.TempDir(), "crash"), `echo half > "$1"; kill -9 $$`))
	got, err := edit(t, "before")
	if err == nil || strings.TrimSpace(got) != "half" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestDraftIsPrivateAndLeavesNothingBehind(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	d, err := NewDraft("job-7.json", "{}")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{d.Path: 0o600, filepath.Dir(d.Path): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, info, err, want)
		}
	}
	if d.Changed() {
		t.Error("it is changed before anybody did")
	}
	for _, path := range []string{d.Path, d.Path + "~", filepath.Join(filepath.Dir(d.Path), ".job-7.json.swp")} {
		if err := os.WriteFile(path, []byte("other"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !d.Changed() {
		t.Error("a change is not seen")
	}
	d.Remove()
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

func TestProblemsAreFoundWhereTheyAre(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{}":                                  "",
		" [1e400, -0, 1970670598291982290]\n": "",
		`"text"`:                              "",
		"":                                    "line 1, column 1: there is no value",
		" \n ":                                "line 2, column 2: there is no value",
		"{\n  \"a\": 1,\n  \"bö\": tru\n}":    "line 3, column 12: invalid character '\\n' in literal true (expecting 'e')",
		"{\n  \"ö\": 1,,\n}":                  "line 2, column 10: invalid character ',' looking for beginning of object key string",
		"{\"a\": [1, 2":                       "line 1, column 12: it ends in the middle",
		"{}\n{}":                              "line 2, column 1: something follows the value",
		"{\"a\": \"\xff\"}":                   "line 1, column 8: not UTF-8",
		"[1,]":                                "line 1, column 4: invalid character ']' looking for beginning of value",
	} {
		got := ""
		if p := Check(text); p != nil {
			got = p.Error()
		}
		if got != want {
			t.Errorf("%q: %s; want %s", text, got, want)
		}
	}
	if p := Check("{\n  \"a\": x\n}"); p == nil || p.Says != `  "a": x` {
		t.Errorf("%+v", p)
	}
}

// What an editor leaves in place of the file may be anything: nothing hangs, it is refused
// with a reason, and nothing is taken for unchanged.
func TestWhatIsNoFileIsRefusedAndKept(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, c := range []struct{ leaves, says string }{
		{`rm "$1"; mkfifo "$1"`, "no file"},
		{`rm "$1"; mkdir "$1"`, "no file"},
		{`rm "$1"; ln -s /etc/passwd "$1"`, "a link"},
		{`head -c 17000000 /dev/zero > "$1"`, "larger than 16 MB"},
	} {
		t.Setenv("VISUAL", script(t, filepath.Join(t.TempDir(), "odd"), c.leaves))
		e, err := Find()
		if err != nil {
			t.Fatal(err)
		}
		d, err := NewDraft("job-7.json", "{}")
		if err != nil {
			t.Fatal(err)
		}
		if err := NewSession(t.Context(), e, d).Run(); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Text(); err == nil || !strings.Contains(err.Error(), c.says) || !d.Changed() {
			t.Errorf("%s: %v, changed %t", c.leaves, err, d.Changed())
		}
		d.Remove()
	}
	if _, err := NewDraft("job-7.json", strings.Repeat("x", draftMost+1)); err == nil || !strings.Contains(err.Error(), "16 MB") {
		t.Errorf("too large to come back: %v", err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
