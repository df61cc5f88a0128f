package local

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Not parallel: the umask is the process's.
func TestFoldersPassTheServersAccountWhateverTheUmask(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	old := syscall.Umask(0o077)
	err := makeFolders(dir)
	syscall.Umask(old)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, filepath.Dir(dir)} {
		info, err := os.Stat(d)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != ownMode() {
			t.Errorf("%s has mode %v, want %v", d, got, ownMode())
		}
	}
}

// In a folder of somebody else's, a link must not lead our writing elsewhere.
func TestSettingsAreWrittenThroughNoLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	victim, path := filepath.Join(dir, "victim"), filepath.Join(dir, "server.conf.new")
	if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, path); err != nil {
		t.Fatal(err)
	}
	folder, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if err := writeAnew(folder, filepath.Base(path), "settings"); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(victim); string(text) != "mine" {
		t.Errorf("the link was followed: %q", text)
	}
	if text, _ := os.ReadFile(path); string(text) != "settings" {
		t.Errorf("wrote %q", text)
	}
}
