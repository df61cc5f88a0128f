package editor

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// abandoned is the file of a draft whose program was killed.
func abandoned(t *testing.T, change func(path string) error) string {
	t.Helper()
	d, err := NewDraft("job-7.json", "{}")
	if err != nil {
		t.Fatal(err)
	}
	if err := change(d.Path); err != nil {
		t.Fatal(err)
	}
	if err := d.lock.Close(); err != nil { // as the kernel does
		t.Fatal(err)
	}
	return d.Path
}

func write(text string) func(string) error {
	return func(path string) error { return os.WriteFile(path, []byte(text), 0o600) }
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestSweepDeletesOnlyWhatNobodyWroteTo(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	untouched := abandoned(t, func(string) error { return nil })
	changed := abandoned(t, write(`{"to": "ann"}`))
	again := abandoned(t, write(`{}`)) // saved: whether it is the same nobody knows any more
	crashed := abandoned(t, func(path string) error { return write("half")(filepath.Join(filepath.Dir(path), ".job-7.json.swp")) })
	folder := abandoned(t, func(path string) error {
		if err := os.Remove(path); err != nil {
			return err
		}
		return os.Mkdir(path, 0o700)
	})
	held, err := NewDraft("job-8.json", "{}")
	if err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "job-9.json")
	if err := write("{}")(outside); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(os.TempDir(), prefix+"link")
	if err := os.Symlink(filepath.Dir(outside), link); err != nil {
		t.Fatal(err)
	}

	want := []string{changed, again, crashed, filepath.Join(filepath.Dir(crashed), ".job-7.json.swp"), folder}
	for range 2 {
		kept := Sweep()
		slices.Sort(kept)
		slices.Sort(want)
		if !slices.Equal(kept, want) {
			t.Errorf("kept %q, want %q", kept, want)
		}
	}
	if there(filepath.Dir(untouched)) {
		t.Error("a draft that nobody wrote to is still there")
	}
	for _, path := range append(want, held.Path, outside, link) {
		if !there(path) {
			t.Errorf("%s is gone", path)
		}
	}
	held.Remove()
}

// The editor may outlive the program: its draft is not nobody's.
func TestSweepLeavesADraftThatAnEditorStillHas(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ready, done := filepath.Join(t.TempDir(), "ready"), filepath.Join(t.TempDir(), "done")
	for _, pipe := range []string{ready, done} {
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("VISUAL", script(t, filepath.Join(t.TempDir(), "slow"), "echo >"+ready+"; read x <"+done))
	e, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDraft("job-7.json", "{}")
	if err != nil {
		t.Fatal(err)
	}
	running := NewSession(t.Context(), e, d).command()
	if err := running.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(ready); err != nil { // it runs
		t.Fatal(err)
	}
	if err := d.lock.Close(); err != nil {
		t.Fatal(err)
	}
	if kept := Sweep(); len(kept) > 0 || !there(d.Path) {
		t.Errorf("kept %q; the draft is there: %t", kept, there(d.Path))
	}
	if err := write("go\n")(done); err != nil {
		t.Fatal(err)
	}
	if err := running.Wait(); err != nil {
		t.Fatal(err)
	}
	if kept := Sweep(); len(kept) > 0 || there(d.Path) {
		t.Errorf("after the editor: kept %q; the draft is there: %t", kept, there(d.Path))
	}
}
