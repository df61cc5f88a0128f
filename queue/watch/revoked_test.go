package watch

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// Once the feed is attached, the right to read the table is taken from its role, while
// others go on: depths, leases and events stay exact, and the server's log holds no
// statement of the feed that would read the table but that for the dead letters, which
// says why it cannot.
func TestNothingReadsTheTableWhileTheStreamStands(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t, "autovacuum=off")
	url := testdb.On(t, server)
	psql, q := client(t, url), open(t, url)
	for _, sql := range []string{
		"CREATE ROLE watcher LOGIN REPLICATION",
		"GRANT USAGE ON SCHEMA leasetop TO watcher",
		"GRANT SELECT ON ALL TABLES IN SCHEMA leasetop TO watcher",
		"ALTER ROLE watcher SET log_statement = 'all'",
	} {
		exec(t, psql, sql)
	}
	for range 3 {
		enqueue(t, q, queue.NewJob{})
		claim(t, q, time.Hour)
		enqueue(t, q, queue.NewJob{Delay: time.Hour})
	}
	f := start(t, open(t, strings.Replace(url, "postgres@", "watcher@", 1)), Options{})
	s := exact(t, f, psql)
	if s.Server.User != "watcher" || !s.Server.ReadOnly {
		t.Errorf("%+v", s.Server)
	}
	exec(t, psql, "REVOKE SELECT ON leasetop.jobs FROM watcher")
	from := logged(t, server.LogFile())

	s = f.State()
	var lines []string
	for range 3 {
		id := enqueue(t, q, queue.NewJob{Queue: "other"})
		exec(t, psql, "UPDATE leasetop.jobs SET queue = 'emails' WHERE id = $1", id)
		good := claim(t, q, time.Hour)
		enqueue(t, q, queue.NewJob{})
		enqueue(t, q, queue.NewJob{})
		do(t, q.Complete(t.Context(), good.Lease()))
		bad := claim(t, q, time.Hour)
		do(t, q.Bury(t.Context(), bad.Lease(), "bad input"))
		long := claim(t, q, time.Hour)
		if _, err := q.Heartbeat(t.Context(), []queue.Renewal{{Lease: long.Lease(), For: 2 * time.Hour}}); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, "enqueued other", "edited emails moved from other", "claimed emails attempt 1 of 5", "enqueued emails", "enqueued emails",
			"completed emails attempt 1 of 5", "claimed emails attempt 1 of 5", "buried emails attempt 1 of 5", "claimed emails attempt 1 of 5")
	}
	await(t, f, "the dead letters refused", func(now *State) bool {
		return slices.ContainsFunc(healthOf(now), func(note string) bool {
			return strings.Contains(note, "dead letters") && strings.Contains(note, "permission denied for table jobs")
		})
	})
	exact(t, f, psql)
	seen := f.State().Version
	for range 3 { // polls go on
		f.Refresh()
		seen = await(t, f, "another State", func(s *State) bool { return s.Version > seen }).Version
	}
	exact(t, f, psql)
	events, _ := f.Events(lastEvent(s))
	var told []string
	for _, e := range events {
		if e.What != Health && e.What != Renewed {
			told = append(told, strings.TrimSpace(string(e.What)+" "+e.Queue+" "+e.Note))
		}
	}
	if !slices.Equal(told, lines) {
		t.Errorf("told\n  %s\nwant\n  %s", strings.Join(told, "\n  "), strings.Join(lines, "\n  "))
	}

	statements := map[string]int{}
	for _, found := range regexp.MustCompile(`/\* leasetop (\w+) \*/`).FindAllStringSubmatch(logged(t, server.LogFile())[len(from):], -1) {
		statements[found[1]]++
	}
	if statements["watch_server"] == 0 {
		t.Errorf("the log tells of no poll: %v", statements)
	}
	reads := map[string]bool{}
	for name := range statements {
		if text := q.Schema().Query(name); strings.Contains(text, "leasetop.jobs") && !strings.Contains(text, "to_regclass('leasetop.jobs')") {
			reads[name] = true
		}
	}
	delete(reads, "list_dead")
	delete(reads, "refusals") // it reads the few rows that a note names, and none without notes
	if len(reads) > 0 {
		t.Errorf("the table is read by %v of %v", reads, statements)
	}
}

func logged(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	do(t, err)
	return string(text)
}
