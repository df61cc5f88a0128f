package watch

import (
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// What happens while the table is not published never comes by the stream. However
// short that was, the counts are not to be trusted afterwards.
func TestCountsOutliveAGapInThePublication(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t))
	q, psql := open(t, url), client(t, url)
	f := start(t, q, Options{})
	s := await(t, f, "every connection up", attached)
	exec(t, psql, "ALTER PUBLICATION leasetop_jobs DROP TABLE leasetop.jobs")
	exec(t, psql, "INSERT INTO leasetop.jobs (queue) SELECT 'gap' FROM generate_series(1, 40)")
	exec(t, psql, "ALTER PUBLICATION leasetop_jobs ADD TABLE leasetop.jobs")
	await(t, f, "the jobs of the gap", func(now *State) bool {
		return now.Depths.Source == FromWAL && sum(now).Ready == 40 && now.WAL.Since.After(s.WAL.Since)
	})
	if notes := healthOf(f.State()); !strings.Contains(strings.Join(notes, "\n"), errPublication.Error()) {
		t.Errorf("told %q", notes)
	}
	exec(t, psql, "ALTER PUBLICATION leasetop_jobs DROP TABLE leasetop.jobs")
	s = await(t, f, "polled counts", func(s *State) bool { return s.Depths.Source == Polled && !s.WAL.OK })
	enqueue(t, q, queue.NewJob{Queue: "gap"})
	await(t, f, "a polled job and the cure", func(s *State) bool {
		return sum(s).Ready == 41 && strings.Contains(s.WAL.Reason, "publication")
	})
}

// A writer may have switched the triggers off, as a restore does. The stream knows
// of its dead letters all the same.
func TestDeadLettersOfAWriterWithoutTriggersAreListed(t *testing.T) {
	t.Parallel()
	f, q, psql := streams(t)
	enqueue(t, q, queue.NewJob{})
	exec(t, psql, "SET session_replication_role = 'replica'")
	exec(t, psql, "UPDATE leasetop.jobs SET status = 'dead', updated_at = now()")
	s := await(t, f, "the dead letter in the list", func(s *State) bool { return len(s.Dead.Latest) == 1 && s.Dead.Total == 1 })
	exec(t, psql, "DELETE FROM leasetop.jobs")
	now := await(t, f, "an empty list", func(s *State) bool { return len(s.Dead.Latest) == 0 && s.Dead.Total == 0 })
	if now.Dead.Signal != s.Dead.Signal {
		t.Error("the triggers signalled all the same")
	}
}

// A reading that was made while a delete was streamed, but not yet to be seen, is made again.
func TestDeadLettersThatTheStreamDoesNotCountAreReadAgain(t *testing.T) {
	t.Parallel()
	f, q, _ := streams(t)
	enqueue(t, q, queue.NewJob{})
	await(t, f, "a job, and nobody reading dead letters", func(s *State) bool {
		return sum(s).Ready == 1 && s.Dead.Source == Notice && time.Since(s.Dead.Read) > 2*deadEvery
	})
	f.change(func() { f.draft.Dead.Latest, f.draft.Dead.Read = []queue.Job{{ID: 7}}, time.Now() })
	await(t, f, "a list that is not so", func(s *State) bool { return len(s.Dead.Latest) == 1 })
	await(t, f, "an empty list", func(s *State) bool { return s.Dead.Source == Notice && len(s.Dead.Latest) == 0 })
}

// Rates tell what was done, not what is left.
func TestRatesOfAQueueThatIsGoneStay(t *testing.T) {
	t.Parallel()
	f, _, psql := streams(t)
	exec(t, psql, "INSERT INTO leasetop.jobs (queue) SELECT 'gone' FROM generate_series(1, 200)")
	await(t, f, "the jobs", func(s *State) bool { return sum(s).Ready == 200 })
	exec(t, psql, "DELETE FROM leasetop.jobs")
	s := await(t, f, "no jobs", func(s *State) bool { return sum(s).Ready == 0 })
	if len(s.Depths.Queues) != 1 || s.Depths.Queues[0].Rate.In == 0 || s.Depths.Queues[0].Rate.Out == 0 {
		t.Errorf("%+v", s.Depths.Queues)
	}
	if r := s.Traffic.Rate; r.In == 0 || r.Out != r.In {
		t.Errorf("%+v", r)
	}
}

// The stream carries rows that row-level security hides from the role. Counts of some of
// each would be no counts at all.
func TestRowsHiddenFromTheRoleArePolledOnly(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t))
	psql := client(t, url)
	for _, sql := range []string{
		"CREATE ROLE watcher LOGIN REPLICATION", "GRANT USAGE ON SCHEMA leasetop TO watcher", "GRANT SELECT ON ALL TABLES IN SCHEMA leasetop TO watcher",
		"ALTER TABLE leasetop.jobs ENABLE ROW LEVEL SECURITY", "CREATE POLICY part ON leasetop.jobs TO watcher USING (queue <> 'hidden')",
		"INSERT INTO leasetop.jobs (queue) VALUES ('hidden'), ('seen')",
	} {
		exec(t, psql, sql)
	}
	f := start(t, open(t, strings.Replace(url, "postgres@", "watcher@", 1)), Options{})
	s := await(t, f, "polled counts and the reason", func(s *State) bool {
		return s.Depths.Source == Polled && strings.Contains(s.WAL.Reason, "row-level security")
	})
	if len(s.Depths.Queues) != 1 || s.Depths.Queues[0].Queue != "seen" {
		t.Errorf("%+v", s.Depths.Queues)
	}
}

// With another replica identity a deletion does not name the job.
func TestChangesThatDoNotNameTheJobAreNotFollowed(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t))
	q, psql := open(t, url), client(t, url)
	exec(t, psql, "INSERT INTO leasetop.jobs (queue, created_at) SELECT 'emails', now() - n * interval '1 s' FROM generate_series(1, 10) AS n")
	f := start(t, q, Options{})
	await(t, f, "every connection up", attached)
	exec(t, psql, "CREATE UNIQUE INDEX other ON leasetop.jobs (queue, created_at)")
	exec(t, psql, "ALTER TABLE leasetop.jobs ALTER created_at SET NOT NULL, REPLICA IDENTITY USING INDEX other")
	exec(t, psql, "DELETE FROM leasetop.jobs WHERE id % 2 = 0")
	await(t, f, "polled counts and the cure", func(s *State) bool {
		return s.Depths.Source == Polled && sum(s).Ready == 5 && strings.Contains(s.WAL.Reason, "REPLICA IDENTITY DEFAULT")
	})
	exec(t, psql, "ALTER TABLE leasetop.jobs REPLICA IDENTITY DEFAULT")
	poke(f.retryWAL)
	await(t, f, "counts from the stream", func(s *State) bool { return s.Depths.Source == FromWAL && sum(s).Ready == 5 })
}
