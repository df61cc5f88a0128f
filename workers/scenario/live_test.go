package scenario_test

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
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

// do runs a statement in the test's database.
func do(t *testing.T, g scenario.Ground, statement string, args ...any) {
	t.Helper()
	if _, err := g.Queue.Pool().Exec(context.WithoutCancel(t.Context()), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// holders are the server's processes that hold locks of plays in the test's database.
func holders(t *testing.T, g scenario.Ground) (pids string) {
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
	for began := time.Now(); !is(); time.Sleep(scenario.LookEvery) {
		if time.Since(began) > time.Minute {
			t.Fatalf("it did not come to pass that %s", what)
		}
	}
}

// upForLong waits until the server has been up for as long as a play must be silent to be
// taken for dead.
// still is a story that waits before its only step, with jobs.
func still(needs scenario.Needs) scenario.Scenario {
	return scenario.Scenario{
		Name: "still", Needs: needs,
		Setup: func(ctx context.Context, s *scenario.Stage) error {
			_, err := s.Enqueue(ctx, queue.NewJob{}, queue.NewJob{})
			return err
		},
		Steps: []scenario.Step{{Say: "Nothing happens."}},
	}
}

// A session may end, by a restart of the server or an administrator: nothing is lost by it.
func TestPlayWhoseSessionEndsLivesOn(t *testing.T) {
	t.Parallel()
	for _, needs := range []scenario.Needs{scenario.Queue, scenario.Schema} {
		t.Run(string(needs), func(t *testing.T) {
			t.Parallel()
			g := scenariotest.Ground(t)
			play := scenario.Start(t.Context(), still(needs), g, scenario.Options{Stepped: true})
			scenariotest.Reach(t, play, 0)
			before := holders(t, g)
			do(t, g, "select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = current_database() and application_name = 'leasetop audience'")
			if r := scenario.Start(t.Context(), still(needs), g, scenario.Options{}).Result(); !r.OK { // it sweeps
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
			if left := scenariotest.Left(t, g); left != "" {
				t.Errorf("it leaves %s", left)
			}
		})
	}
}

// All that others see of a play is whether its lock is free, and how old its heartbeat is.
// Whoever killed a play may have been another role, and what it left may be locked by
// somebody: both are no reason not to play.
// Who was alone when it came to a server need not wait until a killed play counts as dead.
// A play that was asleep for so long that another removed what it had finds that out. Its
// jobs are not called lost.
func TestSweptPlayStopsAndSaysSo(t *testing.T) {
	t.Parallel()
	for _, needs := range []scenario.Needs{scenario.Queue, scenario.Schema} {
		t.Run(string(needs), func(t *testing.T) {
			t.Parallel()
			g := scenariotest.Ground(t)
			play := scenario.Start(t.Context(), still(needs), g, scenario.Options{Stepped: true})
			scenariotest.Reach(t, play, 0)
			scenariotest.Await(t, play, "it is counted", func(p scenario.Picture) bool { return p.Invariants.Known })
			if needs == scenario.Queue {
				do(t, g, g.Queue.Schema().Query("scenario_clean"), strings.TrimPrefix(play.Picture().Where, "queue "))
			} else {
				do(t, g, "drop schema "+strings.TrimPrefix(play.Picture().Where, "schema ")+" cascade")
			}
			r := play.Result()
			if !errors.Is(r.Err, scenario.ErrSwept) || errors.Is(r.Err, scenario.ErrCancelled) || !strings.Contains(r.Error, "removed by another play") {
				t.Errorf("%+v", r)
			}
			if p := play.Picture(); p.State != scenario.Failed || p.Invariants.Lost != 0 {
				t.Errorf("it is %s, %+v", p.State, p.Invariants)
			}
		})
	}
}

// A heartbeat that fails in whatever session does not have the server flooded with sessions.
func TestPlayWhoseHeartbeatFailsTriesAgainNowAndThen(t *testing.T) {
	t.Parallel()
	g := scenariotest.Ground(t)
	play := scenario.Start(t.Context(), still(scenario.Queue), g, scenario.Options{Stepped: true})
	scenariotest.Reach(t, play, 0)
	do(t, g, "create sequence beats")
	do(t, g, "create function no() returns trigger language plpgsql as $$ begin perform nextval('beats'); raise 'not today'; end $$")
	do(t, g, "create trigger no before update on leasetop.scenario_runs for each row execute function no()")
	tries := func() (n int, seconds float64) {
		t.Helper()
		if err := g.Queue.Pool().QueryRow(t.Context(), "select last_value, extract(epoch from clock_timestamp()) from beats").Scan(&n, &seconds); err != nil {
			t.Fatal(err)
		}
		return n, seconds
	}
	eventually(t, "its heartbeat has failed twice", func() bool {
		n, _ := tries()
		return n >= 2
	})
	before, began := tries()
	eventually(t, "it tries on", func() bool {
		n, _ := tries()
		return n >= before+4
	})
	after, ended := tries()
	if most := 2 + (ended-began)/scenario.BackEvery.Seconds(); float64(after-before) > most {
		t.Errorf("it tried %d times within %.2f s", after-before, ended-began)
	}
	do(t, g, "drop trigger no on leasetop.scenario_runs")
	play.Next()
	if r := play.Result(); !r.OK {
		t.Errorf("%+v", r)
	}
}

// Whatever session breaks, the clean-up uses another.
func TestCleanUpConnectsAnew(t *testing.T) {
	t.Parallel()
	for _, needs := range []scenario.Needs{scenario.Queue, scenario.Schema} {
		t.Run(string(needs), func(t *testing.T) {
			t.Parallel()
			g := scenariotest.Ground(t)
			story := still(needs)
			story.Steps = []scenario.Step{{Do: func(ctx context.Context, s *scenario.Stage) error {
				do(t, g, "select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = current_database() and application_name = 'leasetop audience'")
				s.Play().Stop()
				return nil
			}}}
			if r := scenario.Start(t.Context(), story, g, scenario.Options{}).Result(); !errors.Is(r.Err, scenario.ErrCancelled) || strings.Contains(r.Err.Error(), "clean up") {
				t.Errorf("it ended with %v", r.Err)
			}
			if left := scenariotest.Left(t, g); left != "" {
				t.Errorf("it leaves %s", left)
			}
		})
	}
}

func TestWhatCannotBeRemovedIsNamedWithTheCure(t *testing.T) {
	t.Parallel()
	g := scenariotest.Ground(t)
	do(t, g, "create function no() returns event_trigger language plpgsql as $$ begin raise 'not today'; end $$")
	do(t, g, "create event trigger no on ddl_command_start when tag in ('DROP SCHEMA') execute function no()")
	r := scenario.Start(t.Context(), still(scenario.Schema), g, scenario.Options{}).Result()
	do(t, g, "drop event trigger no")
	if r.OK || !strings.Contains(r.Error, "not today") || !strings.Contains(r.Error, "left is schema leasetop_play_still_") {
		t.Fatalf("%+v", r)
	}
	_, cure, _ := strings.Cut(r.Error, ", or run ")
	for _, statement := range strings.Split(cure, "; ") {
		do(t, g, statement)
	}
	if left := scenariotest.Left(t, g); left != "" {
		t.Errorf("after %q there is %s", cure, left)
	}
}

// What is shown is never older than it says.
func TestInvariantsThatCannotBeCountedAreNotKept(t *testing.T) {
	t.Parallel()
	g := scenariotest.Ground(t)
	play := scenario.Start(t.Context(), still(scenario.Schema), g, scenario.Options{Stepped: true})
	scenariotest.Reach(t, play, 0)
	scenariotest.Await(t, play, "it is counted", func(p scenario.Picture) bool { return p.Invariants.Known && !p.Invariants.Missed })
	counted := play.Picture().Invariants.Counted
	do(t, g, "alter table "+strings.TrimPrefix(play.Picture().Where, "schema ")+".scenario_ledger rename to elsewhere")
	scenariotest.Await(t, play, "it is not counted", func(p scenario.Picture) bool { return p.Invariants.Missed })
	i := play.Picture().Invariants
	if i.Counted.Before(counted) || i.Stale(i.Counted.Add(scenario.StaleAfter)) || !i.Stale(i.Counted.Add(scenario.StaleAfter+1)) {
		t.Errorf("%+v is stale at the wrong time", i)
	}
	play.Next()
	r := play.Result()
	if r.OK || !strings.Contains(r.Error, "count what must hold") {
		t.Errorf("%+v", r)
	}
	if n := slices.IndexFunc(r.Assertions, func(a scenario.Assertion) bool { return a.Text == "no job was lost" && !a.OK && a.Seen != "" }); n < 0 {
		t.Errorf("of jobs lost it says %+v", r.Assertions)
	}
}

// Plays need sessions that are their own.
func TestNothingIsPlayedThroughAPooler(t *testing.T) {
	t.Parallel()
	g := scenariotest.Ground(t)
	through, err := queue.Open(t.Context(), testdb.PgBouncer(t, g.Queue.Pool().Config().ConnString(), "transaction"), queue.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(through.Close)
	for _, needs := range []scenario.Needs{scenario.Queue, scenario.Schema, scenario.Server} {
		if ok, why, err := g.Allows(t.Context(), needs); err != nil || !ok {
			t.Errorf("needs a %s: %v, %q, %v", needs, ok, why, err)
		}
		pooled := scenario.Ground{Queue: through, Dir: g.Dir}
		if ok, why, err := pooled.Allows(t.Context(), needs); err != nil || ok || !strings.Contains(why, "connect to the server itself") {
			t.Errorf("needs a %s, through a pooler: %v, %q, %v", needs, ok, why, err)
		}
		if r := scenario.Start(t.Context(), still(needs), pooled, scenario.Options{}).Result(); r.OK || !strings.Contains(r.Error, "not through a pooler") {
			t.Errorf("needs a %s, through a pooler: %+v", needs, r)
		}
	}
}

func TestSetupGivesUpInTime(t *testing.T) {
	t.Parallel()
	story := scenario.Scenario{Name: "late", Needs: scenario.Queue, SetsUpIn: scenario.LookEvery, Setup: func(ctx context.Context, s *scenario.Stage) error {
		<-ctx.Done()
		return fmt.Errorf("wait for what never comes: %w", ctx.Err())
	}}
	r := scenario.Start(t.Context(), story, scenariotest.Ground(t), scenario.Options{}).Result()
	if r.OK || !strings.Contains(r.Error, "not done within 100ms") || !strings.Contains(r.Error, "wait for what never comes") {
		t.Errorf("%+v", r)
	}
	// What comes too late is too late, also where it did not mind.
	story.Setup = func(ctx context.Context, s *scenario.Stage) error { <-ctx.Done(); return nil }
	if r := scenario.Start(t.Context(), story, scenariotest.Ground(t), scenario.Options{}).Result(); r.OK || !strings.Contains(r.Error, "not done within 100ms") {
		t.Errorf("%+v", r)
	}
	// What it made lives on.
	var made context.Context
	story.SetsUpIn, story.Setup = 0, func(ctx context.Context, s *scenario.Stage) error { made = ctx; return nil }
	story.Steps = []scenario.Step{{Do: func(context.Context, *scenario.Stage) error { return made.Err() }}}
	if r := scenario.Start(t.Context(), story, scenariotest.Ground(t), scenario.Options{}).Result(); !r.OK {
		t.Errorf("%+v", r)
	}
}

// Somebody played before: then a role plays with ordinary rights, each of which is named
// when it is missing.
func TestRoleThatMayNotCreatePlays(t *testing.T) {
	t.Parallel()
	g := scenariotest.Ground(t)
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
	theirs := scenario.Ground{Queue: q, Dir: g.Dir}
	do(t, g, "grant usage on schema leasetop to "+role)
	do(t, g, "grant select, insert, update, delete on all tables in schema leasetop to "+role)
	do(t, g, "grant usage on all sequences in schema leasetop to "+role)
	play := func(g scenario.Ground) scenario.Result {
		return scenario.Start(t.Context(), working(scenario.Queue), g, scenario.Options{Patience: 10}).Result()
	}
	if r := play(theirs); r.OK || !strings.Contains(r.Error, "run GRANT USAGE, CREATE ON SCHEMA leasetop TO ") {
		t.Errorf("before anybody played: %+v", r)
	}
	if r := play(g); !r.OK {
		t.Fatal(r.Err)
	}
	r := play(theirs)
	_, cure, _ := strings.Cut(r.Error, ": run ")
	if r.OK || !errors.Is(r.Err, queue.ErrForbidden) || !strings.HasPrefix(cure, "GRANT ") {
		t.Fatalf("without rights: %+v", r)
	}
	for _, statement := range strings.Split(cure, "; ") {
		do(t, g, statement)
	}
	if r := play(theirs); !r.OK {
		t.Errorf("with what it asked for: %+v", r)
	}
	if left := scenariotest.Left(t, g); left != "" {
		t.Errorf("it leaves %s", left)
	}
}
