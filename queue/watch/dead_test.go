package watch

import (
	"testing"
	"time"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

// Another dead letter in the place of one: their number does not tell, and nobody signals.
func TestDeadLettersArePolledWhileNobodyListens(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	n := &network{app: "leasetop feed listen"}
	n.mute.Store(true)
	f := start(t, across(t, url, n), Options{NoWAL: true})
	psql := client(t, url)
	exec(t, psql, "INSERT INTO leasetop.jobs (queue, status, last_error) VALUES ('raw', 'dead', 'one')")
	s := await(t, f, "the first", func(s *State) bool { return len(s.Dead.Latest) == 1 })
	if s.Dead.Source != Polled || s.Notify.OK {
		t.Errorf("read by %q while LISTEN is %+v", s.Dead.Source, s.Notify)
	}
	exec(t, psql, "WITH gone AS (DELETE FROM leasetop.jobs) INSERT INTO leasetop.jobs (queue, status, last_error) VALUES ('raw', 'dead', 'two')")
	await(t, f, "the second in its place", func(s *State) bool {
		return s.Dead.Total == 1 && len(s.Dead.Latest) == 1 && s.Dead.Latest[0].LastError == "two"
	})
}

// As long as a reading that was asked for has not been made, State says since when.
func TestOwedReadingOfDeadLettersIsTold(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	f := start(t, open(t, url), Options{Poll: -1, NoWAL: true})
	s := await(t, f, "all read", func(s *State) bool { return listening(s) && s.Dead.Source == Notice && s.Dead.Owed.IsZero() })
	read := s.Dead.Read
	blocker, psql := client(t, url), client(t, url)
	exec(t, blocker, "BEGIN; LOCK TABLE leasetop.jobs IN ACCESS EXCLUSIVE MODE")
	asked := time.Now()
	exec(t, psql, "NOTIFY leasetop_dead")
	s = await(t, f, "a reading owed", func(s *State) bool { return !s.Dead.Owed.IsZero() })
	if s.Dead.Owed.Before(asked) || !s.Dead.Read.Equal(read) {
		t.Errorf("owed since %v, asked at %v; read at %v, before at %v", s.Dead.Owed, asked, s.Dead.Read, read)
	}
	exec(t, blocker, "COMMIT")
	await(t, f, "it made", func(s *State) bool { return s.Dead.Owed.IsZero() && s.Dead.Read.After(asked) })
}
