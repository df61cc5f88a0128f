package watch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// examine waits for a checkup that was asked for now and is as wanted.
func examine(t testing.TB, f *Feed, what string, ok func(*Checkup) bool) *State {
	t.Helper()
	asked := time.Now()
	f.Refresh()
	return await(t, f, "a checkup with "+what, func(s *State) bool {
		if s.Health.Read.Before(asked) {
			return false
		}
		if !ok(&s.Health) {
			asked = time.Now()
			f.Refresh()
			return false
		}
		return true
	})
}

func anything(*Checkup) bool { return true }

// judged is what State's findings say now of what begins so.
func judged(t testing.TB, s *State, about string) Finding {
	t.Helper()
	all := s.Findings(s.Health.At)
	for _, f := range all {
		if strings.HasPrefix(f.About, about) {
			return f
		}
	}
	t.Fatalf("no finding about %s in %+v", about, all)
	return Finding{}
}

// What the migrations made is what a checkup looks for, and all of it is found fine: a
// migration that adds an index, a trigger or a published column says so there.
func TestCheckupLooksForWhatTheMigrationsMake(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	s := examine(t, start(t, open(t, url), Options{NoWAL: true}), "parts", anything)
	var have []string
	for _, p := range s.Health.Parts {
		if p.State != PartFine || p.Without == "" || p.Lacks != "" {
			t.Errorf("%+v", p)
		}
		if p.Kind == "publication" {
			for column := range strings.SplitSeq(strings.Trim(p.Made, "()"), ", ") {
				have = append(have, "column "+p.Table+" "+column)
			}
			continue
		}
		have = append(have, p.Kind+" "+p.Table+" "+p.Name)
	}
	rows, err := client(t, url).Query(t.Context(), `
		SELECT 'index jobs ' || indexrelid::regclass FROM pg_index WHERE indrelid = 'leasetop.jobs'::regclass
		UNION ALL SELECT 'trigger ' || relname || ' ' || tgname FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid
			WHERE relnamespace = 'leasetop'::regnamespace AND NOT tgisinternal
		UNION ALL SELECT 'column ' || tablename || ' ' || column_name FROM pg_publication_tables, unnest(attnames) AS column_name
			WHERE pubname = 'leasetop_jobs'`)
	do(t, err)
	want, err := pgx.CollectRows(rows, pgx.RowTo[string])
	do(t, err)
	for i := range want {
		want[i] = strings.Replace(want[i], "leasetop.", "", 1)
	}
	slices.Sort(want)
	slices.Sort(have)
	if !slices.Equal(have, want) {
		t.Errorf("looked for\n%s\nthe migrations made\n%s", strings.Join(have, "\n"), strings.Join(want, "\n"))
	}
	for about, figure := range map[string]string{"indexes": "all 5 valid", "triggers": "all 6 on", "publication": "complete", "autovacuum": "on"} {
		if f := judged(t, s, about); f.Grade != Fine || f.Figure != figure || f.Cure != "" {
			t.Errorf("%+v", f)
		}
	}
}

