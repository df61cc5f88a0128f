package testdb

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/leasetop/leasetop/sql/local"
)

// Home is a folder for the private server of a program under test (its
// LEASETOP_HOME). t.TempDir may lie where the server's account cannot go. The
// server ends with the test.
func Home(t testing.TB) string {
	t.Helper()
	dir, err := local.ScratchFolder()
	if err != nil {
		t.Fatal(err)
	}
	sweepServers(dir)
	home := filepath.Join(dir, uniqueName("home"))
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(home, 0o755); err != nil { // whatever our umask
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := local.Remove(context.Background(), local.Options{Dir: home, Name: "main"}); err != nil {
			t.Error(err)
		}
		os.RemoveAll(home)
	})
	return home
}
