package local

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFoldersOfServersAreFoundByTheirNames(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "with [brackets]")
	for _, name := range []string{"play-b", "play-a", "main"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "play-file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Folders(dir, "play-")
	if want := []string{filepath.Join(dir, "play-a"), filepath.Join(dir, "play-b")}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}
