package testdb

import (
	"context"
	"os"
	"testing"

	"github.com/leasetop/leasetop/sql/local"
)

// Home is a folder for the private server of a program under test (its
// LEASETOP_HOME). t.TempDir may lie where the server's account cannot go. The
// server ends with the test.
func Home(t testing.TB) string {
	t.Helper()
	home, err := os.MkdirTemp("/tmp", "leasetop-test-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(home, 0o755); err != nil {
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
