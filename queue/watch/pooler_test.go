package watch

import (
	"testing"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// CASES "PgBouncer, transaction mode": noticed at the start, polls, says so once.
func TestBehindPgBouncer(t *testing.T) {
	t.Parallel()
	const wal = "a pooler stands between, which passes no replication: connect to PostgreSQL itself"
	const notify = "notifications do not arrive, as behind a pooler that shares connections: connect to PostgreSQL itself; dead letters are polled"
	for _, c := range []struct {
		name, mode string
		settings   []string
		heard      bool
	}{
		{name: "transaction", mode: "transaction"},
		{name: "session", mode: "session", heard: true},
		{name: "transaction, everything ignored", mode: "transaction", settings: []string{
			"ignore_startup_parameters = replication,lock_timeout,wal_sender_timeout,idle_in_transaction_session_timeout,tcp_keepalives_idle,tcp_keepalives_interval,tcp_keepalives_count",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url := testdb.On(t, testdb.Server(t))
			psql := client(t, url)
			exec(t, psql, many, 21)
			through := testdb.PgBouncer(t, url, c.mode, c.settings...)
			q := open(t, through)
			f := start(t, q, Options{})
			polls(t, f, wal)
			if c.heard {
				await(t, f, "LISTEN", func(s *State) bool { return s.Notify.OK })
			} else {
				await(t, f, "why nothing is heard", func(s *State) bool { return s.Notify.Reason == notify })
			}
			// Whatever it tries again, it says nothing new.
			for range 3 {
				poke(f.retryWAL)
				poke(f.retryDead)
				before := f.State().Polling.Heard
				await(t, f, "another poll", func(s *State) bool { return s.Polling.Heard.After(before) })
			}
			exec(t, psql, "UPDATE leasetop.jobs SET status = 'dead' WHERE status = 'failed'")
			s := await(t, f, "the newly dead", func(s *State) bool {
				return sum(s).Dead == 42 && len(s.Dead.Latest) == 42 && s.Dead.Latest[0].Status == queue.Dead
			})
			want := 2
			if c.heard {
				want = 1
			}
			if notes := healthOf(s); len(notes) != want {
				t.Errorf("told %q", notes)
			}
			// And everything can be done.
			if done, err := q.Redrive(t.Context(), "ann", s.Dead.Latest[0].ID); err != nil || len(done.IDs) != 1 {
				t.Errorf("redrive: %+v, %v", done, err)
			}
			await(t, f, "the job redriven", func(s *State) bool { return sum(s).Dead == 41 })
		})
	}
}
