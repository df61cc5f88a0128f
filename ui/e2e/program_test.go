package e2e

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/ui/term"
)

// The program of the README, put into an empty folder with a replace on this module:
// it migrates, enqueues in a transaction, works and stops on SIGTERM.
func TestProgramOfTheREADME(t *testing.T) {
	t.Parallel()
	var programs []string
	for _, b := range blocks(t, "README.md", docs(t)["README.md"]) {
		if b.language == "go" {
			programs = append(programs, b.text)
		}
	}
	if len(programs) != 1 {
		t.Fatalf("the README has %d programs, not one", len(programs))
	}
	program := buildOutside(t, programs[0])

	url := testdb.Empty(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env, cmd.Stderr = append(term.Environ(), "DATABASE_URL="+url), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "job 1: a welcome to Ann at ann@example.com\n" {
		t.Errorf("it says %q, %v", line, err)
	}
	// The signal may come before the outcome, which is written all the same.
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
	var users, completed int
	if err := conn.QueryRow(t.Context(), `select (select count(*) from users where name = 'Ann'),
		(select count(*) from leasetop.jobs where status = 'completed' and kind = 'welcome' and attempts = 1)`).Scan(&users, &completed); err != nil {
		t.Fatal(err)
	}
	if users != 1 || completed != 1 {
		t.Errorf("%d users, %d jobs completed", users, completed)
	}
}

// buildOutside builds a program as a module of its own that takes this one from here,
// and all others in the versions that this one uses.
func buildOutside(t *testing.T, program string) (binary string) {
	t.Helper()
	dir := t.TempDir()
	here, err := filepath.Abs(top)
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(here, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	module := regexp.MustCompile(`(?m)^module (.+)$`).FindStringSubmatch(read("go.mod"))[1]
	mod := strings.Replace(read("go.mod"), "module "+module, "module example.com/hello", 1)
	mod = regexp.MustCompile(`(?ms)^tool \(.*?^\)\n|^tool [^(\n]*\n`).ReplaceAllString(mod, "") // those of this module
	mod += "\nrequire " + module + " v0.0.0\nreplace " + module + " => " + here + "\n"
	for name, text := range map[string]string{"main.go": program, "go.mod": mod, "go.sum": read("go.sum")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", "hello", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "hello")
}
