package e2e

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/ui/term"
)

// A job that the server refuses to change holds up neither its queue nor the next, and the
// program names it with the server's reason: in work's lines, in show and in check.
func TestWorkPassesOverARowThatTheServerRefuses(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	leasetop := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(binary, args...)
		cmd.Env = append(term.Environ(), "DATABASE_URL="+url)
		out, _ := cmd.CombinedOutput() // check ends with what it found
		return strings.TrimSpace(string(out))
	}
	bad := leasetop("enqueue", "--queue", "m1")
	leasetop("enqueue", "--queue", "m1")
	leasetop("enqueue", "--queue", "m2")
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "alter table leasetop.jobs add constraint app_rule check (id <> "+bad+") not valid"); err != nil {
		t.Fatal(err)
	}
	w := startWorker(t, []string{"DATABASE_URL=" + url}, binary, "work", "--queue", "m1,m2", "--exec", "true")
	w.says(" m1 w1 completed")
	w.says(" m2 w1 completed")
	w.says("the server refuses to claim job " + bad + `: new row for relation "jobs" violates check constraint "app_rule" (Failing row contains`)
	for _, args := range [][]string{{"show", bad}, {"check", "--max-dead", "10"}} {
		if out := leasetop(args...); !strings.Contains(out, "the server refuses to claim job "+bad) || !strings.Contains(out, "app_rule") {
			t.Errorf("%s says\n%s", args, out)
		}
	}
}
