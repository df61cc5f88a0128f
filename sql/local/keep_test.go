package local

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// keep keeps the server and returns what it tells.
func keep(server *Server) <-chan Revival {
	told := make(chan Revival, 100)
	server.Keep(func(r Revival) { told <- r })
	return told
}

// next waits for what is told next.
func next(t *testing.T, told <-chan Revival) Revival {
	t.Helper()
	select {
	case r := <-told:
		return r
	case <-time.After(time.Minute):
		t.Fatal("nothing was told of the server's death")
	}
	return Revival{}
}

func killServer(t *testing.T, server *Server) (pid int) {
	t.Helper()
	pid = wantUp(t, server)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for server.runsOurData(pid) {
		time.Sleep(time.Millisecond)
	}
	return pid
}

// Each who uses the server looks after it, whoever started it.
func TestKeptServerThatDiesIsStartedAgain(t *testing.T) {
	t.Parallel()
	o := options(t)
	starter := start(t, o)
	kept := start(t, o)
	stop(t, starter)
	told := keep(kept)
	pid := killServer(t, kept)
	if r := next(t, told); r.Err != nil || !strings.Contains(r.String(), "started again") {
		t.Fatalf("told %v", r)
	}
	if wantUp(t, kept) == pid {
		t.Error("the killed server still runs")
	}
	stop(t, kept)
	wantDown(t, kept)
}

func TestKeptServerThatCannotStartIsTriedAgain(t *testing.T) {
	t.Parallel()
	server := start(t, options(t))
	told := keep(server)
	control := filepath.Join(server.DataDir(), "global", "pg_control")
	if err := os.Rename(control, control+".away"); err != nil {
		t.Fatal(err)
	}
	killServer(t, server)
	first, second := next(t, told), next(t, told)
	if first.Err == nil || second.Err == nil || second.Next <= first.Next || !strings.Contains(first.String(), "next attempt in ") || strings.Contains(first.String(), "\n") {
		t.Errorf("told %q, then %q; want errors in one line, and a longer pause", first, second)
	}
	if err := os.Rename(control+".away", control); err != nil {
		t.Fatal(err)
	}
	for next(t, told).Err != nil {
	}
	wantUp(t, server)
}

func TestHaltedServerIsNotRevived(t *testing.T) {
	t.Parallel()
	server := start(t, options(t))
	if err := server.Halt(t.Context(), Immediate); err != nil {
		t.Fatal(err)
	}
	var died bool
	if err := server.revive(t.Context(), &died); err != nil || died {
		t.Errorf("a halted server: %v, died %v", err, died)
	}
	wantDown(t, server)
	if err := server.Restart(t.Context(), Fast); err != nil {
		t.Fatal(err)
	}
	killServer(t, server)
	if err := server.revive(t.Context(), &died); err != nil || !died {
		t.Errorf("a server that was brought back and died: %v, died %v", err, died)
	}
	wantUp(t, server)
}

func TestStopEndsAnAttemptToRevive(t *testing.T) {
	t.Parallel()
	server := start(t, options(t))
	lock, err := server.startLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	killServer(t, server)
	keep(server)
	stopped := make(chan error, 1)
	go func() { stopped <- server.Stop(t.Context()) }()
	time.AfterFunc(2*keepEvery, lock.release)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	wantDown(t, server)
}

func TestDeathIsToldInOneLine(t *testing.T) {
	t.Parallel()
	r := Revival{Err: errors.New("start the server: pg_ctl: exit status 1\nFATAL: could not write: No space left on device\n"), Next: time.Second}
	if got := inOneLine(errors.New("start the server: pg_ctl: exit status 1\nits log ends with:\n1 LOG:  x\n2 FATAL:  could not open\n3 LOG:  shut down")); got != "could not open" {
		t.Errorf("the cause is %q", got)
	}
	if got := inOneLine(errors.New("start local server \"main\": start the server: open /x: no such file or directory")); got != "open /x: no such file or directory" {
		t.Errorf("the cause is %q", got)
	}
	if got := r.String(); got != "the private server died and cannot be started: the disk is full, so free some space; next attempt in 1s" {
		t.Errorf("told %q", got)
	}
}
