package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// standby makes a standby beside its primary, which ends with the test.
func standby(t *testing.T, of *Server) *Server {
	t.Helper()
	o := Options{Dir: filepath.Dir(of.folder), Name: filepath.Base(of.folder) + "-standby", Unsafe: true}
	s, err := of.Standby(t.Context(), o)
	if errors.Is(err, ErrNoCopies) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.Stop(context.Background())
		_ = Remove(context.Background(), o)
	})
	return s
}

func TestStandbyFollowsAndTakesOverWithAllThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Settings = map[string]string{"max_connections": "210"}
	primary := start(t, o)
	if _, err := primary.Database(t.Context(), "before"); err != nil {
		t.Fatal(err)
	}
	second := standby(t, primary)
	if err := primary.Await(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if got := query(t, second, "SELECT pg_is_in_recovery()::text || current_setting('max_connections')"); got != "true210" {
		t.Errorf("the standby is %q", got)
	}
	conn, err := pgx.Connect(t.Context(), primary.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for deadline := time.Now().Add(time.Minute); query(t, primary, "SELECT coalesce(max(sync_state), '') FROM pg_stat_replication") != "sync"; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nobody waits for the standby")
		}
	}
	if _, err := conn.Exec(t.Context(), "CREATE TABLE acknowledged AS SELECT 'all of it' AS word"); err != nil {
		t.Fatal(err)
	}
	if err := primary.Halt(t.Context(), Immediate); err != nil {
		t.Fatal(err)
	}
	if err := second.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := query(t, second, "SELECT word || pg_is_in_recovery()::text FROM acknowledged"); got != "all of itfalse" {
		t.Errorf("after the failover: %q", got)
	}
	if _, err := second.Database(t.Context(), "after"); err != nil {
		t.Errorf("the new primary takes no writes: %v", err)
	}
	if err := second.Restart(t.Context(), Fast); err != nil {
		t.Fatal(err)
	}
	if got := query(t, second, "SELECT count(*)::text FROM pg_database WHERE datname IN ('before', 'after')"); got != "2" {
		t.Errorf("after its restart it has %s of 2 databases", got)
	}
	if err := second.Promote(t.Context()); err == nil {
		t.Error("a primary was promoted")
	}
}

func TestCommitsWaitForAStandbyUntilNobodyIsToBeWaitedFor(t *testing.T) {
	t.Parallel()
	primary := start(t, options(t))
	second := standby(t, primary)
	if err := primary.Await(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if err := second.Halt(t.Context(), Fast); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), primary.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	committed := make(chan error, 1)
	go func() {
		_, err := conn.Exec(t.Context(), "CREATE TABLE t ()")
		committed <- err
	}()
	for deadline := time.Now().Add(time.Minute); query(t, primary, "SELECT count(*)::text FROM pg_stat_activity WHERE wait_event = 'SyncRep'") != "1"; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the commit does not wait")
		}
	}
	if err := primary.Await(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := <-committed; err != nil {
		t.Error(err)
	}
	if err := second.Restart(t.Context(), Fast); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); query(t, second, "SELECT coalesce(to_regclass('t')::text, '')") != "t"; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the standby that came back does not follow")
		}
	}
}

func TestStandbyThatIsInUseIsNotMadeAnew(t *testing.T) {
	t.Parallel()
	primary := start(t, options(t))
	second := standby(t, primary)
	if _, err := primary.Standby(t.Context(), second.options); !errors.Is(err, ErrInUse) {
		t.Errorf("%v", err)
	}
	stop(t, second)
	again := standby(t, primary)
	if got := query(t, again, "SELECT pg_is_in_recovery()::text"); got != "true" {
		t.Error("it is no standby")
	}
	if err := primary.Promote(t.Context()); err == nil || !strings.Contains(err.Error(), "promote") {
		t.Errorf("the promotion of a primary: %v", err)
	}
}

func TestWithoutTheProgramThatCopiesThereIsNoStandby(t *testing.T) {
	t.Parallel()
	primary := start(t, options(t))
	dir := reachableFolder(t)
	bin, err := primary.binaries(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"postgres", "initdb", "pg_ctl"} {
		if err := os.Symlink(bin.path(program), filepath.Join(dir, program)); err != nil {
			t.Fatal(err)
		}
	}
	bin.dir = dir
	if err := primary.copyRunning(t.Context(), bin, primary, t.TempDir()); !errors.Is(err, ErrNoCopies) {
		t.Errorf("%v", err)
	}
}
