package stories

import (
	"context"
	"errors"
	"fmt"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/filter"
	"github.com/leasetop/leasetop/workers/scenario"
)

// planner starts and executes redrive plans, one at a time, as the dashboard does for
// the person before it.
type planner struct {
	id    int64
	fails chan error    // of the execution
	over  chan struct{} // closed when it has ended
}

// start starts a plan for all dead letters of the mail queue, which a filter chooses.
func (p *planner) start(ctx context.Context, s *scenario.Stage, plan queue.NewPlan) error {
	plan.Filter = "queue:" + s.Queue("mail")
	where, err := filter.Parse(plan.Filter)
	if err != nil {
		return err
	}
	plan.IDs, err = s.Q.Matching(ctx, queue.Filter{Statuses: queue.DeadLetters, Where: where}, nil)
	if err != nil {
		return err
	}
	started, err := s.Q.StartPlan(ctx, operator(s), plan)
	if err != nil {
		return err
	}
	p.id = started.ID
	s.Note("", fmt.Sprintf("plan %d: redrive %d dead letters, %d first", p.id, started.Total, started.Canary))
	p.execute(ctx, s)
	return nil
}

// execute has the plan executed until there is nothing to do for now.
func (p *planner) execute(ctx context.Context, s *scenario.Stage) {
	ctx, cancel := context.WithCancel(ctx)
	fails := make(chan error, 1)
	over := make(chan struct{})
	p.fails, p.over = fails, over
	id := p.id
	go func() {
		defer close(over)
		plan, err := s.Q.ExecutePlan(ctx, id, func(plan queue.Plan) { s.Plot("redriven", "jobs", float64(plan.Redriven)) })
		if err != nil {
			fails <- err
			return
		}
		told := fmt.Sprintf("plan %d is %s", id, plan.State)
		switch {
		case plan.Why != "":
			told += ": " + plan.Why
		case plan.State == queue.PlanHeld:
			told += ": its canary went well, and it was asked to wait"
		}
		s.Note("", told)
	}()
	s.Later("end the execution of the plan", func(context.Context) error {
		cancel()
		<-over
		return nil
	})
}

// stands tells whether the plan is in a state.
func (p *planner) stands(ctx context.Context, s *scenario.Stage, state queue.PlanState) (bool, string, error) {
	plan, err := s.Q.Plan(ctx, p.id)
	select {
	case failed := <-p.fails:
		err = errors.Join(err, failed)
		p.fails <- failed // for the next look
	default:
	}
	return plan.State == state, fmt.Sprintf("plan %d is %s: %d redriven, %d died again", p.id, plan.State, plan.Redriven, plan.DiedAgain), err
}

func (p *planner) cancel(ctx context.Context, s *scenario.Stage, why string) error {
	_, err := s.Q.CancelPlan(ctx, operator(s), why, p.id)
	return err
}

// goOn resumes the plan, once nobody is at it any more: one process at a time may be.
func (p *planner) goOn(ctx context.Context, s *scenario.Stage) error {
	select {
	case <-p.over:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if _, err := s.Q.ResumePlan(ctx, operator(s), "the canary went well", p.id); err != nil {
		return err
	}
	p.execute(ctx, s)
	return nil
}

// pace is how many jobs a second were redriven after the canary.
func (p *planner) pace(ctx context.Context, s *scenario.Stage) (float64, error) {
	jobs, err := s.Q.PlanJobs(ctx, p.id, 0, heapSize)
	if err != nil {
		return 0, err
	}
	if len(jobs) != heapSize || jobs[canary].At == nil || jobs[heapSize-1].At == nil {
		return 0, fmt.Errorf("%d jobs are in plan %d", len(jobs), p.id)
	}
	took := jobs[heapSize-1].At.Sub(*jobs[canary].At)
	return float64(heapSize-canary) / took.Seconds(), nil
}

// operator is who the play is in the operator log and in the history of jobs.
func operator(s *scenario.Stage) string { return "scenario " + s.RunName() }