// What is missing or does not work is named, with a cure that cures it.
func TestPartsThatFailAreNamedAndTheirCureWorks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, harm  string
		grade       Grade
		about       string
		figure, why string
	}{
		{"index dropped", "DROP INDEX leasetop.jobs_ready", Danger, "index jobs_ready", "missing", "each claim reads the whole table"},
		{"unique index dropped", "DROP INDEX leasetop.jobs_idempotency", Danger, "index jobs_idempotency", "missing", "the library cannot enqueue"},
		{"key dropped", "ALTER TABLE leasetop.jobs DROP CONSTRAINT jobs_pkey", Danger, "index jobs_pkey", "missing", "ids may repeat"},
		{"index invalid", "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'leasetop.jobs_dead'::regclass", Danger, "index jobs_dead", "invalid", "each page of dead letters reads the whole table"},
		{"index of other columns", "DROP INDEX leasetop.jobs_active; CREATE INDEX jobs_active ON leasetop.jobs (id)", Danger, "index jobs_active", "changed", "each look for leases"},
		{"index of its name is not unique", "DROP INDEX leasetop.jobs_idempotency; CREATE INDEX jobs_idempotency ON leasetop.jobs (queue, idempotency_key) WHERE status IN ('pending', 'processing') AND idempotency_key IS NOT NULL", Danger, "index jobs_idempotency", "changed", "keys may be in use twice"},
		{"trigger off", "ALTER TABLE leasetop.jobs DISABLE TRIGGER jobs_notify_ready", Caution, "trigger jobs_notify_ready", "off", "when they look next"},
		{"trigger off but for replicas", "ALTER TABLE leasetop.queues ENABLE REPLICA TRIGGER queues_notify", Caution, "trigger queues_notify", "off", "pauses"},
		{"triggers off", "ALTER TABLE leasetop.jobs DISABLE TRIGGER USER", Caution, "4 triggers of jobs", "off", "dead letters show a moment later"},
		{"publication without a column", "ALTER PUBLICATION leasetop_jobs SET TABLE leasetop.jobs (id, queue, kind, status, attempts, max_attempts, run_at, locked_at, locked_by, lease_expires_at, updated_at), leasetop.jobs_archive (id, queue, archived_by)", Caution, "publication", "lacks created_at, cancelled_by of jobs", "told wrongly"},
		{"publication without the archive", "ALTER PUBLICATION leasetop_jobs DROP TABLE leasetop.jobs_archive", Caution, "publication", "lacks the table jobs_archive", "a discard is told as a deletion"},
		{"publication without some rows", "ALTER PUBLICATION leasetop_jobs DROP TABLE leasetop.jobs; ALTER PUBLICATION leasetop_jobs ADD TABLE leasetop.jobs (id, queue, kind, status, attempts, max_attempts, run_at, locked_at, locked_by, lease_expires_at, created_at, updated_at, cancelled_by) WHERE (id > 7)", Caution, "publication", "lacks some changes of jobs", "told wrongly"},
		{"publication without deletions", "ALTER PUBLICATION leasetop_jobs SET (publish = 'insert, update')", Caution, "publication", "lacks some changes of jobs, some changes of jobs_archive", "told wrongly"},
		{"publication dropped", "DROP PUBLICATION leasetop_jobs", Caution, "publication", "missing", "there is no stream"},
		{"autovacuum off", "ALTER TABLE leasetop.jobs SET (autovacuum_enabled = off)", Caution, "autovacuum", "off for the jobs table", "claims grow slower"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url := testdb.New(t)
			psql := client(t, url)
			_, err := psql.Exec(t.Context(), c.harm, pgx.QueryExecModeSimpleProtocol)
			do(t, err)
			feed := start(t, open(t, url), Options{NoWAL: true})
			s := examine(t, feed, "a finding", anything)
			f := judged(t, s, c.about)
			if _, err := open(t, url).Enqueue(t.Context(), queue.NewJob{Queue: "emails"}); (err != nil) != strings.Contains(f.Why, "cannot enqueue") {
				t.Errorf("enqueue: %v, and the finding says %q", err, f.Why)
			}
			if f.Grade != c.grade || f.Figure != c.figure || !strings.Contains(f.Why, c.why) || f.Cure == "" {
				t.Errorf("%+v", f)
			}
			for statement := range cures(f.Cure) {
				exec(t, psql, statement)
			}
			enqueue(t, open(t, url), queue.NewJob{}) // as it can be again
			kind, _, _ := strings.Cut(c.about, " ")
			s = examine(t, feed, "what was cured", anything)
			for _, f := range s.Findings(s.Health.At) {
				if strings.HasPrefix(f.About, kind) && f.About != "trigger jobs_notify_ready" && f.Grade != Fine {
					t.Errorf("after its cure: %+v", f)
				}
			}
		})
	}
}

// cures are the statements in a cure's words.
func cures(text string) func(yield func(string) bool) {
	for _, who := range []string{"as its owner ", "on the database: "} {
		if _, after, ok := strings.Cut(text, who); ok {
			text = after
		}
	}
	return strings.SplitSeq(strings.ReplaceAll(text, ", then ", "; "), "; ")
}

