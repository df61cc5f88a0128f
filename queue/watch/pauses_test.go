package watch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/queue"
	leasesql "github.com/leasetop/leasetop/sql"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

func TestPausesComeByTheControlChannel(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	q := open(t, url)
	enqueue(t, q, queue.NewJob{})
	f := start(t, q, Options{Poll: -1, NoWAL: true}) // no poll would tell
	s := await(t, f, "the connections up", listening)
	if p := s.Pauses; p.Source != Polled || p.Read.IsZero() || p.Reason != "" || len(p.List) != 0 {
		t.Errorf("at first %+v", p)
	}
	for _, name := range []string{"empty", "Zoo", "emails"} {
		if _, err := q.Pause(t.Context(), "ann@db1", "mx is down", name); err != nil {
			t.Fatal(err)
		}
	}
	s = await(t, f, "three pauses", func(s *State) bool { return len(s.Pauses.List) == 3 })
	p, ok := s.Pauses.Of("emails")
	if !ok || p.By != "ann@db1" || p.Why != "mx is down" || p.Since.IsZero() {
		t.Errorf("%+v", p)
	}
	if _, ok := s.Pauses.Of("Zoo"); !ok {
		t.Error("a name that the database sorts otherwise than by its bytes is not found")
	}
	if _, ok := s.Pauses.Of("other"); ok {
		t.Error("a queue that nobody paused counts as paused")
	}
	var names []string
	for _, d := range s.Depths.Queues {
		names = append(names, fmt.Sprint(d.Queue, d.Ready))
	}
	if got := strings.Join(names, " "); got != "Zoo0 emails1 empty0" {
		t.Errorf("queues %s: those that are paused and have no jobs are missing, or out of order", got)
	}
	exec(t, client(t, url), "DELETE FROM leasetop.queues WHERE queue = 'Zoo'")
	if _, err := q.Resume(t.Context(), "emails", "empty"); err != nil {
		t.Fatal(err)
	}
	before := s
	s = await(t, f, "none", func(s *State) bool { return len(s.Pauses.List) == 0 && len(s.Depths.Queues) == 1 })
	told := story(before, s)
	slices.Sort(told)
	if want := []string{"resumed Zoo", "resumed emails", "resumed empty"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	told = story(&State{}, before)
	slices.Sort(told)
	if want := []string{"paused Zoo by ann@db1", "paused emails by ann@db1", "paused empty by ann@db1"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

func TestPausesComeByThePollWhereNobodyListens(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	q := open(t, url)
	f := start(t, q, Options{NoWAL: true})
	await(t, f, "the connections up", listening)
	exec(t, client(t, url), "ALTER TABLE leasetop.queues DISABLE TRIGGER USER")
	if _, err := q.Pause(t.Context(), "ann", "", "emails"); err != nil {
		t.Fatal(err)
	}
	await(t, f, "the pause", func(s *State) bool { return len(s.Pauses.List) == 1 })
}

func TestRoleThatMayNotReadPausesStillSeesTheRest(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	owner := open(t, url)
	enqueue(t, owner, queue.NewJob{})
	role := fmt.Sprintf("leasetop_test_%08x", rand.Uint32())
	psql := client(t, url)
	exec(t, psql, "CREATE ROLE "+role)
	t.Cleanup(func() {
		for _, sql := range []string{"DROP OWNED BY " + role, "DROP ROLE " + role} {
			if _, err := psql.Exec(context.Background(), sql); err != nil {
				t.Error(err)
			}
		}
	})
	exec(t, psql, "GRANT USAGE ON SCHEMA leasetop TO "+role)
	exec(t, psql, "GRANT SELECT ON leasetop.jobs TO "+role)
	f := start(t, open(t, url+"&role="+role), Options{NoWAL: true})
	s := await(t, f, "the depths and why the pauses are not known", func(s *State) bool {
		return s.Polling.OK && len(s.Depths.Queues) == 1 && s.Pauses.Reason != ""
	})
	if want := "GRANT SELECT ON leasetop.queues TO " + role; !strings.HasSuffix(s.Pauses.Reason, want) || s.Pauses.List != nil {
		t.Errorf("%+v, want a reason that ends in %q", s.Pauses, want)
	}
	exec(t, psql, "GRANT SELECT ON leasetop.queues TO "+role)
	await(t, f, "the pauses known", func(s *State) bool { return s.Pauses.Reason == "" })
}

// A program on the schema of an older release says so on one page, asks seldom, and
// goes on by itself once somebody has migrated.
func TestOlderSchemaIsSaidAndItsMigrationNoticed(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t)) // a stream needs one of its own
	q := open(t, url)
	down := func(gone string) {
		for {
			step, err := leasesql.MigrateDown(t.Context(), q.ConnConfig(), "")
			do(t, err)
			if strings.Contains(step.File, gone) {
				return
			}
		}
	}
	for _, gone := range []string{"00005", "00004"} { // the table is missing, then a column too
		down(gone)
		f := start(t, q, Options{})
		s := await(t, f, "the old schema", func(s *State) bool { return s.Server.SchemaOld && !s.Polling.OK && s.WAL.Reason != "connecting" })
		if want := "the schema leasetop is older than this program: run `leasetop migrate up`"; s.Polling.Reason != want {
			t.Errorf("the poll fails with %q, want %q", s.Polling.Reason, want)
		}
		if gone == "00004" && !strings.Contains(s.WAL.Reason, "leasetop migrate up") {
			t.Errorf("the stream fails with %q", s.WAL.Reason)
		}
		if s.Server.SchemaMissing || s.Server.Version == "" || len(s.Depths.Queues) != 0 {
			t.Errorf("%+v %+v", s.Server, s.Depths)
		}
		for range 12 { // not one State in between may say that all is well
			select {
			case <-f.Changed(s.Version):
			case <-t.Context().Done():
			}
			if s = f.State(); !s.Server.SchemaOld {
				t.Fatalf("State %d says that the schema is new: %+v", s.Version, s.Server)
			}
			f.Refresh()
		}
		_, err := leasesql.Migrate(t.Context(), q.ConnConfig(), "")
		do(t, err)
		await(t, f, "all well", func(s *State) bool { return !s.Server.SchemaOld && attached(s) })
		f.Close()
	}
}
