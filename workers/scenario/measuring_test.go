package scenario_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/scenario"
	"github.com/leasetop/leasetop/workers/scenario/scenariotest"
)

// A second effect happens when the play looks for the last time: what its picture says then
// is what it is judged by.
func TestAPlayIsJudgedByItsLastCount(t *testing.T) {
	t.Parallel()
	var job []int64
	exec := func(ctx context.Context, s *scenario.Stage, statements ...string) (err error) {
		for _, one := range statements {
			_, each := s.Q.Pool().Exec(ctx, strings.ReplaceAll(one, "its.", s.Q.Schema().Name()+"."))
			err = errors.Join(err, each)
		}
		return err
	}
	story := scenario.Scenario{
		Name: "judged", Needs: scenario.Schema,
		Setup: func(ctx context.Context, s *scenario.Stage) (err error) {
			if job, err = s.Enqueue(ctx, queue.NewJob{}); err != nil {
				return err
			}
			_, err = s.Q.Pool().Exec(ctx, s.Q.Schema().Query("scenario_effect"), s.RunName(), job[0], 1, "w1")
			return err
		},
		Steps: []scenario.Step{{}},
		Measures: []scenario.Measure{{Name: "last", Value: func(ctx context.Context, s *scenario.Stage) (float64, error) {
			return 0, exec(
				ctx, s,
				"alter table its.jobs rename to jobs_held",
				`create function its.looked() returns boolean language plpgsql as $$ begin
					if current_query() like '%scenario_depth%' then
						insert into its.scenario_ledger select run, job_id, 2, 'w2' from its.scenario_ledger limit 1;
					end if;
					return true;
				end $$`,
				"create view its.jobs as select * from its.jobs_held where its.looked()",
			)
		}}},
	}
	play := scenario.Start(t.Context(), story, scenariotest.Ground(t), scenario.Options{})
	r := play.Result()
	twice := slices.ContainsFunc(r.Assertions, func(a scenario.Assertion) bool { return a.Text == "no effect happened twice" && !a.OK && a.Seen != "" })
	if r.OK || !twice || play.Picture().State != scenario.Failed {
		t.Errorf("%s: %+v", play.Picture().State, r)
	}
}

func TestWhatIsNoNumberIsNoFigure(t *testing.T) {
	t.Parallel()
	g := scenariotest.Ground(t)
	for _, value := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		story := scenario.Scenario{
			Name: "try", Needs: scenario.Queue,
			Measures: []scenario.Measure{{Name: "rate", Bound: scenario.AtLeast(1), Value: func(context.Context, *scenario.Stage) (float64, error) { return value, nil }}},
		}
		if r := scenario.Start(t.Context(), story, g, scenario.Options{}).Result(); r.OK || !strings.Contains(r.Error, "measure rate: ") {
			t.Errorf("%v: %+v", value, r)
		}
	}
}

func TestMeasureOfNothingIsNoFigure(t *testing.T) {
	t.Parallel()
	story := scenario.Scenario{
		Name: "try", Needs: scenario.Queue,
		Measures: []scenario.Measure{{Name: "recovery", Bound: scenario.AtMost(1), Value: func(context.Context, *scenario.Stage) (float64, error) {
			return 0, scenario.ErrNothingMeasured
		}}},
	}
	if r := scenario.Start(t.Context(), story, scenariotest.Ground(t), scenario.Options{}).Result(); !r.OK || len(r.Measures) != 0 {
		t.Errorf("%+v", r)
	}
}

// What works for a play beside its steps ends with it.
func TestAPlaysContextEndsWithIt(t *testing.T) {
	t.Parallel()
	var of context.Context
	scenariotest.Try(t, scenariotest.Ground(t), func(_ context.Context, s *scenario.Stage) error {
		of = s.Context()
		return of.Err()
	})
	if of.Err() == nil {
		t.Error("it goes on")
	}
}

func TestBoundsInWords(t *testing.T) {
	t.Parallel()
	for want, bound := range map[string]scenario.Bound{
		"": {}, "at most 2.25": scenario.AtMost(2.25), "at least 1": scenario.AtLeast(1), "exactly 5": scenario.Exactly(5),
	} {
		if got := bound.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A measure of what a mistake costs is told as that, in the picture and in the result.
func TestMeasureOfHarmIsTold(t *testing.T) {
	t.Parallel()
	one := func(context.Context, *scenario.Stage) (float64, error) { return 1, nil }
	play := scenario.Start(t.Context(), scenario.Scenario{
		Name: "harm", Needs: scenario.Queue, Steps: []scenario.Step{{}},
		Measures: []scenario.Measure{{Name: "cost", Harm: true, Value: one}, {Name: "gain", Value: one}},
	}, scenariotest.Ground(t), scenario.Options{Seed: 1})
	r := play.Result()
	if m := r.Measures; !r.OK || !m["cost"].Harm || m["gain"].Harm {
		t.Errorf("the result has %+v", r)
	}
	if m := play.Picture().Measures; !m[0].Harm || m[1].Harm {
		t.Errorf("the picture has %+v", m)
	}
}