// A CREATE INDEX CONCURRENTLY that failed leaves an index which every write maintains.
func TestIndexThatAFailedBuildLeftIsNamed(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	psql, q := client(t, url), open(t, url)
	exec(t, psql, "INSERT INTO leasetop.jobs (queue) VALUES ('emails'), ('emails')")
	if _, err := psql.Exec(t.Context(), `CREATE UNIQUE INDEX CONCURRENTLY "One per Queue" ON leasetop.jobs (queue)`); err == nil {
		t.Fatal("a unique index on what repeats")
	}
	feed := start(t, q, Options{NoWAL: true})
	f := judged(t, examine(t, feed, "the index", anything), "index")
	if want := `unless somebody builds it now: DROP INDEX CONCURRENTLY leasetop."One per Queue"`; f.Grade != Caution || f.Figure != "invalid" || f.Cure != want {
		t.Errorf("%+v", f)
	}
	_, drop, _ := strings.Cut(f.Cure, ": ")
	exec(t, psql, drop)
	if f := judged(t, examine(t, feed, "no such index", anything), "indexes"); f.Grade != Fine {
		t.Errorf("%+v", f)
	}
}

// What counts is what is indexed: names and storage are a matter of taste.
func TestIndexOfAnotherNameOrStorageIsFine(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	psql := client(t, url)
	exec(t, psql, "DROP INDEX leasetop.jobs_ready")
	exec(t, psql, "CREATE INDEX ours ON leasetop.jobs (queue, run_at, id) WITH (fillfactor = 80) WHERE status = 'pending'")
	s := examine(t, start(t, open(t, url), Options{NoWAL: true}), "parts", anything)
	if f := judged(t, s, "indexes"); f.Grade != Fine || f.Figure != "all 5 valid" {
		t.Errorf("%+v", f)
	}
}

// A role that may see nothing of others learns all the rest, and what is hidden.
func TestWhatARoleMayNotSeeIsSaidToBeHidden(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	psql := client(t, url)
	role := fmt.Sprintf("leasetop_test_%08x", rand.Uint32())
	exec(t, psql, "CREATE ROLE "+role)
	t.Cleanup(func() {
		for _, sql := range []string{"DROP OWNED BY " + role, "DROP ROLE " + role} {
			if _, err := psql.Exec(context.Background(), sql); err != nil {
				t.Error(err)
			}
		}
	})
	exec(t, psql, "GRANT USAGE ON SCHEMA leasetop TO "+role)
	exec(t, psql, "GRANT SELECT ON ALL TABLES IN SCHEMA leasetop TO "+role)
	feed := start(t, open(t, url+"&role="+role), Options{NoWAL: true})
	await(t, feed, "a poll", func(s *State) bool { return s.Polling.OK }) // who this is
	s := examine(t, feed, "hidden sessions", func(c *Checkup) bool { return c.Hidden > 0 })
	f := judged(t, s, "transactions of others")
	if f.Grade != Hidden || f.Cure != "GRANT pg_read_all_stats TO "+role {
		t.Errorf("%+v", f)
	}
	if s.Health.Reason != "" || judged(t, s, "indexes").Grade != Fine || judged(t, s, "autovacuum").Grade != Fine || s.Health.Rows.VacuumFrom != 5000 {
		t.Errorf("%+v", s.Health)
	}
	exec(t, psql, f.Cure)
	examine(t, feed, "nothing hidden", func(c *Checkup) bool { return c.Hidden == 0 })
}

// A checkup that fails is told, and nothing else ends with it.
func TestCheckupThatFailsLeavesThePollAlone(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	psql, q := client(t, url), open(t, url)
	role := fmt.Sprintf("leasetop_test_%08x", rand.Uint32())
	exec(t, psql, "CREATE ROLE "+role)
	t.Cleanup(func() {
		for _, sql := range []string{"DROP OWNED BY " + role, "DROP ROLE " + role} {
			if _, err := psql.Exec(context.Background(), sql); err != nil {
				t.Error(err)
			}
		}
	})
	exec(t, psql, "GRANT USAGE ON SCHEMA leasetop TO "+role)
	exec(t, psql, "GRANT SELECT ON ALL TABLES IN SCHEMA leasetop TO "+role)
	exec(t, psql, "REVOKE SELECT ON pg_replication_slots FROM PUBLIC")
	feed := start(t, open(t, url+"&role="+role), Options{NoWAL: true})
	s := await(t, feed, "why there is no checkup", func(s *State) bool { return s.Health.Reason != "" })
	if !strings.Contains(s.Health.Reason, "permission denied for view pg_replication_slots") {
		t.Errorf("%+v", s.Health)
	}
	if f := judged(t, s, "the rest"); f.Grade != Hidden || f.Why != s.Health.Reason {
		t.Errorf("%+v", f)
	}
	enqueue(t, q, queue.NewJob{})
	s = await(t, feed, "a job", func(s *State) bool { return len(s.Depths.Queues) == 1 })
	if !s.Polling.OK {
		t.Errorf("%+v", s.Polling)
	}
	exec(t, psql, "GRANT SELECT ON pg_replication_slots TO PUBLIC")
	if s = examine(t, feed, "no reason", anything); s.Health.Reason != "" {
		t.Errorf("%+v", s.Health)
	}
}

