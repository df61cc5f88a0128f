package watch

import (
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// refused starts a feed whose stream cannot be had and returns the reason.
func refused(t *testing.T, q *queue.Queue, want string) *Feed {
	t.Helper()
	f := start(t, q, Options{})
	s := await(t, f, "a reason", func(s *State) bool { return s.Polling.OK && strings.Contains(s.WAL.Reason, want) })
	if s.WAL.OK {
		t.Errorf("%+v", s.WAL)
	}
	notes := healthOf(s)
	if len(notes) != 1 || notes[0] != "WAL stream: "+s.WAL.Reason {
		t.Errorf("health: %q", notes)
	}
	return f
}

func TestWithoutLogicalWALThePollTellsTheStory(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t, "wal_level=replica")
	q := open(t, testdb.On(t, server))
	f := refused(t, q, "wal_level is replica: ALTER SYSTEM SET wal_level = 'logical'")
	s := f.State()
	enqueue(t, q, queue.NewJob{})
	job := claim(t, q, time.Minute)
	now := await(t, f, "the claim", func(now *State) bool { return len(story(s, now)) > 0 })
	if e := now.Events[len(now.Events)-1]; e.What != Claimed || e.Source != Polled || e.JobID != job.ID {
		t.Errorf("%+v", e)
	}
	do(t, q.Complete(t.Context(), job.Lease()))
	await(t, f, "a rate", func(s *State) bool {
		return len(s.Depths.Queues) == 1 && s.Depths.Queues[0].Rates == Polled && s.Depths.Queues[0].Rate.Out > 0
	})
}

func TestCloseWhileTheSlotWaitsLeavesNone(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t)
	url := testdb.On(t, server)
	writer := client(t, url)
	exec(t, writer, "BEGIN")
	exec(t, writer, "INSERT INTO leasetop.jobs (queue) VALUES ('x')")
	psql := client(t, url)
	f := start(t, open(t, url), Options{})
	waiting := "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'leasetop feed wal' AND wait_event_type = 'Lock'"
	for number(t, psql, waiting) == 0 {
		if !rest(t.Context(), 10*time.Millisecond, nil) {
			t.Fatal("it never waited")
		}
	}
	f.Close()
	if n := slots(t, psql); n != 0 {
		t.Errorf("%d slots are left", n)
	}
	exec(t, writer, "ROLLBACK")
}

func TestErrorOfThePublicationStopsTheStreamInWords(t *testing.T) {
	t.Parallel()
	f, q, psql := streams(t)
	exec(t, psql, "ALTER PUBLICATION leasetop_jobs SET TABLE leasetop.jobs (id, queue)")
	enqueue(t, q, queue.NewJob{})
	await(t, f, "a reason", func(s *State) bool {
		return !s.WAL.OK && strings.Contains(s.WAL.Reason, "add them to its column list")
	})
}
