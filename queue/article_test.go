package queue

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// article runs the article's statements, word for word as in testdata/article, on
// our table: all that is set is the search_path.
type article struct {
	t    *testing.T
	conn *pgx.Conn
}

func readArticle(t *testing.T, q *Queue) *article {
	t.Helper()
	config := q.ConnConfig()
	config.RuntimeParams["search_path"] = q.Schema().Name()
	conn := must[*pgx.Conn](t)(pgx.ConnectConfig(t.Context(), config))
	t.Cleanup(func() { conn.Close(context.Background()) })
	return &article{t, conn}
}

// run returns the statement's row count.
func (a *article) run(statement string, args ...any) int64 {
	a.t.Helper()
	return must[pgconn.CommandTag](a.t)(a.conn.Exec(a.t.Context(), a.text(statement), args...)).RowsAffected()
}

func (a *article) text(statement string) string {
	a.t.Helper()
	return string(must[[]byte](a.t)(os.ReadFile(filepath.Join("testdata/article", statement+".sql"))))
}

// claim returns the row as the article's worker gets it: by column names.
func (a *article) claim(queue, worker string) map[string]any {
	a.t.Helper()
	rows := must[pgx.Rows](a.t)(a.conn.Query(a.t.Context(), a.text("claim"), queue, worker))
	found, err := pgx.CollectRows(rows, pgx.RowToMap)
	ok(a.t, err)
	if len(found) == 0 {
		return nil
	}
	return found[0]
}

const articleWorker = "host:4711:1f2e3d4c"

func TestArticleColumns(t *testing.T) {
	t.Parallel()
	q := open(t)
	a := readArticle(t, q)
	if n := a.run("insert"); n != 1 {
		t.Fatalf("%d rows inserted", n)
	}
	job := a.claim("emails", articleWorker)
	for column, want := range map[string]any{
		"id": int64(1), "queue": "emails", "payload": map[string]any{"to": "user@example.com", "template": "welcome"}, "status": "processing",
		"attempts": int32(1), "max_attempts": int32(5), "locked_by": articleWorker, "last_error": nil,
	} {
		if got := job[column]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s is %v, want %v", column, got, want)
		}
	}
	for _, column := range []string{"run_at", "locked_at", "lease_expires_at", "created_at", "updated_at"} {
		if _, isTime := job[column].(time.Time); !isTime {
			t.Errorf("%s is %v", column, job[column])
		}
	}
}

func TestArticleJobLife(t *testing.T) {
	t.Parallel()
	q := open(t)
	a := readArticle(t, q)
	if a.claim("emails", articleWorker) != nil {
		t.Error("claimed from an empty table")
	}
	for range 3 {
		a.run("insert")
	}

	done := a.claim("emails", articleWorker)["id"].(int64)
	if a.run("heartbeat", done, articleWorker) != 1 || a.run("heartbeat", done, "somebody else") != 0 {
		t.Error("heartbeats do not go by the owner")
	}
	if a.run("complete", done, articleWorker) != 1 || a.run("complete", done, articleWorker) != 0 || a.run("heartbeat", done, articleWorker) != 0 {
		t.Error("a job is not completed exactly once")
	}
	if job := get(t, q, done); job.Status != Completed || job.LockedBy != "" {
		t.Errorf("completed, it is %s of %q", job.Status, job.LockedBy)
	}

	retried := a.claim("emails", articleWorker)["id"].(int64)
	if a.run("retry", retried, articleWorker, "503") != 1 {
		t.Error("not retried")
	}
	if job := get(t, q, retried); job.Status != Pending || job.RunAt.Sub(job.UpdatedAt) != 2*time.Minute || job.LastError != "503" || job.Fingerprint != "‹n›" {
		t.Errorf("retried, it is %s, due in %v, error %q (%s)", job.Status, job.RunAt.Sub(job.UpdatedAt), job.LastError, job.Fingerprint)
	}

	ears := listen(t, q, q.Schema().DeadChannel())
	poison := a.claim("emails", articleWorker)["id"].(int64)
	if a.run("bury", poison, articleWorker, "bad schema") != 1 {
		t.Error("not buried")
	}
	ears.hears(t, "emails")
	listed, _, err := q.List(t.Context(), Filter{Statuses: DeadLetters}, Page{})
	if err != nil || len(listed) != 1 || listed[0].ID != poison || listed[0].LastError != "bad schema" || listed[0].DiedAt == nil {
		t.Errorf("dead letters %+v, %v", listed, err)
	}
	must[Done](t)(q.Redrive(t.Context(), "ann", poison))
	if again := a.claim("emails", articleWorker); again["id"] != poison || again["attempts"] != int32(1) {
		t.Errorf("redriven, the article claims %v", again)
	}
}

