package watch

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

func TestDriftIsFoundAndCured(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t))
	q, psql := open(t, url), client(t, url)
	exec(t, psql, many, 50)
	f := start(t, q, Options{})
	await(t, f, "every connection up", attached)
	whole := "ALTER PUBLICATION leasetop_jobs SET (publish = 'insert, update, delete, truncate')"
	// With a publication that leaves deletions out, the ledger keeps what is gone.
	exec(t, psql, "ALTER PUBLICATION leasetop_jobs SET (publish = 'insert, update, truncate')")
	exec(t, psql, "DELETE FROM leasetop.jobs WHERE status = 'dead'")
	drift, err := f.Reconcile(t.Context())
	if err != nil || drift.Off != 1 || drift.Jobs != 150 {
		t.Fatalf("%+v, %v", drift, err)
	}
	right := func(s *State) bool { return sum(s).Dead == 0 && sum(s).Failed == 50 }
	await(t, f, "polled counts", func(s *State) bool { return s.Depths.Source == Polled && right(s) })
	exec(t, psql, whole)
	poke(f.retryWAL)
	s := await(t, f, "the right counts", func(s *State) bool { return attached(s) && s.Depths.Source == FromWAL && right(s) })
	if s.Health.Drift.Off != 1 || s.Health.Drift.Checked.IsZero() {
		t.Errorf("%+v", s.Health.Drift)
	}
	// The same count, but not the same job.
	exec(t, psql, "ALTER PUBLICATION leasetop_jobs SET (publish = 'insert, delete, truncate')")
	for {
		exec(t, psql, "UPDATE leasetop.jobs SET lease_expires_at = now() WHERE status = 'processing' AND id = (SELECT min(id) FROM leasetop.jobs WHERE status = 'processing')")
		if drift, err = f.Reconcile(t.Context()); !errors.Is(err, errTrailLost) {
			break
		}
		// A poll saw meanwhile that the publication is another, and the stream begins anew.
		poke(f.retryWAL)
		await(t, f, "every connection up", attached)
	}
	if err != nil || drift.Off != 1 {
		t.Errorf("%+v, %v", drift, err)
	}
}

func TestComparisonSaysWhyItCannotBeMade(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t, "max_replication_slots=1"))
	q := open(t, url)
	f := start(t, q, Options{})
	await(t, f, "every connection up", attached)
	if _, err := f.Reconcile(t.Context()); err == nil {
		t.Fatal("compared without a second slot")
	}
	await(t, f, "the reason", func(s *State) bool { return strings.Contains(s.Health.Drift.Reason, "replication slots") && s.WAL.OK })
	polled := start(t, q, Options{NoWAL: true})
	if _, err := polled.Reconcile(t.Context()); !errors.Is(err, ErrNotStreaming) {
		t.Errorf("error %v", err)
	}
}

func TestTableMadeAgainIsReadAgain(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t))
	q, psql := open(t, url), client(t, url)
	exec(t, psql, many, 20)
	f := start(t, q, Options{})
	await(t, f, "the counts", func(s *State) bool { return attached(s) && sum(s).Dead == 20 })
	facts, err := os.ReadFile("../../sql/migrations/00011_facts.sql")
	do(t, err)
	up, _, _ := strings.Cut(string(facts), "-- +goose Down") // it takes rows of the table, and goes with it
	_, err = psql.Exec(t.Context(), `BEGIN;
		CREATE TABLE leasetop.other (LIKE leasetop.jobs INCLUDING ALL);
		INSERT INTO leasetop.other (id, queue, status) VALUES (1, 'new', 'dead');
		DROP TABLE leasetop.jobs CASCADE;
		ALTER TABLE leasetop.other RENAME TO jobs;
		ALTER PUBLICATION leasetop_jobs ADD TABLE leasetop.jobs;
		`+up+`;
		COMMIT`)
	do(t, err)
	s := await(t, f, "the new table's counts", func(s *State) bool { return s.Depths.Source == FromWAL && sum(s).Dead == 1 })
	if len(s.Depths.Queues) != 1 || s.Leases.Total != 0 {
		t.Errorf("%+v", s.Depths.Queues)
	}
}

