package watch

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

func TestCountsThatTakeTooLongGoLessFarAndLaterFurtherAgain(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var r reach
	after := func(d time.Duration) { now = now.Add(d) }
	expect := func(when string, cap int) {
		t.Helper()
		if r.cap() != cap {
			t.Errorf("%s it counts to %d, want %d", when, r.cap(), cap)
		}
	}
	expect("at first", 100_000)
	for range 3 {
		if !r.tooFar(now) {
			t.Fatal("there is nothing shorter")
		}
	}
	expect("cancelled three times", 100)
	if r.tooFar(now) {
		t.Errorf("it goes on to count to %d", r.cap())
	}
	after(growAfter - time.Second)
	r.through(now)
	expect("before it is time to try", 100)
	after(time.Second)
	r.through(now)
	expect("when it is time", 1000)
	r.tooFar(now)
	expect("tried in vain", 100)
	after(growAfter)
	r.through(now)
	expect("half the time later", 100)
	after(growAfter)
	r.through(now)
	expect("twice the time later", 1000)
	after(growAfter)
	r.through(now) // it stood: the next step may be tried after the usual time
	expect("having stood", 10_000)
	for range 20 {
		r.tooFar(now)
		after(growMost)
		r.through(now)
		expect("after the longest wait", 10_000)
	}
}

func TestLimitOfADatabaseIsNotLifted(t *testing.T) {
	t.Parallel()
	for limit, want := range map[string]string{"700ms": "700ms", "1min": "5s", "0": "5s"} {
		url := testdb.New(t)
		exec(t, client(t, url), fmt.Sprintf("DO $$ BEGIN EXECUTE format('ALTER DATABASE %%I SET statement_timeout = %%L', current_database(), '%s'); END $$", limit))
		f := start(t, open(t, url), Options{Poll: -1, NoWAL: true})
		await(t, f, "a reading", func(s *State) bool { return s.Polling.OK })
		var got string
		do(t, f.reader.Pool().QueryRow(t.Context(), "SHOW statement_timeout").Scan(&got))
		if got != want || f.allowed() != want {
			t.Errorf("where the database allows %s, a reading may take %s and is said to be allowed %s", limit, got, f.allowed())
		}
	}
}

// A dead letter that takes ten seconds to look at is one that a count to 100,000 meets
// and a count to 10,000 does not.
func TestPollThatTheDatabaseCancelsCountsLessFarAndSaysSo(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	psql := client(t, url)
	exec(t, psql, "INSERT INTO leasetop.jobs (queue, status, updated_at) SELECT 'emails', 'dead', now() - n * interval '1 second' FROM generate_series(1, 20000) n")
	slow := number(t, psql, `SELECT id FROM leasetop.jobs WHERE id BETWEEN 15000 AND 19000 AND id NOT IN (
		SELECT id FROM leasetop.jobs TABLESAMPLE SYSTEM ((SELECT 100.0 * 256 / (pg_relation_size('leasetop.jobs') / 8192))) REPEATABLE (1)) LIMIT 1`)
	role := fmt.Sprintf("leasetop_test_slow_%d", time.Now().UnixNano())
	for _, sql := range []string{
		"CREATE ROLE " + role + " LOGIN",
		"GRANT USAGE ON SCHEMA leasetop TO " + role,
		"GRANT SELECT ON ALL TABLES IN SCHEMA leasetop TO " + role,
		"ALTER ROLE " + role + " SET statement_timeout = 500",
		"ALTER TABLE leasetop.jobs ENABLE ROW LEVEL SECURITY",
		fmt.Sprintf("CREATE POLICY slow ON leasetop.jobs FOR SELECT USING (id <> %d OR pg_sleep(10) IS NULL)", slow),
	} {
		exec(t, psql, sql)
	}
	t.Cleanup(func() {
		_, err := psql.Exec(context.Background(), "DROP OWNED BY "+role+"; DROP ROLE "+role)
		do(t, err)
	})
	f := start(t, open(t, strings.Replace(url, "postgres@", role+"@", 1)), Options{NoWAL: true})
	s := await(t, f, "counts", func(s *State) bool { return s.Depths.Source == Polled && s.Dead.Source != Unknown })
	want := queue.AtLeast{Failed: true, Dead: true}
	if d := s.Depths.Queues[0]; d.Dead != 10_000 || d.AtLeast != want || s.Depths.Cap != 10_000 || s.Dead.Total != 10_000 || !s.Dead.Capped {
		t.Errorf("%+v of %d, %d dead letters", d, s.Depths.Cap, s.Dead.Total)
	}
	reason := "statement_timeout is 500ms, and counting further takes longer"
	if s.Depths.Note != reason || !s.Polling.OK {
		t.Errorf("%q, %+v", s.Depths.Note, s.Polling)
	}
	if told := strings.Join(healthOf(s), "\n"); told != "poll: no count goes further than 10,000: "+reason {
		t.Errorf("told %q", told)
	}
}
