package watch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

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
