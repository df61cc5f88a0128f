package editor

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Who owns the folder of temporary files can put anything in place of the draft and of
// its folder.
func TestDraftIsWrittenInNoPlantedPlace(t *testing.T) {
	t.Parallel()
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	plants := map[string]func(folder, draft string) error{
		"a link as the draft":      func(_, draft string) error { return os.Symlink(victim, draft) },
		"a hard link as the draft": func(_, draft string) error { return os.Link(victim, draft) },
		"a pipe as the draft":      func(_, draft string) error { return syscall.Mkfifo(draft, 0o600) },
		"a pipe as the folder":     func(folder, _ string) error { return replaced(folder, syscall.Mkfifo(folder+".new", 0o600)) },
		"a folder others may write": func(folder, _ string) error {
			return os.Chmod(folder, 0o777)
		},
	}
	if os.Geteuid() == 0 {
		plants["a stranger's folder"] = func(folder, _ string) error { return os.Chown(folder, 12345, 12345) }
	}
	for what, plant := range plants {
		folder := filepath.Join(t.TempDir(), "draft")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		d := &Draft{Path: filepath.Join(folder, "payload.json"), given: "text"}
		if err := plant(folder, d.Path); err != nil {
			t.Fatal(err)
		}
		if err := d.write(folder); err == nil || !strings.Contains(err.Error(), "draft") && !strings.Contains(err.Error(), "payload.json") {
			t.Errorf("%s gave %v", what, err)
		}
		d.Remove()
		if text, err := os.ReadFile(victim); err != nil || string(text) != "mine" {
			t.Errorf("%s: the target holds %q, %v", what, text, err)
		}
	}
}

// replaced puts what was made beside the folder in its place.
func replaced(folder string, made error) error {
	if made != nil {
		return made
	}
	if err := os.Remove(folder); err != nil {
		return err
	}
	return os.Rename(folder+".new", folder)
}
