package stories

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

// perform plays a scenario to its end.
func perform(ctx context.Context, t *testing.T, name string, g scenario.Ground, patience int) scenario.Result {
	t.Helper()
	sc, ok := ByName(name)
	if !ok {
		t.Fatalf("there is no scenario %q", name)
	}
	play := scenario.Start(ctx, sc, g, scenario.Options{Seed: 1, Patience: patience})
	r := play.Result()
	t.Logf("%+v", r)
	return r
}

// strangers are somebody's own jobs beside a play, of every status: a lease that is over, and
// on its last attempt, another that is not, one that waits, one that is done, dead letters.
// Their owners are called stranger. The result tells whether they are still as they were, byte for byte.
func strangers(t *testing.T, g scenario.Ground) (touched func() string) {
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
			g := scenariotest.Ground(t)
			touched := strangers(t, g)
			play := scenario.Start(t.Context(), sc, g, scenario.Options{Seed: 1, Patience: 10})
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
			if left := scenariotest.Left(t, g); left != "" {
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
			g := scenariotest.Ground(t)
			touched := strangers(t, g)
			for stop := range sc.Steps {
				if os.Getenv("LEASETOP_TEST_FULL") == "" && stop < len(sc.Steps)-1 {
					continue
				}
				fresh, _ := ByName(sc.Name)
				play := scenario.Start(t.Context(), fresh, g, scenario.Options{Seed: 1, Stepped: true, Patience: 10})
				scenariotest.Reach(t, play, stop)
				play.Stop()
				r := play.Result()
				if !errors.Is(r.Err, scenario.ErrCancelled) || play.Picture().State != scenario.Cancelled {
					t.Errorf("stopped before step %d it is %s: %v", stop+1, play.Picture().State, r.Err)
				}
				if left := scenariotest.Left(t, g); left != "" {
					t.Errorf("stopped before step %d it leaves %s behind", stop+1, left)
				}
			}
			if moved := touched(); moved != "" {
				t.Errorf("it changes somebody's own jobs %s", moved)
			}
		})
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
			play := scenario.Start(t.Context(), sc, scenariotest.Ground(t), scenario.Options{Seed: 1, Stepped: true, Patience: 10})
			for step := range sc.Steps {
				scenariotest.Reach(t, play, step)
				before := looked(play)
				// Longer than the stories' leases, so that what is not held would move.
				time.Sleep(scenario.UsualLease + scenario.UsualLease/2)
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
func moved(sc scenario.Scenario, before, after scenario.Picture) string {
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
func looked(play *scenario.Play) scenario.Picture {
	now := time.Now()
	for {
		if p := play.Picture(); p.Looked.After(now.Add(scenario.LookEvery)) || !p.Ended.IsZero() {
			return p
		}
		time.Sleep(lookAgain)
	}
}

// held is who holds what.
func held(p scenario.Picture) string {
	var all []string
	for _, l := range p.Leases {
		all = append(all, l.Worker)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}
