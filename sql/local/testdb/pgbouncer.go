package testdb

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// PgBouncer puts a PgBouncer of the given pool_mode ("transaction", "session") before a
// database of this package's, for as long as the test runs, and returns the connection
// string that leads through it. Settings are lines of its configuration. A test is
// skipped where PgBouncer is not installed.
func PgBouncer(t testing.TB, url, mode string, settings ...string) string {
	t.Helper()
	program := pgbouncer()
	if program == "" {
		t.Skip("PgBouncer is not installed")
	}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	dir, err := os.MkdirTemp("/tmp", "leasetop-pgbouncer-")
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatalf("testdb: %v", err)
		}
		return path
	}
	users := write("users.txt", fmt.Sprintf("%q \"\"\n", config.User))
	lines := append([]string{
		"[databases]", fmt.Sprintf("* = host=%s port=%d", config.Host, config.Port),
		"[pgbouncer]", "unix_socket_dir = " + dir, "listen_port = 6432",
		"auth_type = trust", "auth_file = " + users, "pool_mode = " + mode,
	}, settings...)
	cmd := exec.Command(program, write("pgbouncer.ini", strings.Join(lines, "\n")+"\n"))
	if os.Geteuid() == 0 { // which it refuses to be; the owner of the server's socket may use that
		owner, err := os.Stat(config.Host)
		if err != nil {
			t.Fatalf("testdb: %v", err)
		}
		who := owner.Sys().(*syscall.Stat_t)
		if err := os.Chown(dir, int(who.Uid), int(who.Gid)); err != nil {
			t.Fatalf("testdb: %v", err)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: who.Uid, Gid: who.Gid}}
	}
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	log := bufio.NewScanner(said)
	for up := false; !up; up = strings.Contains(log.Text(), "process up") {
		if !log.Scan() {
			t.Fatalf("testdb: PgBouncer ended: %s", log.Text())
		}
	}
	go func() { _, _ = io.Copy(io.Discard, said) }()
	return fmt.Sprintf("postgres://%s@/%s?host=%s&port=6432", config.User, config.Database, dir)
}

// pgbouncer is the program, "" where there is none. Debian keeps it from the PATH of others than root.
func pgbouncer() string {
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