// Each transaction that holds something up is named, and what it holds up.
func TestOldTransactionsAreNamed(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t, "max_prepared_transactions=4")
	url := testdb.On(t, server)
	elsewhere, err := server.Database(t.Context(), "elsewhere")
	do(t, err)
	feed := start(t, open(t, url), Options{NoWAL: true})
	await(t, feed, "a poll", func(s *State) bool { return s.Polling.OK })

	reads := client(t, url+"&application_name=night%20report")
	exec(t, reads, "BEGIN ISOLATION LEVEL REPEATABLE READ")
	exec(t, reads, "SELECT FROM leasetop.jobs")
	s := examine(t, feed, "the reader", func(c *Checkup) bool { return len(c.Open) == 1 })
	open := s.Health.Open[0]
	if open.Name != "night report" || open.State != "idle in transaction" || !open.Here || open.Writes || !open.Looks || open.PID != int64(reads.PgConn().PID()) {
		t.Errorf("%+v", open)
	}
	if f := judged(t, s, "open transactions"); f.Grade != Fine || f.Figure != "none older than 10s" {
		t.Errorf("%+v", f)
	}
	about := func(after time.Duration) Finding {
		for _, f := range s.Findings(s.Health.Open[0].Began.Add(after)) {
			if strings.Contains(f.About, "transaction") {
				return f
			}
		}
		return Finding{}
	}
	if f := about(42 * time.Second); f.Grade != Fine || !strings.Contains(f.Figure, `the oldest for 42s, process`) {
		t.Errorf("%+v", f)
	}
	if f := about(5 * time.Minute); f.Grade != Caution || f.Figure != "open for 5m" || !strings.Contains(f.Why, "cannot be vacuumed") || strings.Contains(f.Why, "streams") {
		t.Errorf("%+v", f)
	}
	f := about(90 * time.Minute)
	if want := fmt.Sprintf(`process %d ("night report", user %s, database %s), idle in transaction: `, open.PID, open.User, open.Database); f.Grade != Danger || !strings.HasPrefix(f.Why, want) {
		t.Errorf("%+v, want %s", f, want)
	}
	_, cure, _ := strings.Cut(f.Cure, "or ")
	exec(t, client(t, url), cure)
	examine(t, feed, "no transaction", func(c *Checkup) bool { return len(c.Open) == 0 })

	// One that has only been begun holds nothing up.
	idle := client(t, url)
	exec(t, idle, "BEGIN")
	s = examine(t, feed, "the idle one", func(c *Checkup) bool { return len(c.Open) == 1 })
	if f := about(3 * time.Hour); f.Grade != Fine {
		t.Errorf("%+v", f)
	}
	exec(t, idle, "ROLLBACK")

	prepared := client(t, elsewhere)
	exec(t, prepared, "CREATE TABLE things (id int)")
	exec(t, prepared, "BEGIN")
	exec(t, prepared, "INSERT INTO things VALUES (1)")
	exec(t, prepared, "PREPARE TRANSACTION 'it''s left'")
	s = examine(t, feed, "the prepared one", func(c *Checkup) bool { return len(c.Open) == 1 && c.Open[0].PID == 0 })
	f = about(time.Hour)
	if f.Grade != Danger || f.About != "prepared transaction" || !strings.HasPrefix(f.Why, `"it's left" of user `) || !strings.Contains(f.Why, "new streams wait") || strings.Contains(f.Why, "vacuum") {
		t.Errorf("%+v", f)
	}
	_, cure, _ = strings.Cut(f.Cure, ", or ")
	exec(t, prepared, cure)
	examine(t, feed, "nothing prepared", func(c *Checkup) bool { return len(c.Open) == 0 })
}

