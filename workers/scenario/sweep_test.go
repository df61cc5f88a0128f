package scenario_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

func upForLong(t *testing.T, g scenario.Ground) {
	t.Helper()
	do(t, g, "select pg_sleep(greatest(0, $1 - extract(epoch from clock_timestamp() - pg_postmaster_start_time())))", scenario.DeadAfter.Seconds()+1)
}

func TestWhatKilledPlaysLeftIsSweptAway(t *testing.T) {
	t.Parallel()
	g := scenariotest.Ground(t)
	if r := scenario.Start(t.Context(), still(scenario.Queue), g, scenario.Options{}).Result(); !r.OK { // makes the tables
		t.Fatal(r.Err)
	}
	upForLong(t, g)
	// asleep-… has its lock yet; awake-… had its session broken a moment ago.
	q, err := queue.Open(t.Context(), g.Queue.Pool().Config().ConnString(), queue.Options{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	do(t, scenario.Ground{Queue: q}, q.Schema().Query("life_lock"), scenario.LockPrefix+"asleep-00000c")
	for _, statement := range []string{
		`insert into leasetop.scenario_runs (run, beat) values ('crash-dead01', '-infinity'), ('asleep-00000c', '-infinity'), ('awake-00000d', clock_timestamp())`,
		"insert into leasetop.jobs (queue) values ('crash-dead01'), ('crash-dead01-x'), ('crash-dead010'), ('asleep-00000c'), ('awake-00000d')",
		"create schema leasetop_play_index_dead02",
		"comment on schema leasetop_play_index_dead02 is 'of a play: removed when that is over'",
		"create schema leasetop_play_index_dead03",
		"comment on schema leasetop_play_index_dead03 is 'of a play: removed when that is over'",
		"create table leasetop_play_index_dead03.scenario_runs (like leasetop.scenario_runs including all)",
		"insert into leasetop_play_index_dead03.scenario_runs (run, beat) values ('index-dead03', '-infinity')",
		"create schema leasetop_play_index_a0a0e4",
		"comment on schema leasetop_play_index_a0a0e4 is 'of a play: removed when that is over'",
		"create table leasetop_play_index_a0a0e4.scenario_runs (like leasetop.scenario_runs including all)",
		"insert into leasetop_play_index_a0a0e4.scenario_runs (run) values ('index-a0a0e4')",
		// Somebody's own: by its name alone a schema is none of ours, nor by its comment.
		"create schema leasetop_play_area",
		"comment on schema leasetop_play_area is 'of a play: removed when that is over'",
		"create schema leasetop_play_index_beef05",
	} {
		do(t, g, statement)
	}
	if r := scenario.Start(t.Context(), still(scenario.Queue), g, scenario.Options{}).Result(); !r.OK {
		t.Fatal(r.Err)
	}
	// crash-dead010 is somebody's own, by another name.
	if got, want := scenariotest.Left(t, g), "jobs crash-dead010,asleep-00000c,awake-00000d schemas leasetop_play_area,leasetop_play_index_a0a0e4,leasetop_play_index_beef05"; got != want {
		t.Errorf("left are %q, want %q", got, want)
	}
}

func TestWhatCannotBeSweptAwayIsLeftAndSaid(t *testing.T) {
	t.Parallel()
	g := scenariotest.Ground(t)
	if r := scenario.Start(t.Context(), still(scenario.Queue), g, scenario.Options{}).Result(); !r.OK { // makes the tables
		t.Fatal(r.Err)
	}
	upForLong(t, g)
	role := "other_" + strings.ToLower(g.Queue.ConnConfig().Database)
	do(t, g, "create role "+role+" login")
	t.Cleanup(func() {
		do(t, g, "drop owned by "+role)
		do(t, g, "drop role "+role)
	})
	for _, statement := range []string{
		"create schema leasetop_play_index_dead02",
		"comment on schema leasetop_play_index_dead02 is 'of a play: removed when that is over'",
		"grant usage, create on schema leasetop to " + role,
		"grant select, insert, update, delete on all tables in schema leasetop to " + role,
		"grant usage on all sequences in schema leasetop to " + role,
		"grant execute on all functions in schema leasetop to " + role,
		"insert into leasetop.scenario_runs (run, beat) values ('crash-dead01', '-infinity')",
		"insert into leasetop.jobs (queue) values ('crash-dead01')",
	} {
		do(t, g, statement)
	}
	q, err := queue.Open(t.Context(), g.Queue.Pool().Config().ConnString()+"&role="+role, queue.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	theirs := scenario.Ground{Queue: q, Dir: g.Dir}
	tx, err := g.Queue.Pool().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tx.Rollback(context.Background()) })
	if _, err := tx.Exec(t.Context(), "select from leasetop.jobs where queue = 'crash-dead01' for update"); err != nil {
		t.Fatal(err)
	}
	play := scenario.Start(t.Context(), still(scenario.Queue), theirs, scenario.Options{})
	if r := play.Result(); !r.OK {
		t.Error(r.Err)
	}
	if events := play.Picture().Events; !slices.ContainsFunc(events, func(e scenario.Event) bool {
		return strings.HasPrefix(e.Text, "what the killed play crash-dead01 left stays for now")
	}) {
		t.Errorf("it does not say what stays: %+v", events)
	}
	if got, want := scenariotest.Left(t, g), "jobs crash-dead01 schemas leasetop_play_index_dead02"; got != want {
		t.Errorf("left are %q, want %q", got, want)
	}
	tx.Rollback(t.Context())
	if r := scenario.Start(t.Context(), still(scenario.Queue), g, scenario.Options{}).Result(); !r.OK {
		t.Error(r.Err)
	}
	if left := scenariotest.Left(t, g); left != "" {
		t.Errorf("left are %s", left)
	}
}

func TestWhoIsAloneSweepsAtOnce(t *testing.T) {
	t.Parallel()
	g := scenariotest.Ground(t)
	if r := scenario.Start(t.Context(), still(scenario.Queue), g, scenario.Options{}).Result(); !r.OK { // makes the tables
		t.Fatal(r.Err)
	}
	upForLong(t, g)
	do(t, g, "insert into leasetop.scenario_runs (run, beat) values ('crash-dead01', clock_timestamp() - interval '2 s')")
	do(t, g, "insert into leasetop.jobs (queue) values ('crash-dead01')")
	before := time.Now().Add(-10 * time.Second) // it may live, and have come after us
	for _, came := range []time.Time{{}, before, time.Now()} {
		g.AloneSince = came
		if r := scenario.Start(t.Context(), still(scenario.Queue), g, scenario.Options{}).Result(); !r.OK {
			t.Fatal(r.Err)
		}
		if left, swept := scenariotest.Left(t, g), came.After(before); (left == "") != swept {
			t.Errorf("alone since %v: left are %q", came, left)
		}
	}
}
