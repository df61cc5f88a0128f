package local

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLongPathGetsAShortSocket(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Dir = filepath.Join(reachableFolder(t), strings.Repeat("long", 40))
	removeAtEnd(t, o)
	server := start(t, o)
	wantUp(t, server)
	if !strings.HasPrefix(server.socket, "/tmp/leasetop-") {
		t.Errorf("the socket is in %s", server.socket)
	}
	stop(t, server)
	if err := Remove(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(server.socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket's folder was left: %v", err)
	}
}

// Anybody can put something under /tmp first.
func TestSocketFolderOfSomebodyElseIsRefused(t *testing.T) {
	t.Parallel()
	long := filepath.Join(reachableFolder(t), strings.Repeat("long", 40))
	runner, err := serverAccount(long)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := socketFolder(long, runner)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })

	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := socketFolder(long, runner); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a symbolic link in its place gave %v", err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}

	if os.Geteuid() != 0 {
		return // only root can make a folder somebody else's
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if _, err := socketFolder(long, runner); err == nil || !strings.Contains(err.Error(), "belongs to uid 12345") {
		t.Errorf("a stranger's folder in its place gave %v", err)
	}
}

func TestFolderThatCannotBeWrittenIsNamed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), Options{Dir: filepath.Join(file, "below")}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a folder below a file gave %v", err)
	}
	if os.Geteuid() == 0 {
		return // root may write everywhere
	}
	if _, err := Start(t.Context(), Options{Dir: "/usr"}); err == nil || !strings.Contains(err.Error(), "/usr") {
		t.Errorf("a folder of root's gave %v", err)
	}
}

func TestRootIsToldWhenTheServerCannotReachTheFolder(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root hands the server to another account")
	}
	closed := t.TempDir()
	if err := os.Chmod(filepath.Dir(closed), 0o700); err != nil {
		t.Fatal(err)
	}
	o := Options{Dir: closed, Unsafe: true}
	runner, err := serverAccount(closed)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Start(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), runner.name) || !strings.Contains(err.Error(), "LEASETOP_HOME") {
		t.Errorf("a folder out of reach gave %v, want the account and LEASETOP_HOME", err)
	}
}

func TestStateFolderOrder(t *testing.T) {
	home := reachableFolder(t)
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("LEASETOP_HOME", "")
	want := filepath.Join(home, ".local/state/leasetop")
	if os.Geteuid() == 0 {
		want = "/var/lib/leasetop"
	}
	if got := stateFolder(); got != want {
		t.Errorf("by HOME: %s, want %s", got, want)
	}
	if os.Geteuid() != 0 {
		t.Setenv("XDG_STATE_HOME", filepath.Join(home, "xdg"))
		if got, want := stateFolder(), filepath.Join(home, "xdg/leasetop"); got != want {
			t.Errorf("by XDG_STATE_HOME: %s, want %s", got, want)
		}
		t.Setenv("XDG_STATE_HOME", "relative") // to be ignored, says the standard
		t.Setenv("HOME", "/nonexistent")
		if got, err := baseFolder(""); err != nil || got != fallbackFolder() {
			t.Errorf("without a home: %s, %v; want %s", got, err, fallbackFolder())
		}
	}
	t.Setenv("LEASETOP_HOME", filepath.Join(home, "mine"))
	if got, err := baseFolder(""); err != nil || got != filepath.Join(home, "mine") {
		t.Errorf("by LEASETOP_HOME: %s, %v", got, err)
	}
}
