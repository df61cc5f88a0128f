package local

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository serves an archive like those of the real one, with programs that
// only tell their version.
func repository(t *testing.T, digest func([]byte) string) *httptest.Server {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"initdb", "pg_ctl", "postgres"} {
		script := "#!/bin/sh\necho 'postgres (PostgreSQL) 17.5'\n[ \"$1\" = --version ]\n"
		if err := os.WriteFile(filepath.Join(dir, "bin", name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	programs, err := exec.Command("tar", "-C", dir, "-cJf", "-", "bin").Output()
	if err != nil {
		t.Skipf("tar and xz are needed to build the archive: %v", err)
	}
	var jar bytes.Buffer
	archive := zip.NewWriter(&jar)
	entry, err := archive.Create("postgres-linux-x86_64.txz")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := entry.Write(programs); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".sha256") {
			_, _ = w.Write([]byte(digest(jar.Bytes())))
			return
		}
		_, _ = w.Write(jar.Bytes())
	}))
	t.Cleanup(server.Close)
	return server
}

func digestOf(archive []byte) string {
	sum := sha256.Sum256(archive)
	return hex.EncodeToString(sum[:])
}

func TestMissingPostgresIsFetchedAndNothingElseLeft(t *testing.T) {
	t.Parallel()
	cache := reachableFolder(t)
	var steps []string
	err := fetch(t.Context(), cache, repository(t, digestOf).URL, func(step string) { steps = append(steps, step) })
	if err != nil {
		t.Fatal(err)
	}
	us, err := serverAccount(cache)
	if err != nil {
		t.Fatal(err)
	}
	found, err := examine(t.Context(), us, "/", filepath.Join(fetchedFolder(cache), "bin"))
	if err != nil || found.version != "17.5" {
		t.Errorf("what was fetched cannot be run: %+v, %v", found, err)
	}
	if len(steps) == 0 || !strings.Contains(steps[0], "downloading PostgreSQL 17") {
		t.Errorf("progress was %q", steps)
	}
	if entries, err := os.ReadDir(cache); err != nil || len(entries) != 1 {
		t.Errorf("the cache holds %v, %v", entries, err)
	}
}

func TestDamagedDownloadIsRefused(t *testing.T) {
	t.Parallel()
	cache := reachableFolder(t)
	bad := repository(t, func([]byte) string { return strings.Repeat("0", 64) })
	if err := fetch(t.Context(), cache, bad.URL, func(string) {}); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("a wrong digest gave %v", err)
	}
	if entries, err := os.ReadDir(cache); err != nil || len(entries) != 0 {
		t.Errorf("the cache holds %v, %v", entries, err)
	}
}

func TestDownloadEndsWithTheContext(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan struct{}), make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(asked)
		<-answer
	}))
	defer silent.Close()
	defer close(answer)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- fetch(ctx, reachableFolder(t), silent.URL, func(string) {}) }()
	<-asked
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a download called off gave %v", err)
	}
}
