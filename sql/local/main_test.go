package local

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// childVariable makes the test binary play another leasetop: it starts the
// server that the variable names, says what it does on its output, and stops
// when its input ends.
const childVariable = "LEASETOP_TEST_CHILD"

func TestMain(m *testing.M) {
	if job := os.Getenv(childVariable); job != "" {
		if err := playChild(job); err != nil {
			fmt.Println("error:", strings.ReplaceAll(err.Error(), "\n", " "))
			os.Exit(1)
		}
		return
	}
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP} {
		if signal.Ignored(s) { // under nohup, say; parents would be told to ignore it too
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	os.Exit(m.Run())
}

func playChild(job string) error {
	fields := strings.Split(job, "|")
	server, err := Start(context.Background(), Options{
		Dir: fields[0], Name: fields[1], Unsafe: fields[2] == "unsafe",
		Progress: func(step string) { fmt.Println("step:", step) },
	})
	if err != nil {
		return err
	}
	fmt.Println("up:", server.postmaster())
	_, _ = io.Copy(io.Discard, os.Stdin)
	err = server.Stop(context.Background())
	fmt.Println("stopped")
	return err
}

// parent is another leasetop process that uses a server.
type parent struct {
	*exec.Cmd
	input  io.Closer
	output *bufio.Scanner
}

// startParent runs another leasetop on the server.
func startParent(t *testing.T, o Options) *parent {
	t.Helper()
	safety := "safe"
	if o.Unsafe {
		safety = "unsafe"
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+strings.Join([]string{o.Dir, o.Name, safety}, "|"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &parent{Cmd: cmd, input: input, output: bufio.NewScanner(output)}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the other leasetop complained: %s", complaints.String())
		}
	})
	return p
}

// await reads the parent's output up to a line with the prefix and returns the rest of it.
func (p *parent) await(t *testing.T, prefix string) string {
	t.Helper()
	for p.output.Scan() {
		if rest, ok := strings.CutPrefix(p.output.Text(), prefix); ok {
			return strings.TrimSpace(rest)
		}
		if strings.HasPrefix(p.output.Text(), "error:") {
			t.Fatalf("the other leasetop failed: %s", p.output.Text())
		}
	}
	t.Fatalf("the other leasetop ended without %q: %v", prefix, p.output.Err())
	return ""
}

// up waits until the parent has the server and returns the server's process id.
func (p *parent) up(t *testing.T) int {
	t.Helper()
	pid, err := strconv.Atoi(p.await(t, "up:"))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// leave makes the parent stop as a person who quits would.
func (p *parent) leave(t *testing.T) {
	t.Helper()
	_ = p.input.Close()
	p.await(t, "stopped")
	_ = p.Wait()
}

// kill ends the parent as kill -9 does.
func (p *parent) kill(t *testing.T) {
	t.Helper()
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait()
}

// options name a server of the test's own, removed at its end. They share a
// folder with all tests, so that initdb runs once for all.
func options(t *testing.T) Options {
	t.Helper()
	dir, err := ScratchFolder()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Dir: dir, Name: fmt.Sprintf("own_%d_%08x", os.Getpid(), rand.Uint32()), Unsafe: true}
	removeAtEnd(t, o)
	return o
}

func removeAtEnd(t *testing.T, o Options) {
	t.Cleanup(func() {
		if err := Remove(context.Background(), o); err != nil {
			t.Errorf("remove the test's server: %v", err)
		}
	})
}

// reachableFolder is like t.TempDir, but other users can get to it.
func reachableFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "leasetop-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func start(t *testing.T, o Options) *Server {
	t.Helper()
	server, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, server) })
	return server
}

func stop(t *testing.T, server *Server) {
	t.Helper()
	if err := server.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// wantUp fails unless the server takes connections, and returns its process id.
func wantUp(t *testing.T, server *Server) int {
	t.Helper()
	if got := query(t, server, "SELECT 'pong'"); got != "pong" {
		t.Fatalf("the server answers %q", got)
	}
	pid := server.postmaster()
	if pid == 0 {
		t.Fatal("the server runs, but its process is not recognised as ours")
	}
	return pid
}

func wantDown(t *testing.T, server *Server) {
	t.Helper()
	if got, err := server.ask(t.Context()); got != silent || err != nil {
		t.Errorf("the server still answers: %v, %v", got, err)
	}
	if pid := server.postmaster(); pid != 0 {
		t.Errorf("the server still runs as process %d", pid)
	}
}

func query(t *testing.T, server *Server, statement string) (result string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, server.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if err := conn.QueryRow(ctx, statement).Scan(&result); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		t.Fatalf("%s: %v", statement, err)
	}
	return result
}
