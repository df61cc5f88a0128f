package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// ground is a database of the test's own, marked for demonstrations as the server is.
func ground(t *testing.T) Ground {
	t.Helper()
	q, err := queue.Open(t.Context(), testdb.New(t), queue.Options{MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	return Ground{Queue: q, Dir: testdb.Home(t)}
}

// perform plays a scenario to its end.
func perform(ctx context.Context, t *testing.T, name string, g Ground, patience int) Result {
	t.Helper()
	sc, ok := ByName(name)
	if !ok {
		t.Fatalf("there is no scenario %q", name)
	}
	play := Start(ctx, sc, g, Options{Seed: 1, Patience: patience})
	r := play.Result()
	t.Logf("%+v", r)
	return r
}

// left is what a play left behind in the database. Sessions that were closed end a moment later.
func left(t *testing.T, g Ground) string {
	t.Helper()
	for began := time.Now(); ; time.Sleep(lookAgain) {
		left := found(t, g)
		if !strings.Contains(left, "sessions ") || time.Since(began) > time.Minute {
			return left
		}
	}
}

func found(t *testing.T, g Ground) string {
	t.Helper()
	var left string
	if err := g.Queue.Pool().QueryRow(context.WithoutCancel(t.Context()), `select concat_ws(' ',
		(select 'jobs ' || string_agg(queue, ',') from leasetop.jobs where queue <> 'stranger'),
		(select 'archive ' || string_agg(queue, ',') from leasetop.jobs_archive),
		(select 'keys ' || string_agg(key, ',') from leasetop.once),
		(select 'plans ' || string_agg(id::text, ',') from leasetop.redrive_plans),
		(select 'schemas ' || string_agg(nspname, ',') from pg_namespace where nspname like 'leasetop\_play%'),
		(select 'publications ' || string_agg(pubname, ',') from pg_publication where pubname like 'leasetop\_play%'),
		(select 'sessions ' || string_agg(application_name, ',') from pg_stat_activity
		  where datname = current_database() and (application_name = 'leasetop audience' or starts_with(application_name, 'leasetop scenario'))))`).Scan(&left); err != nil {
		t.Fatal(err)
	}
	return left
}

// strangers are somebody's own jobs beside a play, of every status: a lease that is over, and
// on its last attempt, another that is not, one that waits, one that is done, dead letters.
// Their owners are called stranger. The result tells whether they are still as they were, byte for byte.
func strangers(t *testing.T, g Ground) (touched func() string) {
	t.Helper()
	if _, err := g.Queue.Pool().Exec(t.Context(), `
		insert into leasetop.jobs (queue, kind, status, attempts, max_attempts, run_at, locked_by, locked_at, lease_expires_at, idempotency_key, updated_at)
		select 'stranger', 'charge', status, attempts, 3, now() - interval '1 day', owner, now() - interval '1 hour', now() + lease, key, now() - interval '1 hour'
		from (values
			('processing', 3, 'app1:7:c0ffee/stranger#1', interval '-1 minute', null), ('processing', 1, 'app1:7:c0ffee/stranger#2', '-1 minute', 'key'),
			('processing', 1, 'app1:7:c0ffee/stranger#3', '1 second', null), ('processing', 1, 'app1:7:c0ffee/stranger#4', '1 hour', null),
			('pending', 0, null, null, null), ('completed', 1, null, null, null), ('failed', 3, null, null, null), ('dead', 1, null, null, null)
		) as jobs (status, attempts, owner, lease, key)`); err != nil {
		t.Fatal(err)
	}
	rows := func() (all string) {
		if err := g.Queue.Pool().QueryRow(context.WithoutCancel(t.Context()), `select string_agg(j::text || xmin::text || ctid::text, E'\n' order by id)
			from leasetop.jobs as j where queue = 'stranger'`).Scan(&all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	before := rows()
	return func() string {
		if after := rows(); after != before {
			return fmt.Sprintf("from\n%s\nto\n%s", before, after)
		}
		return ""
	}
}

func TestQuickScenariosPass(t *testing.T) {
	t.Parallel()
	for _, sc := range All() {
		if !sc.Quick {
			continue
		}
		t.Run(sc.Name, func(t *testing.T) {
			t.Parallel()
			g := ground(t)
			touched := strangers(t, g)
			play := Start(t.Context(), sc, g, Options{Seed: 1, Patience: 10})
			if r := play.Result(); !r.OK {
				t.Errorf("%+v", r)
			}
			if moved := touched(); moved != "" {
				t.Errorf("it changes somebody's own jobs %s", moved)
			}
			for _, e := range play.Picture().Events {
				if strings.Contains(e.Text, "stranger") {
					t.Errorf("it tells of somebody's own jobs: %s", e.Text)
				}
			}
			if left := left(t, g); left != "" {
				t.Errorf("it leaves %s behind", left)
			}
		})
	}
}

// Whatever step the audience leaves at, nothing of the play is left: with
// LEASETOP_TEST_FULL at each of them, else at the last, when most has been set up.
func TestStoppedPlayCleansUp(t *testing.T) {
	t.Parallel()
	for _, sc := range All() {
		if !sc.Quick {
			continue
		}
		t.Run(sc.Name, func(t *testing.T) {
			t.Parallel()
			g := ground(t)
			touched := strangers(t, g)
			for stop := range sc.Steps {
				if os.Getenv("LEASETOP_TEST_FULL") == "" && stop < len(sc.Steps)-1 {
					continue
				}
				fresh, _ := ByName(sc.Name)
				play := Start(t.Context(), fresh, g, Options{Seed: 1, Stepped: true, Patience: 10})
				reach(t, play, stop)
				play.Stop()
				r := play.Result()
				if !errors.Is(r.Err, ErrCancelled) || play.Picture().State != Cancelled {
					t.Errorf("stopped before step %d it is %s: %v", stop+1, play.Picture().State, r.Err)
				}
				if left := left(t, g); left != "" {
					t.Errorf("stopped before step %d it leaves %s behind", stop+1, left)
				}
			}
			if moved := touched(); moved != "" {
				t.Errorf("it changes somebody's own jobs %s", moved)
			}
		})
	}
}

// reach plays until a step waits for the audience.
func reach(t *testing.T, play *Play, step int) {
	t.Helper()
	await(t, play, "it waits for a step", func(p Picture) bool {
		if p.State == Waiting && p.Step < step {
			play.Next()
		}
		return p.State == Waiting && p.Step == step
	})
}

// await waits for a picture.
func await(t *testing.T, play *Play, what string, is func(Picture) bool) {
	t.Helper()
	timeout := time.After(time.Minute)
	for {
		p := play.Picture()
		if is(p) {
			return
		}
		if !p.Ended.IsZero() {
			t.Fatalf("it ended before %s: %s %s", what, p.State, p.Err)
		}
		select {
		case <-play.Changed(p.Version):
		case <-timeout:
			t.Fatalf("it did not come to pass that %s", what)
		}
	}
}

// An audience may read for as long as it likes: the world of each step stands still, and
// after a while the play passes as ever.
func TestWorldStandsStillWhileTheAudienceReads(t *testing.T) {
	t.Parallel()
	for _, sc := range All() {
		if !sc.Quick {
			continue
		}
		t.Run(sc.Name, func(t *testing.T) {
			t.Parallel()
			play := Start(t.Context(), sc, ground(t), Options{Seed: 1, Stepped: true, Patience: 10})
			for step := range sc.Steps {
				reach(t, play, step)
				before := looked(play)
				// Longer than the stories' leases, so that what is not held would move.
				time.Sleep(usualLease + usualLease/2)
				if moves := moved(sc, before, looked(play)); moves != "" {
					t.Errorf("before step %d the world moves: %s", step+1, moves)
				}
				play.Next()
			}
			if r := play.Result(); !r.OK {
				t.Errorf("%+v", r)
			}
		})
	}
}

// moved says in what the world has moved; "" is that it stands still, or where jobs flow
// that they do not pile up.
func moved(sc Scenario, before, after Picture) string {
	if sc.Flows {
		const some = 50 // a second's
		for _, d := range after.Depths {
			if d.Pending > some || d.Failed+d.Dead > 0 {
				return fmt.Sprintf("%+v", d)
			}
		}
		return ""
	}
	if !slices.Equal(before.Depths, after.Depths) || held(before) != held(after) {
		return fmt.Sprintf("from %v, %s to %v, %s", before.Depths, held(before), after.Depths, held(after))
	}
	return ""
}

// looked is the play as a look shows it that begins after the call.
func looked(play *Play) Picture {
	now := time.Now()
	for {
		if p := play.Picture(); p.Looked.After(now.Add(lookEvery)) || !p.Ended.IsZero() {
			return p
		}
		time.Sleep(lookAgain)
	}
}

// held is who holds what.
func held(p Picture) string {
	var all []string
	for _, l := range p.Leases {
		all = append(all, l.Worker)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// A play that goes on is not swept away by another one.
func TestPlaysGoOnBesideEachOther(t *testing.T) {
	t.Parallel()
	g := ground(t)
	for _, name := range []string{"crash", "mistake-long-claim"} { // one in a queue, one in a schema of its own
		first, _ := ByName(name)
		play := Start(t.Context(), first, g, Options{Stepped: true, Patience: 10})
		reach(t, play, 1)
		if r := perform(t.Context(), t, "crash", g, 10); !r.OK {
			t.Errorf("beside %s: %v", name, r.Err)
		}
		for step := 1; step < len(first.Steps); step++ {
			reach(t, play, step)
			play.Next()
		}
		if r := play.Result(); !r.OK {
			t.Errorf("%+v", r)
		}
	}
}

func TestSomebodysOwnDatabaseSeesOnlyQueuesOfTheirOwn(t *testing.T) {
	t.Parallel()
	g := ground(t)
	unmarked, err := queue.Open(t.Context(), g.Queue.Pool().Config().ConnString()+"&options=-cleasetop.demonstration%3Doff", queue.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(unmarked.Close)
	g.Queue = unmarked
	for needs, want := range map[Needs]bool{Queue: true, Schema: false, Server: false} {
		ok, why, err := g.Allows(t.Context(), needs)
		if err != nil || ok != want || !ok && !strings.Contains(why, "leasetop.demonstration = on") {
			t.Errorf("needs a %s: %v, %q, %v", needs, ok, why, err)
		}
		sc := Scenario{Name: "try", Needs: needs}
		if r := Start(t.Context(), sc, g, Options{}).Result(); r.OK != want {
			t.Errorf("needs a %s: played: %+v", needs, r)
		}
	}
}
