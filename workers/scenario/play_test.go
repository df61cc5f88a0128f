package scenario_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

// working is a story of one worker: it has a job in hand before the second step, and does all then.
func working(needs scenario.Needs) scenario.Scenario {
	gate := scenario.NewGate()
	var jobs []int64
	return scenario.Scenario{
		Name: "working", Needs: needs,
		Setup: func(ctx context.Context, s *scenario.Stage) error {
			_, err := s.Crew(ctx, scenario.CrewOptions{
				Workers: []string{"w1"},
				Work:    func(ctx context.Context, job *queue.Job) error { return gate.Wait(ctx, job.ID) },
			})
			return err
		},
		Steps: []scenario.Step{
			{
				Do: func(ctx context.Context, s *scenario.Stage) (err error) {
					jobs, err = s.Enqueue(ctx, queue.NewJob{}, queue.NewJob{})
					return err
				},
				Expect: []scenario.Expect{{Text: "w1 holds one", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
					return s.Held(ctx, jobs, "w1")
				}}},
			},
			{
				Do: func(context.Context, *scenario.Stage) error {
					gate.Open()
					return nil
				},
				Expect: []scenario.Expect{
					{Text: "both are done", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.AllCompleted(ctx, jobs...)
					}},
					{Text: "once", Holds: func(ctx context.Context, s *scenario.Stage) (bool, string, error) {
						return s.OneEffectEach(ctx, jobs...)
					}},
				},
			},
		},
	}
}

// A play that goes on is not swept away by another one.
func TestPlaysGoOnBesideEachOther(t *testing.T) {
	t.Parallel()
	g := scenariotest.Ground(t)
	for _, needs := range []scenario.Needs{scenario.Queue, scenario.Schema} {
		first := working(needs)
		play := scenario.Start(t.Context(), first, g, scenario.Options{Stepped: true, Patience: 10})
		scenariotest.Reach(t, play, 1)
		if r := scenario.Start(t.Context(), working(scenario.Queue), g, scenario.Options{Patience: 10}).Result(); !r.OK {
			t.Errorf("beside one that needs a %s: %v", needs, r.Err)
		}
		for step := 1; step < len(first.Steps); step++ {
			scenariotest.Reach(t, play, step)
			play.Next()
		}
		if r := play.Result(); !r.OK {
			t.Errorf("%+v", r)
		}
	}
}

func TestSomebodysOwnDatabaseSeesOnlyQueuesOfTheirOwn(t *testing.T) {
	t.Parallel()
	g := scenariotest.Ground(t)
	unmarked, err := queue.Open(t.Context(), g.Queue.Pool().Config().ConnString()+"&options=-cleasetop.demonstration%3Doff", queue.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(unmarked.Close)
	g.Queue = unmarked
	for needs, want := range map[scenario.Needs]bool{scenario.Queue: true, scenario.Schema: false, scenario.Server: false} {
		ok, why, err := g.Allows(t.Context(), needs)
		if err != nil || ok != want || !ok && !strings.Contains(why, "leasetop.demonstration = on") {
			t.Errorf("needs a %s: %v, %q, %v", needs, ok, why, err)
		}
		sc := scenario.Scenario{Name: "try", Needs: needs}
		if r := scenario.Start(t.Context(), sc, g, scenario.Options{}).Result(); r.OK != want {
			t.Errorf("needs a %s: played: %+v", needs, r)
		}
	}
}

// What a step did is not swept from sight by the telling of the next one.
func TestWhatAStepShowedStaysInSightForAMoment(t *testing.T) {
	t.Parallel()
	var enqueued time.Time
	story := scenario.Scenario{Name: "try", Needs: scenario.Queue, Steps: []scenario.Step{
		{Do: func(ctx context.Context, s *scenario.Stage) error {
			_, err := s.Enqueue(ctx, queue.NewJob{})
			enqueued = time.Now()
			return err
		}},
		{},
		{},
	}}
	play := scenario.Start(t.Context(), story, scenariotest.Ground(t), scenario.Options{Stepped: true})
	at := func(state scenario.State, step int) {
		t.Helper()
		scenariotest.Await(t, play, fmt.Sprintf("it is %s at step %d", state, step+1), func(p scenario.Picture) bool { return p.State == state && p.Step == step })
	}
	at(scenario.Waiting, 0)
	play.Next()
	at(scenario.Shown, 0)
	at(scenario.Waiting, 1) // by itself
	if p := play.Picture(); !p.Looked.After(enqueued) || len(p.Depths) != 1 || p.Depths[0].Pending != 1 {
		t.Errorf("the next step is told beside a picture of before: %+v", p.Depths)
	}
	play.Next()
	at(scenario.Shown, 1)
	play.Next() // who has seen it
	at(scenario.Waiting, 2)
	play.Next()
	if r := play.Result(); !r.OK { // the end stays in sight without that
		t.Error(r.Err)
	}
}