func TestArticleReclaim(t *testing.T) {
	t.Parallel()
	q := open(t)
	a := readArticle(t, q)
	a.run("insert")
	id := a.claim("emails", articleWorker)["id"].(int64)
	if n := a.run("reclaim"); n != 0 {
		t.Errorf("%d reclaimed in their lease", n)
	}
	expire(t, q, id)
	if n := a.run("reclaim"); n != 1 {
		t.Errorf("%d reclaimed", n)
	}
	if n := a.run("complete", id, articleWorker); n != 0 {
		t.Error("the late worker completed it")
	}
	if job := a.claim("emails", "next"); job["attempts"] != int32(2) {
		t.Errorf("claimed %v", job)
	}
}

// The article's hole: a retryable failure on the last attempt matches no row, and its
// reclaim skips the job too. Ours ends it.
func TestArticleHole(t *testing.T) {
	t.Parallel()
	q := open(t)
	a := readArticle(t, q)
	a.run("insert")
	exec(t, q, "update leasetop.jobs set max_attempts = 1")
	id := a.claim("emails", articleWorker)["id"].(int64)
	if n := a.run("retry", id, articleWorker, "503"); n != 0 {
		t.Errorf("%d retried", n)
	}
	expire(t, q, id)
	if n := a.run("reclaim"); n != 0 {
		t.Errorf("%d reclaimed by the article", n)
	}
	if job := get(t, q, id); job.Status != Processing {
		t.Fatalf("it is %s", job.Status)
	}
	taken := must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10))
	if len(taken) != 1 || taken[0].Status != Dead || taken[0].Owner != articleWorker {
		t.Errorf("reclaimed %+v", taken)
	}
	if job := get(t, q, id); job.Status != Dead || !strings.HasPrefix(job.LastError, "worker lost once") {
		t.Errorf("it is %s: %q", job.Status, job.LastError)
	}
}

// Both kinds of workers on one queue fence each other.
func TestArticleWorkerBesideOurs(t *testing.T) {
	t.Parallel()
	q := open(t)
	a := readArticle(t, q)
	a.run("insert")
	ours := claim(t, q, time.Minute)
	if a.claim("emails", articleWorker) != nil || a.run("complete", ours.ID, articleWorker) != 0 || a.run("bury", ours.ID, articleWorker, "x") != 0 {
		t.Error("the article's worker took our job")
	}
	expire(t, q, ours.ID)
	a.run("reclaim")
	theirs := a.claim("emails", articleWorker)
	if theirs["id"] != ours.ID {
		t.Fatalf("claimed %v", theirs)
	}
	if lost := must[[]Lease](t)(q.CompleteMany(t.Context(), []Lease{ours.Lease()})); len(lost) != 1 {
		t.Error("our late worker completed their job")
	}
	if _, known := ParseToken(articleWorker); known {
		t.Error("the article's owner reads as one of our tokens")
	}
	if leases := must[[]Job](t)(q.Leases(t.Context(), 10)); len(leases) != 1 || leases[0].LockedBy != articleWorker {
		t.Errorf("leases %v", leases)
	}
}

