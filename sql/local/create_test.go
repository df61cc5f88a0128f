package local

import (
	"os"
	"path/filepath"
	"testing"
)

func TestHalfDoneInitdbIsRecovered(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Unsafe = false
	killed := startParent(t, o)
	killed.await(t, "step: creating")
	killed.kill(t)
	server := start(t, o)
	wantUp(t, server)
	stop(t, server)

	// What initdb leaves when it is killed together with us.
	for _, name := range []string{"data.new-123", "data.old-9"} {
		if err := os.MkdirAll(filepath.Join(server.folder, name, "base"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(server.folder, name, "PG_VERSION"), []byte("15\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wantUp(t, start(t, o))
	left, err := filepath.Glob(filepath.Join(server.folder, "data.*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
