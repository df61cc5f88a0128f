package command

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// noActs are the commands that change nothing that an operator could be asked about: they
// look, or are a program's own.
var noActs = []string{
	"leasetop", "check", "dead", "dead groups", "dead list", "depth", "enqueue", "events", "jobs", "log",
	"migrate", "migrate down", "migrate status", "migrate up", "plan", "plan list", "plan show", "scenario", "scenario list", "scenario run", "scenario soak", "show", "url", "work",
}

// enteredByPlans are those that a plan enters itself.
var enteredByPlans = []string{"plan cancel", "plan pause", "plan resume", "plan undo"}

// A command that acts is in the script which looks for its entry in the operator log.
func TestEveryCommandThatActsIsInTheOperatorLog(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("testdata/log.txtar")
	if err != nil {
		t.Fatal(err)
	}
	acts := 0
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		name := strings.TrimPrefix(cmd.CommandPath(), "leasetop ")
		switch {
		case slices.Contains(noActs, name), slices.Contains(enteredByPlans, name):
		case !regexp.MustCompile(`(?m)^exec leasetop ` + regexp.QuoteMeta(name) + ` `).Match(script):
			t.Errorf("%s is in no line of testdata/log.txtar, nor among those that are no acts", name)
		default:
			acts++
		}
		for _, one := range cmd.Commands() {
			walk(one)
		}
	}
	walk(newRoot(new(error)))
	if acts < 10 {
		t.Errorf("only %d commands act", acts)
	}
}

// Killed in the middle, by a signal that no program hears, an act stands in the log as one
// that did not end.
func TestActOfAKilledCommandStandsUnfinished(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(t.Context()) })
	do := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	do("insert into leasetop.jobs (queue, status) values ('emails', 'dead')")
	do("begin; select from leasetop.jobs for update") // the command waits for the row
	cmd := exec.CommandContext(t.Context(), "leasetop", "discard", "1", "--why", "no use")
	cmd.Env = append(os.Environ(), "DATABASE_URL="+url)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	q, err := queue.Open(t.Context(), url, queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	var acts []queue.Act
	for end := time.Now().Add(time.Minute); len(acts) == 0; {
		if time.Now().After(end) {
			t.Fatal("nothing is entered")
		}
		if acts, err = q.Acts(t.Context(), 0, 1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	do("rollback")
	if acts, err = q.Acts(t.Context(), 0, 1); err != nil || len(acts) != 1 || acts[0].Ended != nil || acts[0].What != "discard" || acts[0].Reason != "no use" || acts[0].Done != 0 {
		text, _ := json.Marshal(acts)
		t.Errorf("%s, %v", text, err)
	}
}
