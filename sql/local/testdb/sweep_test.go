package testdb

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local"
)

// gone returns the id of a process that has ended.
func gone(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

func TestDatabasesOfKilledRunsAreDroppedAndOthersKept(t *testing.T) {
	t.Parallel()
	server := hold(t)
	left, kept := fmt.Sprintf("test_%d_left", gone(t)), uniqueName("test")
	for _, name := range []string{left, kept} {
		if err := create(t.Context(), server, name, "template0"); err != nil {
			t.Fatal(err)
		}
	}
	dropAtEnd(t, server, kept)
	if err := sweepDatabases(t.Context(), server); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), server.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for name, want := range map[string]bool{left: false, kept: true} {
		var there bool
		err := conn.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&there)
		if err != nil || there != want {
			t.Errorf("database %s: there %v, %v; want %v", name, there, err, want)
		}
	}
}

func TestServersOfKilledRunsAreRemoved(t *testing.T) {
	t.Parallel()
	dir, err := local.ScratchFolder()
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("own_%d_left", gone(t))
	server, err := local.Start(t.Context(), local.Options{Dir: dir, Name: name, Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	removeAbandoned(t.Context(), dir)
	conn, err := pgx.Connect(t.Context(), server.URL("postgres"))
	if err != nil {
		t.Fatalf("a server in use was removed: %v", err)
	}
	_ = conn.Close(t.Context())
	if err := server.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	removeAbandoned(t.Context(), dir)
	if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the server of a killed run was left: %v", err)
	}
}
