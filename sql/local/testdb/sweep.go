package testdb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local"
)

// uniqueName names the process that made something, so that others can tell
// when nobody needs it any more.
func uniqueName(kind string) string {
	return fmt.Sprintf("%s_%d_%08x", kind, os.Getpid(), rand.Uint32())
}

// abandoned reports whether the name is a uniqueName of a process that is gone.
func abandoned(name, kind string) bool {
	rest, ok := strings.CutPrefix(name, kind+"_")
	if !ok {
		return false
	}
	owner, _, _ := strings.Cut(rest, "_")
	pid, err := strconv.Atoi(owner)
	return err == nil && pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// sweepDatabases drops what killed runs left.
func sweepDatabases(ctx context.Context, server *local.Server) error {
	conn, err := pgx.Connect(ctx, server.URL("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.Background()) }()
	rows, err := conn.Query(ctx, "SELECT datname FROM pg_database")
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, name := range names {
		if abandoned(name, "test") {
			err = errors.Join(err, drop(ctx, server, name))
		}
	}
	return err
}

var sweptServers sync.Once

// sweepServers removes the servers that killed runs left, and stops them.
func sweepServers(dir string) {
	sweptServers.Do(func() {
		ctx, cancel := afterwards()
		defer cancel()
		removeAbandoned(ctx, dir)
	})
}

func removeAbandoned(ctx context.Context, dir string) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if abandoned(entry.Name(), "own") {
			_ = local.Remove(ctx, local.Options{Dir: dir, Name: entry.Name()}) // else the next run does
		}
		if abandoned(entry.Name(), "home") {
			removeHome(ctx, filepath.Join(dir, entry.Name()))
		}
	}
}

// removeHome removes the servers under a test's home, and it.
func removeHome(ctx context.Context, home string) {
	servers, _ := os.ReadDir(home)
	for _, server := range servers {
		if server.IsDir() {
			_ = local.Remove(ctx, local.Options{Dir: home, Name: server.Name()})
		}
	}
	_ = os.RemoveAll(home) // else the next run does
}
