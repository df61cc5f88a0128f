package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// do runs a statement in the test's database.
func do(t *testing.T, g Ground, statement string, args ...any) {
	t.Helper()
	if _, err := g.Queue.Pool().Exec(context.WithoutCancel(t.Context()), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// holders are the server's processes that hold locks of plays in the test's database.
func holders(t *testing.T, g Ground) (pids string) {
	t.Helper()
	if err := g.Queue.Pool().QueryRow(t.Context(), `select coalesce(string_agg(pid::text, ',' order by pid), '') from pg_locks
		where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())`).Scan(&pids); err != nil {
		t.Fatal(err)
	}
	return pids
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for began := time.Now(); !is(); time.Sleep(lookAgain) {
		if time.Since(began) > time.Minute {
			t.Fatalf("it did not come to pass that %s", what)
		}
	}
}

// upForLong waits until the server has been up for as long as a play must be silent to be
// taken for dead.
func upForLong(t *testing.T, g Ground) {
	t.Helper()
	do(t, g, "select pg_sleep(greatest(0, $1 - extract(epoch from clock_timestamp() - pg_postmaster_start_time())))", deadAfter.Seconds()+1)
}

// still is a story that waits before its only step, with jobs.
func still(needs Needs) Scenario {
	return Scenario{
		Name: "still", Needs: needs,
		Setup: func(ctx context.Context, s *Stage) error {
			_, err := s.Enqueue(ctx, queue.NewJob{}, queue.NewJob{})
			return err
		},
		Steps: []Step{{Say: "Nothing happens."}},
	}
}

// A session may end, by a restart of the server or an administrator: nothing is lost by it.
func TestPlayWhoseSessionEndsLivesOn(t *testing.T) {
	t.Parallel()
	for _, needs := range []Needs{Queue, Schema} {
		t.Run(string(needs), func(t *testing.T) {
			t.Parallel()
			g := ground(t)
			play := Start(t.Context(), still(needs), g, Options{Stepped: true})
			reach(t, play, 0)
			before := holders(t, g)
			do(t, g, "select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = current_database() and application_name = 'leasetop audience'")
			if r := Start(t.Context(), still(needs), g, Options{}).Result(); !r.OK { // it sweeps
				t.Errorf("another: %+v", r)
			}
			eventually(t, "it has its lock again", func() bool {
				now := holders(t, g)
				return now != "" && now != before
			})
			play.Next()
			if r := play.Result(); !r.OK {
				t.Errorf("%+v", r)
			}
			if left := left(t, g); left != "" {
				t.Errorf("it leaves %s", left)
			}
		})
	}
}

// All that others see of a play is whether its lock is free, and how old its heartbeat is.
func TestWhatKilledPlaysLeftIsSweptAway(t *testing.T) {
	t.Parallel()
	g := ground(t)
	perform(t.Context(), t, "crash", g, 10) // makes the tables
	upForLong(t, g)
	// asleep-… has its lock yet; awake-… had its session broken a moment ago.
	q, err := queue.Open(t.Context(), g.Queue.Pool().Config().ConnString(), queue.Options{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	do(t, Ground{Queue: q}, q.Schema().Query("scenario_lock"), lockPrefix+"asleep-00000c")
	for _, statement := range []string{
		`insert into leasetop.scenario_runs (run, beat) values ('crash-dead01', '-infinity'), ('asleep-00000c', '-infinity'), ('awake-00000d', clock_timestamp())`,
		"insert into leasetop.jobs (queue) values ('crash-dead01'), ('crash-dead01-x'), ('crash-dead010'), ('asleep-00000c'), ('awake-00000d')",
		"create schema leasetop_play_index_dead02",
		"create schema leasetop_play_index_dead03",
		"create table leasetop_play_index_dead03.scenario_runs (like leasetop.scenario_runs including all)",
		"insert into leasetop_play_index_dead03.scenario_runs (run, beat) values ('index-dead03', '-infinity')",
		"create schema leasetop_play_index_awake04",
		"create table leasetop_play_index_awake04.scenario_runs (like leasetop.scenario_runs including all)",
		"insert into leasetop_play_index_awake04.scenario_runs (run) values ('index-awake04')",
	} {
		do(t, g, statement)
	}
	if r := Start(t.Context(), still(Queue), g, Options{}).Result(); !r.OK {
		t.Fatal(r.Err)
	}
	// crash-dead010 is somebody's own, by another name.
	if got, want := left(t, g), "jobs crash-dead010,asleep-00000c,awake-00000d schemas leasetop_play_index_awake04"; got != want {
		t.Errorf("left are %q, want %q", got, want)
	}
}

// A play that was asleep for so long that another removed what it had finds that out. Its
// jobs are not called lost.
func TestSweptPlayStopsAndSaysSo(t *testing.T) {
	t.Parallel()
	for _, needs := range []Needs{Queue, Schema} {
		t.Run(string(needs), func(t *testing.T) {
			t.Parallel()
			g := ground(t)
			play := Start(t.Context(), still(needs), g, Options{Stepped: true})
			reach(t, play, 0)
			await(t, play, "it is counted", func(p Picture) bool { return p.Invariants.Known })
			if needs == Queue {
				do(t, g, g.Queue.Schema().Query("scenario_clean"), strings.TrimPrefix(play.Picture().Where, "queue "))
			} else {
				do(t, g, "drop schema "+strings.TrimPrefix(play.Picture().Where, "schema ")+" cascade")
			}
			r := play.Result()
			if !errors.Is(r.Err, errSwept) || errors.Is(r.Err, ErrCancelled) || !strings.Contains(r.Error, "removed by another play") {
				t.Errorf("%+v", r)
			}
			if p := play.Picture(); p.State != Failed || p.Invariants.Lost != 0 {
				t.Errorf("it is %s, %+v", p.State, p.Invariants)
			}
		})
	}
}

// Whatever session breaks, the clean-up uses another.
func TestCleanUpConnectsAnew(t *testing.T) {
	t.Parallel()
	for _, needs := range []Needs{Queue, Schema} {
		t.Run(string(needs), func(t *testing.T) {
			t.Parallel()
			g := ground(t)
			story := still(needs)
			story.Steps = []Step{{Do: func(ctx context.Context, s *Stage) error {
				do(t, g, "select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = current_database() and application_name = 'leasetop audience'")
				s.play.Stop()
				return nil
			}}}
			if r := Start(t.Context(), story, g, Options{}).Result(); !errors.Is(r.Err, ErrCancelled) || strings.Contains(r.Err.Error(), "clean up") {
				t.Errorf("it ended with %v", r.Err)
			}
			if left := left(t, g); left != "" {
				t.Errorf("it leaves %s", left)
			}
		})
	}
}

func TestWhatCannotBeRemovedIsNamedWithTheCure(t *testing.T) {
	t.Parallel()
	g := ground(t)
	do(t, g, "create function no() returns event_trigger language plpgsql as $$ begin raise 'not today'; end $$")
	do(t, g, "create event trigger no on ddl_command_start when tag in ('DROP SCHEMA') execute function no()")
	r := Start(t.Context(), still(Schema), g, Options{}).Result()
	do(t, g, "drop event trigger no")
	if r.OK || !strings.Contains(r.Error, "not today") || !strings.Contains(r.Error, "left is schema leasetop_play_still_") {
		t.Fatalf("%+v", r)
	}
	_, cure, _ := strings.Cut(r.Error, ", or run ")
	for _, statement := range strings.Split(cure, "; ") {
		do(t, g, statement)
	}
	if left := left(t, g); left != "" {
		t.Errorf("after %q there is %s", cure, left)
	}
}

// What is shown is never older than it says.
func TestInvariantsThatCannotBeCountedAreNotKept(t *testing.T) {
	t.Parallel()
	g := ground(t)
	play := Start(t.Context(), still(Schema), g, Options{Stepped: true})
	reach(t, play, 0)
	await(t, play, "it is counted", func(p Picture) bool { return p.Invariants.Known && !p.Invariants.Missed })
	counted := play.Picture().Invariants.Counted
	do(t, g, "alter table "+strings.TrimPrefix(play.Picture().Where, "schema ")+".scenario_ledger rename to elsewhere")
	await(t, play, "it is not counted", func(p Picture) bool { return p.Invariants.Missed })
	i := play.Picture().Invariants
	if i.Counted.Before(counted) || i.Stale(i.Counted.Add(staleAfter)) || !i.Stale(i.Counted.Add(staleAfter+1)) {
		t.Errorf("%+v is stale at the wrong time", i)
	}
	play.Next()
	r := play.Result()
	if r.OK || !strings.Contains(r.Error, "count what must hold") {
		t.Errorf("%+v", r)
	}
	if n := slices.IndexFunc(r.Assertions, func(a Assertion) bool { return a.Text == "no job was lost" && !a.OK && a.Seen != "" }); n < 0 {
		t.Errorf("of jobs lost it says %+v", r.Assertions)
	}
}

// Plays need sessions that are their own.
func TestNothingIsPlayedThroughAPooler(t *testing.T) {
	t.Parallel()
	g := ground(t)
	through, err := queue.Open(t.Context(), testdb.PgBouncer(t, g.Queue.Pool().Config().ConnString(), "transaction"), queue.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(through.Close)
	for _, needs := range []Needs{Queue, Schema, Server} {
		if ok, why, err := g.Allows(t.Context(), needs); err != nil || !ok {
			t.Errorf("needs a %s: %v, %q, %v", needs, ok, why, err)
		}
		pooled := Ground{Queue: through, Dir: g.Dir}
		if ok, why, err := pooled.Allows(t.Context(), needs); err != nil || ok || !strings.Contains(why, "connect to the server itself") {
			t.Errorf("needs a %s, through a pooler: %v, %q, %v", needs, ok, why, err)
		}
		if r := Start(t.Context(), still(needs), pooled, Options{}).Result(); r.OK || !strings.Contains(r.Error, "not through a pooler") {
			t.Errorf("needs a %s, through a pooler: %+v", needs, r)
		}
	}
}

func TestSetupGivesUpInTime(t *testing.T) {
	t.Parallel()
	story := Scenario{Name: "late", Needs: Queue, SetsUpIn: lookEvery, Setup: func(ctx context.Context, s *Stage) error {
		<-ctx.Done()
		return fmt.Errorf("wait for what never comes: %w", ctx.Err())
	}}
	r := Start(t.Context(), story, ground(t), Options{}).Result()
	if r.OK || !strings.Contains(r.Error, "not done within 100ms") || !strings.Contains(r.Error, "wait for what never comes") {
		t.Errorf("%+v", r)
	}
	// What it made lives on.
	var made context.Context
	story.SetsUpIn, story.Setup = 0, func(ctx context.Context, s *Stage) error { made = ctx; return nil }
	story.Steps = []Step{{Do: func(context.Context, *Stage) error { return made.Err() }}}
	if r := Start(t.Context(), story, ground(t), Options{}).Result(); !r.OK {
		t.Errorf("%+v", r)
	}
}

// Somebody played before: then a role plays with ordinary rights, each of which is named
// when it is missing.
func TestRoleThatMayNotCreatePlays(t *testing.T) {
	t.Parallel()
	g := ground(t)
	role := "player_" + strings.ToLower(g.Queue.ConnConfig().Database)
	do(t, g, "create role "+role+" login")
	t.Cleanup(func() {
		do(t, g, "drop owned by "+role)
		do(t, g, "drop role "+role)
	})
	config := g.Queue.Pool().Config().ConnString()
	q, err := queue.Open(t.Context(), config+"&role="+role, queue.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	theirs := Ground{Queue: q, Dir: g.Dir}
	do(t, g, "grant usage on schema leasetop to "+role)
	do(t, g, "grant select, insert, update, delete on all tables in schema leasetop to "+role)
	do(t, g, "grant usage on all sequences in schema leasetop to "+role)
	crash, _ := ByName("crash")
	if r := Start(t.Context(), crash, theirs, Options{Patience: 10}).Result(); r.OK || !strings.Contains(r.Error, "run GRANT USAGE, CREATE ON SCHEMA leasetop TO ") {
		t.Errorf("before anybody played: %+v", r)
	}
	perform(t.Context(), t, "crash", g, 10)
	r := Start(t.Context(), crash, theirs, Options{Patience: 10}).Result()
	_, cure, _ := strings.Cut(r.Error, ": run ")
	if r.OK || !errors.Is(r.Err, queue.ErrForbidden) || !strings.HasPrefix(cure, "GRANT ") {
		t.Fatalf("without rights: %+v", r)
	}
	for _, statement := range strings.Split(cure, "; ") {
		do(t, g, statement)
	}
	crash, _ = ByName("crash")
	if r := Start(t.Context(), crash, theirs, Options{Patience: 10}).Result(); !r.OK {
		t.Errorf("with what it asked for: %+v", r)
	}
	if left := left(t, g); left != "" {
		t.Errorf("it leaves %s", left)
	}
}
