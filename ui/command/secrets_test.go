package command

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

// password is one that every parser reads differently.
const password = "p#s/s:w%zz@h"

// leak is any part of it that would not be there by chance, escaped or not.
var leak = regexp.MustCompile(`p#s|s/s:|s:w%|w%zz|zz@h|(?i)p%23s|s%2fs%3a|w%25zz|zz%40h`)

// guarded is a server that lets its role ann in only with the password.
func guarded(t *testing.T) (admin *pgx.Conn) {
	t.Helper()
	server := testdb.Server(t)
	admin, err := pgx.Connect(t.Context(), testdb.On(t, server))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { admin.Close(context.Background()) })
	rules := filepath.Join(server.DataDir(), "pg_hba.conf")
	text, err := os.ReadFile(rules)
	if err == nil {
		err = os.WriteFile(rules, append([]byte("local all ann scram-sha-256\nlocal replication ann scram-sha-256\n"), text...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"create role ann superuser login password '" + password + "'", "select pg_reload_conf()"} {
		if _, err := admin.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return admin
}

// arguments are what commands need to come as far as the database.
var arguments = map[string]string{
	"enqueue": "--queue q", "show": "1", "redrive": "1", "cancel": "1", "discard": "1", "restore": "1", "pause": "q", "resume": "q",
	"purge": "--completed --older-than 7d --yes", "migrate down": "--help", "help": "depth", "edit": "1 --payload 1", "release": "1", "run-now": "1", "work": "--help", "check": "--max-dead 1",
	"scenario run": "crash --yes", "scenario soak": "--help",
}

// every command line of the grammar.
func commandLines() (lines []string) {
	failure := error(nil)
	var walk func(cmd *cobra.Command, path string)
	walk = func(cmd *cobra.Command, path string) {
		for _, sub := range cmd.Commands() {
			name := strings.TrimSpace(path + " " + sub.Name())
			lines = append(lines, strings.TrimSpace(name+" "+arguments[name]))
			walk(sub, name)
		}
	}
	walk(newRoot(&failure), "")
	return lines
}

// CASES "Secrets": wherever the password comes from, and whatever is done with it, it
// appears nowhere. The server asks for it, so those that are well written work.
func TestPasswordAppearsNowhere(t *testing.T) {
	t.Parallel()
	admin := guarded(t)
	there := admin.Config()
	socket, database := url.QueryEscape(there.Host), there.Database
	escaped := url.QueryEscape(password)
	if _, err := admin.Exec(t.Context(), "insert into leasetop.jobs (queue, status) values ('q', 'dead')"); err != nil {
		t.Fatal(err)
	}
	passfile := filepath.Join(t.TempDir(), "pgpass")
	if err := os.WriteFile(passfile, []byte("*:*:*:ann:"+strings.ReplaceAll(password, ":", `\:`)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, form := range map[string]struct {
		env   []string
		flag  string
		works bool
		all   bool // all commands are tried
	}{
		"a URL":                  {env: []string{"DATABASE_URL=postgres://ann:" + escaped + "@/" + database + "?host=" + socket}, works: true, all: true},
		"a URL as the flag":      {flag: "postgres://ann:" + escaped + "@/" + database + "?host=" + socket, works: true},
		"the URL's parameter":    {env: []string{"DATABASE_URL=postgres://ann@/" + database + "?host=" + socket + "&password=" + escaped}, works: true},
		"pairs":                  {env: []string{"DATABASE_URL=host=" + there.Host + " user=ann dbname=" + database + " password='" + password + "'"}, works: true, all: true},
		"the environment":        {env: []string{"PGHOST=" + there.Host, "PGUSER=ann", "PGDATABASE=" + database, "PGPASSWORD=" + password}, works: true},
		"a password file":        {env: []string{"DATABASE_URL=postgres://ann@/" + database + "?host=" + socket, "PGPASSFILE=" + passfile}, works: true},
		"a URL not escaped":      {env: []string{"DATABASE_URL=postgres://ann:" + password + "@/" + database + "?host=" + socket}},
		"a URL half escaped":     {flag: "postgres://ann:" + strings.ReplaceAll(password, "#", "%23") + "@localhost:1/" + database},
		"a wrong password":       {env: []string{"DATABASE_URL=postgres://ann:" + escaped + "x@/" + database + "?host=" + socket}},
		"a URL without a host":   {flag: "postgres://ann:" + password},
		"pairs with a bad quote": {flag: "host=" + there.Host + " user=ann password='" + password},
		"an unknown parameter":   {flag: "postgres://ann:" + escaped + "@/" + database + "?host=" + socket + "&frobnicate=1"},
		"no server":              {flag: "postgres://ann:" + escaped + "@127.0.0.1:1/" + database + "?sslmode=disable"},
		"no socket":              {flag: "host=/nowhere user=ann password='" + password + "'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := []string{"url", "depth", "enqueue --queue q", "migrate status"}
			if form.all { // the others are read in the same way
				lines = commandLines()
			}
			for _, line := range lines {
				if name == "pairs" {
					line += " -o json"
				}
				out, err := said(t, form.flag, form.env, line)
				if found := leak.FindString(out); found != "" {
					t.Errorf("%s printed %q:\n%s", line, found, out)
				}
				if form.works && strings.HasPrefix(line, "depth") && err != nil {
					t.Errorf("%s: %v: %s", line, err, out)
				}
			}
		})
	}
}

// said is all that a command prints, on either stream.
func said(t *testing.T, flag string, env []string, line string) (string, error) {
	t.Helper()
	args := strings.Fields(line)
	if flag != "" {
		args = append([]string{"--database-url", flag}, args...)
	}
	cmd := exec.CommandContext(t.Context(), "leasetop", args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// While it runs, and when it dies, it says nothing of it either: not to the server's
// other users, and not in the traces of its goroutines.
func TestPasswordAppearsNowhereWhileItRuns(t *testing.T) {
	t.Parallel()
	admin := guarded(t)
	there := admin.Config()
	env := "DATABASE_URL=postgres://ann:" + url.QueryEscape(password) + "@/" + there.Database + "?host=" + url.QueryEscape(there.Host)
	if _, err := admin.Exec(t.Context(), "insert into leasetop.jobs (queue, payload) values ('q', '1')"); err != nil {
		t.Fatal(err)
	}
	for line, ready := range map[string]func(*program){
		"--plain": func(p *program) { p.until(` depth q: `) },
		"work --queue q --exec false --poison-status 1": func(p *program) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for done := false; !done; {
				if err := admin.QueryRow(ctx, "select status = 'dead' from leasetop.jobs").Scan(&done); err != nil {
					t.Fatalf("its job does not die: %v\n%s", err, p.err.String())
				}
			}
		},
	} {
		p := startWith(t, strings.Fields(line), env)
		ready(p)
		for _, view := range []string{"pg_stat_activity", "pg_stat_replication", "pg_replication_slots", "leasetop.jobs", "pg_settings"} {
			var text string
			if err := admin.QueryRow(t.Context(), "select coalesce(string_agg(v::text, e'\\n'), '') from "+view+" v where v::text !~ 'string_agg'").Scan(&text); err != nil {
				t.Fatal(err)
			}
			if found := leak.FindString(text); found != "" {
				t.Errorf("%s: %s tells %q", line, view, found)
			}
		}
		p.end(syscall.SIGQUIT)
		if !strings.Contains(p.err.String(), "goroutine ") {
			t.Errorf("%s: no traces: %s", line, p.err.String())
		}
		if found := leak.FindString(p.seen.String() + p.err.String()); found != "" {
			t.Errorf("%s printed %q:\n%s\n%s", line, found, p.seen.String(), p.err.String())
		}
	}
}