func TestTrailAnswersForThePositionAskedFor(t *testing.T) {
	t.Parallel()
	s := &stream{ledger: newLedger()}
	put := func(id int64) {
		s.ledger.put(&row{id: id, queue: "q", status: queue.Dead})
	}
	// Transactions committed at 10, 20 and 30; what is wanted may be known before, in
	// the middle or after.
	for want, dead := range map[pglogrepl.LSN]int64{5: 0, 10: 0, 11: 1, 20: 1, 25: 2, 30: 2, 31: 3, 40: 3} {
		for when := range 5 {
			s.ledger = newLedger()
			trail := newTrail(s)
			for n := range 4 {
				if n == when {
					trail.ask(want)
				}
				if n < 3 {
					at := pglogrepl.LSN(10 * (n + 1))
					trail.begins(s, at)
					put(int64(n))
					trail.reached(s, at+1)
				}
			}
			trail.reached(s, 40)
			if when == 4 {
				trail.ask(want)
			}
			select {
			case <-trail.found:
			default:
				t.Fatalf("no answer for %d asked at step %d", want, when)
			}
			if trail.answer.dead != dead || trail.err != nil {
				t.Errorf("%d dead letters before %d asked at step %d, want %d", trail.answer.dead, want, when, dead)
			}
		}
	}
	trail := newTrail(s)
	trail.reached(&stream{ledger: newLedger()}, 20) // of the stream that took its place
	if trail.ask(10); !errors.Is(trail.err, errTrailLost) {
		t.Errorf("error %v", trail.err)
	}
	trail = newTrail(s)
	trail.lost()
	trail.ask(10)
	if <-trail.found; !errors.Is(trail.err, errTrailLost) {
		t.Errorf("error %v", trail.err)
	}
}

func TestFiguresAreAsOldAsTheMarkThatTheStreamHasNotReached(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	f := &Feed{}
	s := &stream{feed: f, heard: at(9), alive: at(9)}
	if got := f.knownUntil(s); !got.Equal(at(9)) || s.behind(at(9)) != 0 {
		t.Errorf("without marks they are known until %v", got)
	}
	for i := range 5 {
		f.marks.add(pglogrepl.LSN(100*i), at(i))
	}
	s.applied = 150 // 0 and 100 are reached
	if got := f.knownUntil(s); !got.Equal(at(1)) {
		t.Errorf("known until %v", got.Sub(start))
	}
	if lag := s.behind(at(9)); lag != 8*time.Second {
		t.Errorf("%v behind", lag)
	}
	s.applied = 400
	if got := f.knownUntil(s); !got.Equal(at(9)) || s.behind(at(9)) != 0 {
		t.Errorf("known until %v", got.Sub(start))
	}
	// A keepalive or a commit that waited in the network's buffers is no newer than it was sent.
	f.skew.add(at(9), at(9), at(9).Add(time.Hour)) // the database's clock is an hour ahead
	s.alive, s.committed = at(6).Add(time.Hour), at(5).Add(time.Hour)
	if got := f.knownUntil(s); !got.Equal(at(6)) {
		t.Errorf("known until %v", got.Sub(start))
	}
	s.committed = at(7).Add(time.Hour)
	if got := f.knownUntil(s); !got.Equal(at(7)) {
		t.Errorf("known until %v", got.Sub(start))
	}
	for i := range 10 * marksKept {
		f.marks.add(pglogrepl.LSN(1000+i), at(10+i))
	}
	if n := len(f.marks.ahead); n > marksKept {
		t.Errorf("%d marks", n)
	}
	if first := f.marks.ahead[0]; first.position != 1000 {
		t.Errorf("the oldest mark is %v", first)
	}
}
