package local

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestSecondAttachesAndLastStops(t *testing.T) {
	t.Parallel()
	o := options(t)
	first := start(t, o)
	pid := wantUp(t, first)
	second := start(t, o)
	if got := wantUp(t, second); got != pid {
		t.Errorf("the second runs a server of its own: process %d, not %d", got, pid)
	}
	stop(t, first)
	wantUp(t, second)
	stop(t, second)
	wantDown(t, second)
	stop(t, second) // again: nothing happens
}

func TestDataSurvives(t *testing.T) {
	t.Parallel()
	o := options(t)
	server := start(t, o)
	if _, err := server.Database(t.Context(), "mine"); err != nil {
		t.Fatal(err)
	}
	stop(t, server)
	server = start(t, o)
	if got := query(t, server, "SELECT datname FROM pg_database WHERE datname = 'mine'"); got != "mine" {
		t.Error("the database is gone after a restart")
	}
	if _, err := server.Database(t.Context(), "mine"); err != nil {
		t.Errorf("a database that is there already: %v", err)
	}
}

func TestServerIsSetUpForTheQueue(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Unsafe = false
	o.Settings = map[string]string{"work_mem": "5MB", "leasetop.note": `it's a \ test`}
	server := start(t, o)
	for name, want := range map[string]string{
		"wal_level": "logical", "max_replication_slots": "20", "max_wal_senders": "20", "max_connections": "200",
		"fsync": "on", "listen_addresses": "", "TimeZone": "UTC", "server_encoding": "UTF8",
		"work_mem": "5MB", "leasetop.note": `it's a \ test`,
		"leasetop.demonstration": "on",
	} {
		if got := query(t, server, "SELECT current_setting('"+name+"')"); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, dir := range []string{server.socket, server.DataDir()} {
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if perm := info.Mode().Perm(); perm != 0o700 {
			t.Errorf("%s is open to others: %o", dir, perm)
		}
	}
}

func TestFreshWipesTheData(t *testing.T) {
	t.Parallel()
	o := options(t)
	server := start(t, o)
	if _, err := server.Database(t.Context(), "mine"); err != nil {
		t.Fatal(err)
	}
	stop(t, server)
	o.Fresh = true
	server = start(t, o)
	if got := query(t, server, "SELECT datname FROM pg_database WHERE datname = 'mine'"); got != "" {
		t.Error("the old data is still there")
	}
}

func TestFreshIsRefusedWhileInUse(t *testing.T) {
	t.Parallel()
	o := options(t)
	server := start(t, o)
	pid := wantUp(t, server)
	o.Fresh = true
	_, err := Start(t.Context(), o)
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), server.DataDir()) {
		t.Errorf("a wipe of data in use gave %v, want ErrInUse and the folder", err)
	}
	if got := wantUp(t, server); got != pid {
		t.Errorf("the refused wipe restarted the server")
	}
}

func TestRemoveIsRefusedWhileInUse(t *testing.T) {
	t.Parallel()
	o := options(t)
	server := start(t, o)
	if err := Remove(t.Context(), o); !errors.Is(err, ErrInUse) {
		t.Errorf("a server in use was removed: %v", err)
	}
	wantUp(t, server)
}

func TestManyStartAtOnce(t *testing.T) {
	t.Parallel()
	o := options(t)
	servers := make([]*Server, 6)
	var group sync.WaitGroup
	for i := range servers {
		group.Go(func() {
			var err error
			if servers[i], err = Start(t.Context(), o); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if t.Failed() {
		return
	}
	wantUp(t, servers[0])
	for _, server := range servers {
		group.Go(func() { stop(t, server) })
	}
	group.Wait()
	wantDown(t, servers[0])
}

func TestHaltAndRestart(t *testing.T) {
	t.Parallel()
	server := start(t, options(t))
	for _, mode := range []Mode{Fast, Immediate} {
		before := wantUp(t, server)
		if err := server.Restart(t.Context(), mode); err != nil {
			t.Fatal(err)
		}
		if wantUp(t, server) == before {
			t.Errorf("%s restart: still the same process", mode)
		}
		if err := server.Halt(t.Context(), mode); err != nil {
			t.Fatal(err)
		}
		wantDown(t, server)
		if err := server.Restart(t.Context(), mode); err != nil {
			t.Fatalf("bring a halted server back: %v", err)
		}
	}
}

func TestCalledOffStartLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	o := options(t)
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(step string) {
		if strings.HasPrefix(step, "starting") {
			cancel()
		}
	}
	if _, err := Start(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("a start called off gave %v", err)
	}
	server := start(t, o)
	wantUp(t, server)
}

func TestWaitingForAnotherStartEndsWithTheContext(t *testing.T) {
	t.Parallel()
	o := options(t)
	p, err := findPlace(o.Dir, o.Name)
	if err != nil {
		t.Fatal(err)
	}
	other, err := p.startLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := Start(ctx, o)
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Start gave %v", err)
	}
	other.release()
	wantUp(t, start(t, o)) // the lock that came too late was given back
}

func TestURLServesPsql(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Dir = filepath.Join(reachableFolder(t), "with space+plus&more")
	removeAtEnd(t, o)
	server := start(t, o)
	if _, err := server.Database(t.Context(), "a b/c"); err != nil {
		t.Fatal(err)
	}
	bin, err := server.binaries(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(bin.path("psql")); err != nil {
		t.Skip("psql is not installed")
	}
	psql := exec.Command(bin.path("psql"), "-XAtc", "SELECT current_database()", server.URL("a b/c"))
	psql.Env = append(os.Environ(), "PGPORT=1", "PGHOST=nowhere", "PGSSLMODE=require")
	out, err := psql.CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || got != "a b/c" {
		t.Errorf("psql %s: %v: %s", server.URL("a b/c"), err, got)
	}
}

func TestServerNamesAreChecked(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"..", "a/b", "A", "-x", strings.Repeat("a", 64)} {
		if _, err := Start(t.Context(), Options{Dir: t.TempDir(), Name: name}); err == nil || !strings.Contains(err.Error(), "letters") {
			t.Errorf("server name %q gave %v", name, err)
		}
	}
}

func TestRunningTellsWithoutHolding(t *testing.T) {
	t.Parallel()
	o := options(t)
	if url, running, err := Running(t.Context(), o, "app"); running || err != nil {
		t.Errorf("before the start: %q, %v, %v", url, running, err)
	}
	server := start(t, o)
	if url, running, err := Running(t.Context(), o, "app"); !running || err != nil || url != server.URL("app") {
		t.Errorf("while it runs: %q, %v, %v", url, running, err)
	}
	stop(t, server)
	wantDown(t, server)
}