// Whoever wants the table alone and has to wait makes everybody wait. The one at the
// head of them all is named, and the checkup itself waits for nobody.
func TestWaitForTheTableIsNamed(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	feed := start(t, open(t, url), Options{NoWAL: true, Poll: -1})
	await(t, feed, "the first checkup", func(s *State) bool { return len(s.Health.Parts) > 0 && s.Polling.OK })
	reads := client(t, url+"&application_name=night%20report")
	exec(t, reads, "BEGIN")
	exec(t, reads, "SELECT FROM leasetop.jobs")
	waits := make(chan error, 2)
	for _, sql := range []string{"DROP INDEX leasetop.jobs_dead", "INSERT INTO leasetop.jobs (queue) VALUES ('emails')"} {
		psql := client(t, url)
		go func() {
			_, err := psql.Exec(context.Background(), sql)
			waits <- err
		}()
		behind := map[bool]int{true: 1, false: 2}[strings.HasPrefix(sql, "DROP")]
		for feed.State().Health.Waiting.Sessions < behind || feed.State().Health.Waiting.Since.IsZero() {
			do(t, feed.readHealth(t.Context()))
			feed.publish()
		}
	}
	s := feed.State()
	if !s.Health.PartsOld || len(s.Health.Parts) != 13 || s.Health.Reason != "" {
		t.Errorf("%+v", s.Health)
	}
	all := s.Findings(s.Health.Waiting.Since.Add(3 * time.Second))
	f := all[slices.IndexFunc(all, func(f Finding) bool { return f.About == "wait for the table" })]
	if want := fmt.Sprintf(`it waits for process %d ("night report", user `, reads.PgConn().PID()); f.Grade != Caution || f.Figure != "2 sessions, for 3s" || !strings.Contains(f.Why, want) {
		t.Errorf("%+v", f)
	}
	if f := judged(t, s, "indexes and triggers"); f.Grade != Hidden {
		t.Errorf("%+v", f)
	}
	_, cure, _ := strings.Cut(f.Cure, "or ")
	exec(t, client(t, url), cure)
	for range cap(waits) {
		do(t, <-waits)
	}
	s = examine(t, feed, "nobody waiting", func(c *Checkup) bool { return c.Waiting.Sessions == 0 })
	if f := judged(t, s, "index jobs_dead"); s.Health.PartsOld || f.Figure != "missing" {
		t.Errorf("%+v", f)
	}
}

// A session that listens and sits in a transaction keeps every signal of the server
// in the queue.
func TestListenerInATransactionFillsTheNotificationQueueAndIsNamed(t *testing.T) {
	t.Parallel()
	small := testdb.Server(t)
	version := number(t, client(t, small.URL("postgres")), "SELECT current_setting('server_version_num')::int")
	if version >= 170000 { // it can be made small there: 64 pages instead of eight gigabytes
		small = testdb.Server(t, "max_notify_queue_pages=64")
	}
	url := testdb.On(t, small)
	feed := start(t, open(t, url), Options{NoWAL: true})
	s := examine(t, feed, "an empty queue", func(c *Checkup) bool { return c.Notifications == 0 })
	if f := judged(t, s, "notification queue"); f.Grade != Fine || f.Figure != "0 % full" {
		t.Errorf("%+v", f)
	}

	deaf := client(t, url+"&application_name=deaf")
	exec(t, deaf, "LISTEN anything")
	exec(t, deaf, "BEGIN")
	exec(t, deaf, "SELECT 1")
	psql := client(t, url)
	for range 10 { // nearly a page each
		exec(t, psql, "SELECT pg_notify('leasetop_dead', repeat('x', 7000))")
	}
	s = examine(t, feed, "something in the queue", func(c *Checkup) bool { return c.Notifications > 0 })
	if version < 170000 {
		if f := judged(t, s, "notification queue"); f.Grade != Fine || f.Figure != "under 1 % full" {
			t.Errorf("%+v", f)
		}
		full := *s // as it would be after 800 MB more
		full.Health.Notifications = 0.1
		s = &full
	}
	began := s.Health.Open[slices.IndexFunc(s.Health.Open, func(t Transaction) bool { return t.Name == "deaf" })].Began
	all := s.Findings(began.Add(time.Minute))
	f := all[slices.IndexFunc(all, func(f Finding) bool { return f.About == "notification queue" })]
	if f.Grade != Caution || !strings.Contains(f.Why, fmt.Sprintf(`open for 1m: process %d ("deaf", user `, deaf.PgConn().PID())) {
		t.Errorf("%+v", f)
	}
	_, cure, _ := strings.Cut(f.Cure, "or ")
	exec(t, psql, cure)
	examine(t, feed, "an empty queue again", func(c *Checkup) bool { return c.Notifications == 0 })
}

