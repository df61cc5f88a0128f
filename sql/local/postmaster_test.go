package local

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestParentKilledAndStartedAgainAtOnce(t *testing.T) {
	t.Parallel()
	o := options(t)
	killed := startParent(t, o)
	pid := killed.up(t)
	killed.kill(t)
	server := start(t, o)
	if got := wantUp(t, server); got != pid {
		t.Errorf("the server was started anew: process %d, not %d", got, pid)
	}
	stop(t, server)
	wantDown(t, server)
}

func TestTwoParents(t *testing.T) {
	t.Parallel()
	o := options(t)
	first, second := startParent(t, o), startParent(t, o)
	pid := first.up(t)
	if got := second.up(t); got != pid {
		t.Errorf("two parents, two servers: %d and %d", pid, got)
	}
	third := start(t, o)
	first.leave(t)
	wantUp(t, third)
	stop(t, third)
	if third.postmaster() != pid {
		t.Error("the server stopped while the second parent used it")
	}
	second.leave(t)
	wantDown(t, third)
}

func TestOneParentKilledTheOtherStops(t *testing.T) {
	t.Parallel()
	o := options(t)
	first, second := startParent(t, o), startParent(t, o)
	first.up(t)
	second.up(t)
	first.kill(t)
	second.leave(t)
	p, err := findPlace(o.Dir, o.Name)
	if err != nil {
		t.Fatal(err)
	}
	wantDown(t, &Server{place: p})
}

func TestTerminalSignalsDoNotReachTheServer(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			o := options(t)
			p := startParent(t, o)
			pid := p.up(t)
			// A terminal signals the whole foreground process group.
			if err := syscall.Kill(-p.Process.Pid, signal); err != nil {
				t.Fatal(err)
			}
			_ = p.Wait()
			if got := wantUp(t, start(t, o)); got != pid {
				t.Errorf("the server did not survive %v: process %d, then %d", signal, pid, got)
			}
		})
	}
}

// stranger is a harmless process of the server's account.
func stranger(t *testing.T, o Options) *exec.Cmd {
	t.Helper()
	p, err := findPlace(o.Dir, o.Name)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sleep", "600")
	cmd.Dir = "/"
	if !p.runner.self() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: p.runner.uid, Gid: p.runner.gid}}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// Signalled by anybody else, it would not have died of this.
		_ = cmd.Process.Signal(syscall.SIGUSR1)
		err := cmd.Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGUSR1 {
			t.Errorf("the stranger was hit: %v", err)
		}
	})
	return cmd
}

// impersonate makes the files of a server that is down name another process.
func impersonate(t *testing.T, server *Server, pid int) {
	t.Helper()
	text := fmt.Sprintf("%d\n%s\n1700000000\n%s\n%s\n\n  5432001    123456\nready   \n", pid, server.data(), port, server.socket)
	for _, path := range []string{filepath.Join(server.DataDir(), pidFile), filepath.Join(server.socket, ".s.PGSQL."+port+".lock")} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Lchown(path, int(server.runner.uid), int(server.runner.gid)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStalePidOfAStrangerIsNoObstacleAndNoVictim(t *testing.T) {
	t.Parallel()
	o := options(t)
	server := start(t, o)
	stop(t, server)
	other := stranger(t, o)
	impersonate(t, server, other.Process.Pid)
	server = start(t, o)
	if wantUp(t, server) == other.Process.Pid {
		t.Error("the stranger was taken for our server")
	}
}

func TestNoModeOfStoppingHitsAStranger(t *testing.T) {
	t.Parallel()
	o := options(t)
	other := stranger(t, o)
	var server *Server
	for what, do := range map[string]func() error{
		"halt": func() error { return server.Halt(t.Context(), Fast) },
		"stop": func() error { return server.Stop(t.Context()) },
		"fresh": func() error {
			o := o
			o.Fresh = true
			again, err := Start(t.Context(), o)
			if err == nil {
				err = again.Stop(t.Context())
			}
			return err
		},
	} {
		server = start(t, o)
		if err := server.Halt(t.Context(), Immediate); err != nil {
			t.Fatal(err)
		}
		impersonate(t, server, other.Process.Pid)
		if what == "fresh" {
			stop(t, server)
			impersonate(t, server, other.Process.Pid)
		}
		if err := do(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		stop(t, server)
	}
}

func TestCutOffPidFileIsNoObstacle(t *testing.T) {
	t.Parallel()
	o := options(t)
	for _, text := range []string{"", "12", "nonsense\n"} {
		server := start(t, o)
		stop(t, server)
		if err := os.WriteFile(filepath.Join(server.DataDir(), pidFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		server = start(t, o)
		wantUp(t, server)
		stop(t, server)
	}
}

func TestServerKilledIsStartedAgain(t *testing.T) {
	t.Parallel()
	o := options(t)
	server := start(t, o)
	pid := wantUp(t, server)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// Its processes live for a moment yet, holding its shared memory.
	if got := wantUp(t, start(t, o)); got == pid {
		t.Error("the killed server still runs")
	}
}

func TestSocketSweptAwayIsMended(t *testing.T) {
	if testing.Short() {
		t.Skip("waits ten seconds for the server to answer")
	}
	t.Parallel()
	o := options(t)
	server := start(t, o)
	pid := wantUp(t, server)
	if err := os.Remove(filepath.Join(server.socket, ".s.PGSQL."+port)); err != nil {
		t.Fatal(err)
	}
	if got := wantUp(t, start(t, o)); got == pid {
		t.Error("the server still runs without a socket")
	}
}

func TestFailedStartShowsWhy(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Settings = map[string]string{"shared_buffers": "plenty"}
	_, err := Start(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "shared_buffers") || !strings.Contains(err.Error(), "server.log") {
		t.Errorf("the error does not show the log: %v", err)
	}
	o.Settings = map[string]string{"x' \n fsync": "off"}
	if _, err := Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "setting") {
		t.Errorf("a setting that is none gave %v", err)
	}
}

func TestLongLogIsEmptied(t *testing.T) {
	t.Parallel()
	o := options(t)
	server := start(t, o)
	stop(t, server)
	if err := os.Truncate(server.LogFile(), logLimit+1); err != nil {
		t.Fatal(err)
	}
	server = start(t, o)
	info, err := os.Stat(server.LogFile())
	if err != nil || info.Size() > logLimit {
		t.Errorf("the log was not emptied: %d bytes, %v", info.Size(), err)
	}
}
