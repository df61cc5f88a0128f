package local

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDataOfAnotherVersionIsRefusedWithACure(t *testing.T) {
	t.Parallel()
	o := options(t)
	server := start(t, o)
	stop(t, server)
	if err := os.WriteFile(filepath.Join(server.DataDir(), "PG_VERSION"), []byte("13\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Unsafe = false
	_, err := Start(t.Context(), o)
	if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "PostgreSQL 13") || !strings.Contains(err.Error(), "--fresh") {
		t.Errorf("data of PostgreSQL 13 gave %v", err)
	}
	o.Unsafe = true // data of tests is nobody's loss
	wantUp(t, start(t, o))
}

// fakeBinaries makes programs that only tell their version.
func fakeBinaries(t *testing.T, version string) string {
	t.Helper()
	dir := reachableFolder(t)
	for _, name := range []string{"initdb", "pg_ctl", "postgres"} {
		script := "#!/bin/sh\necho 'postgres (PostgreSQL) " + version + " (Debian)'\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestBinariesNamedByTheEnvironmentStandAlone(t *testing.T) {
	dir := fakeBinaries(t, "17.5")
	t.Setenv(binVariable, dir)
	if got, err := Find(t.Context()); err != nil || got != dir {
		t.Errorf("found %s, %v; want %s", got, err, dir)
	}
	t.Setenv(binVariable, fakeBinaries(t, "9.6.24"))
	if _, err := Find(t.Context()); !errors.Is(err, ErrNoBinaries) || !strings.Contains(err.Error(), "9.6.24 is older than") {
		t.Errorf("an old version gave %v", err)
	}
	t.Setenv(binVariable, t.TempDir())
	if _, err := Find(t.Context()); !errors.Is(err, ErrNoBinaries) || !strings.Contains(err.Error(), "initdb is missing") {
		t.Errorf("an empty folder gave %v", err)
	}
}

func TestLinksInPathLeadToAllPrograms(t *testing.T) {
	dir, links := fakeBinaries(t, "17.5"), t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "postgres"), filepath.Join(links, "postgres")); err != nil {
		t.Fatal(err)
	}
	t.Setenv(binVariable, "")
	t.Setenv("PATH", links+":/usr/bin:/bin")
	if got, err := Find(t.Context()); err != nil || got != dir {
		t.Errorf("found %s, %v; want %s", got, err, dir)
	}
}

func TestBinariesAreChosenByTheDataTheyServe(t *testing.T) {
	newer, older := fakeBinaries(t, "17.5"), fakeBinaries(t, "16.9")
	t.Setenv(binVariable, "")
	t.Setenv("PATH", newer+":"+links(t, older)+":/usr/bin:/bin")
	us, err := serverAccount("/")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := findBinaries(t.Context(), us, "/", ""); err != nil || got.dir != newer {
		t.Errorf("for new data: %s, %v; want %s", got.dir, err, newer)
	}
	if got, err := findBinaries(t.Context(), us, "/", "16"); err != nil || got.dir != older {
		t.Errorf("for data of 16: %s, %v; want %s", got.dir, err, older)
	}
}

// links makes a folder with pg_config, which tells of binaries elsewhere.
func links(t *testing.T, dir string) string {
	t.Helper()
	folder := reachableFolder(t)
	if err := os.WriteFile(filepath.Join(folder, "pg_config"), []byte("#!/bin/sh\necho "+dir+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestMajorVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{"15.18": "15", "18beta1": "18", "17devel": "17", "9.6.24": "9.6", "16": "16"} {
		if got := (binaries{version: version}).major(); got != want {
			t.Errorf("major of %s is %s, want %s", version, got, want)
		}
	}
}
