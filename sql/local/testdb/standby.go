package testdb

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local"
)

// Standby gives the test a hot standby of its server, which `SELECT pg_promote()` makes
// a primary of its own. A test is skipped where there is no pg_basebackup.
func Standby(t testing.TB, of *local.Server) *local.Server {
	t.Helper()
	bin, err := local.Find(t.Context())
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	program := filepath.Join(bin, "pg_basebackup")
	if _, err := os.Stat(program); err != nil {
		t.Skipf("there is no pg_basebackup: %v", err)
	}
	primary, err := pgx.ParseConfig(of.URL("postgres"))
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	// A server like any other, whose data is then replaced.
	standby := Server(t)
	if err := standby.Halt(t.Context(), local.Immediate); err != nil {
		t.Fatalf("testdb: %v", err)
	}
	data := standby.DataDir()
	owner, err := os.Stat(data)
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	held, _ := filepath.Glob(filepath.Join(data, "*"))
	for _, path := range held {
		if err := os.RemoveAll(path); err != nil {
			t.Fatalf("testdb: %v", err)
		}
	}
	cmd := exec.Command(program, "--pgdata="+data, "--host="+primary.Host, "--port="+strconv.Itoa(int(primary.Port)), "--username="+primary.User,
		"--write-recovery-conf", "--checkpoint=fast", "--no-sync")
	cmd.Dir = filepath.Dir(data)
	if who := owner.Sys().(*syscall.Stat_t); int(who.Uid) != os.Geteuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: who.Uid, Gid: who.Gid}}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("testdb: pg_basebackup: %v: %s", err, out)
	}
	if err := standby.Restart(t.Context(), local.Fast); err != nil {
		t.Fatalf("testdb: %v", err)
	}
	return standby
}