// The article's Node.js worker, in its own process, beside a claimer of ours.
func TestArticleNodeWorker(t *testing.T) {
	t.Parallel()
	modules := nodeModules(t)
	q := open(t)
	a := readArticle(t, q)
	insert := func(template string, most int) {
		t.Helper()
		// The article's own INSERT, with another template.
		must[pgconn.CommandTag](t)(a.conn.Exec(t.Context(), strings.NewReplacer("welcome", template, "5)", fmt.Sprint(most, ")")).Replace(a.text("insert"))))
	}
	const welcomes = 60
	for range welcomes {
		insert("welcome", 5)
	}
	insert("slow", 5)
	insert("slow", 1)
	insert("bad", 5)

	sent := startNode(t, q, modules)
	seen := map[string]int{}
	seen[<-sent]++ // it is at work
	ourJobs := 0
	for {
		jobs := take(t, q, "emails", 1)
		if len(jobs) == 0 {
			break
		}
		var payload struct{ Template string }
		ok(t, json.Unmarshal(jobs[0].Payload, &payload))
		switch payload.Template {
		case "welcome":
			ourJobs++
			ok(t, q.Complete(t.Context(), jobs[0].Lease()))
		default: // those are for the other one
			must[Status](t)(q.Release(t.Context(), jobs[0].Lease()))
		}
	}
	for seen["slow"] < 2 || seen["bad"] == 0 || seen["welcome"]+ourJobs < welcomes {
		seen[<-sent]++
	}
	// What it says, it says before it writes the outcome.
	until(t, q, "select count(*) from leasetop.jobs where status = 'completed'", welcomes)
	until(t, q, "select count(*) from leasetop.jobs where status = 'dead' and last_error = 'no such template' and attempts = 1", 1)
	until(t, q, "select count(*) from leasetop.jobs where status = 'pending' and last_error = 'SMTP timeout' and attempts = 1 and run_at > now()", 1)
	until(t, q, "select count(*) from leasetop.jobs where status = 'processing' and max_attempts = 1", 1) // the hole
	if seen["welcome"]+ourJobs != welcomes {
		t.Errorf("%d sent by node and %d by us, of %d", seen["welcome"], ourJobs, welcomes)
	}
	t.Logf("node sent %d, we %d", seen["welcome"], ourJobs)

	// A job that kills its worker: the next one reclaims it by the article's statement.
	insert("killer", 5)
	for range sent { // until its output ends
	}
	exec(t, q, "update leasetop.jobs set lease_expires_at = now() - interval '1 second' where status = 'processing'")
	sent = startNode(t, q, modules)
	for line := range sent {
		if line == "killer" {
			break
		}
	}
	until(t, q, "select count(*) from leasetop.jobs where status = 'completed' and attempts = 2", 1)
	if taken := must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10)); len(taken) != 1 || taken[0].Status != Dead {
		t.Errorf("in the hole: %+v", taken)
	}
}

// nodeModules finds a folder with the npm package pg: LEASETOP_NODE_PG names one, or
// node resolves it from here.
func nodeModules(t *testing.T) string {
	t.Helper()
	node, err := osexec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	if folder := os.Getenv("LEASETOP_NODE_PG"); folder != "" {
		modules := must[string](t)(filepath.Abs(filepath.Join(folder, "node_modules")))
		if _, err := os.Stat(filepath.Join(modules, "pg", "package.json")); err != nil {
			t.Fatalf("LEASETOP_NODE_PG names no folder with node_modules/pg: npm install --prefix %s pg", folder)
		}
		return modules
	}
	out, err := osexec.Command(node, "-p", `require.resolve("pg/package.json")`).Output()
	if err != nil {
		t.Skip("node finds no package pg: npm install --prefix FOLDER pg, and LEASETOP_NODE_PG=FOLDER")
	}
	return filepath.Dir(filepath.Dir(strings.TrimSpace(string(out))))
}

// startNode runs the article's worker and returns the template of each mail it sends.
// The channel ends with the process.
func startNode(t *testing.T, q *Queue, modules string) <-chan string {
	t.Helper()
	dir := t.TempDir()
	text := must[[]byte](t)(os.ReadFile("testdata/article/worker.mjs"))
	ok(t, os.WriteFile(filepath.Join(dir, "worker.mjs"), text, 0o600))
	ok(t, os.Symlink(modules, filepath.Join(dir, "node_modules")))
	cmd := osexec.CommandContext(t.Context(), "node", filepath.Join(dir, "worker.mjs"))
	cmd.Env = append(os.Environ(), "DATABASE_URL="+q.Pool().Config().ConnString()+"&options=-csearch_path%3D"+q.Schema().Name())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	ok(t, err)
	ok(t, cmd.Start())
	sent := make(chan string, 1000)
	go func() {
		defer close(sent)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if fields := strings.Fields(lines.Text()); len(fields) == 4 && fields[0] == "Sending" {
				sent <- fields[1]
			}
		}
		_ = cmd.Wait() // its exit is what the test is about
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		for range sent {
		}
	})
	return sent
}

// until waits for another process's writes to make the count so.
func until(t testing.TB, q *Queue, sql string, want int64) {
	t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for giveUp := time.Now().Add(time.Minute); time.Now().Before(giveUp); {
		if count(t, q, sql) == want {
			return
		}
		<-look.C
	}
	t.Fatalf("%s: %d, want %d", sql, count(t, q, sql), want)
}