// Our slot keeps the write-ahead log since the oldest write transaction began: that is
// told, and goes when the transaction ends.
func TestWALThatSlotsHoldIsTold(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t))
	feed := start(t, open(t, url), Options{})
	await(t, feed, "the stream", attached)
	own := func(c *Checkup) *Slot {
		if len(c.Slots) > 0 && c.Slots[0].Own {
			return &c.Slots[0]
		}
		return &Slot{}
	}
	s := examine(t, feed, "our slot", func(c *Checkup) bool { return own(c).Active })
	if slot := own(&s.Health); slot.Held >= 16<<20 || !slot.Temporary || !slot.Feed || judged(t, s, "WAL held for this feed").Grade != Fine {
		t.Errorf("%+v", slot)
	}
	psql := client(t, url)
	exec(t, psql, "SELECT pg_create_physical_replication_slot('left', true)")
	writer := client(t, url)
	exec(t, writer, "BEGIN")
	exec(t, writer, "SELECT pg_current_xact_id()")
	for range 20 {
		exec(t, psql, "SELECT pg_logical_emit_message(false, 'test', repeat('x', 1 << 20))")
	}
	s = examine(t, feed, "20 MB held", func(c *Checkup) bool { return own(c).Held >= 20<<20 })
	if f := judged(t, s, "WAL held for this feed"); f.Grade != Fine || !strings.HasSuffix(f.Figure, " MB") {
		t.Errorf("%+v", f)
	}
	left := &s.Health.Slots[1]
	if left.Name != "left" || left.Own || left.Feed || left.Active || left.Held < 20<<20 {
		t.Errorf("%+v", left)
	}
	if f := judged(t, s, "WAL held for others"); f.Grade != Fine || !strings.HasSuffix(f.Figure, " MB at most, by 1 slot") {
		t.Errorf("%+v", f)
	}
	left.Held = 2 << 30
	f := judged(t, s, "replication slot left")
	if f.Grade != Caution || f.Figure != "2.0 GB" {
		t.Errorf("%+v", f)
	}
	_, cure, _ := strings.Cut(f.Cure, "nobody needs it, ")
	exec(t, psql, cure)
	exec(t, writer, "COMMIT")
	examine(t, feed, "next to nothing held, by our slot alone", func(c *Checkup) bool {
		exec(t, psql, "CHECKPOINT") // says what runs, from which the slot learns how far it may go
		return own(c).Held < 16<<20 && len(c.Slots) == 1
	})
}

// On a standby all is told but what a standby does not know.
func TestCheckupOfAStandby(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t)
	url := testdb.On(t, server)
	feed := start(t, open(t, url), Options{NoWAL: true})
	if s := examine(t, feed, "the primary's", anything); s.Health.Rows.Standby {
		t.Errorf("%+v", s.Health.Rows)
	}
	do(t, os.WriteFile(filepath.Join(server.DataDir(), "standby.signal"), nil, 0o644))
	do(t, server.Restart(t.Context(), local.Fast))
	examine(t, feed, "the standby's", func(c *Checkup) bool { return c.Rows.Standby })
	s := await(t, feed, "the standby's poll", func(s *State) bool { return s.Server.ReadOnly })
	if s.Health.Reason != "" || len(s.Health.Parts) != 13 {
		t.Errorf("%+v %+v", s.Server, s.Health)
	}
	if f := judged(t, s, "dead rows"); f.Grade != Hidden || f.Figure != "counted on the primary only" {
		t.Errorf("%+v", f)
	}
	if f := judged(t, s, "indexes"); f.Grade != Fine {
		t.Errorf("%+v", f)
	}
}

func TestCheckupInEveryModeOfPgx(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		f := start(t, open(t, url+"&default_query_exec_mode="+mode), Options{NoWAL: true, Poll: -1})
		s := await(t, f, "a checkup by "+mode, func(s *State) bool { return !s.Health.Read.IsZero() || s.Health.Reason != "" })
		if s.Health.Reason != "" || len(s.Health.Parts) != 13 || s.Health.Rows.VacuumFrom != 5000 {
			t.Errorf("%s: %+v", mode, s.Health)
		}
		f.Close()
	}
}
