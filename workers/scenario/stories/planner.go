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
// the person before it. Each has a bar, which says how far it is and why it stands.
type planner struct {
	id    int64         // of the plan at hand, in the database
	count int           // of the plans so far: the audience knows each by its number
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
	p.count++
	s.Note("", fmt.Sprintf("plan %d: redrive %d dead mails, %d first", p.count, started.Total, started.Canary))
	showPlan(s, p.count, started)
	p.execute(ctx, s)
	return nil
}

// showPlan shows, as a bar, how far a plan is, and how it stands.
func showPlan(s *scenario.Stage, number int, plan queue.Plan) {
	bar := scenario.Bar{
		Name: fmt.Sprintf("plan %d", number), Unit: fmt.Sprintf("of %d", plan.Total),
		Value: float64(plan.Redriven), Most: float64(plan.Total),
	}
	switch plan.State {
	case queue.PlanRunning, queue.PlanCanary:
		bar.Note = "its canary goes first"
		if plan.Redriven >= int64(plan.Canary) && plan.State == queue.PlanRunning {
			bar.Note = "the others follow"
		} else if plan.Redriven > 0 {
			bar.Note = fmt.Sprintf("its canary is at work: %d mails", plan.Redriven)
		}
	case queue.PlanStopped:
		bar.Note, bar.Bad = "stopped: its canary died again", true
	case queue.PlanHeld:
		bar.Note = "held: its canary went well, we are asked"
	case queue.PlanDone:
		bar.Note, bar.Over = "done", true
	default:
		bar.Note = string(plan.State)
	}
	s.Bar(bar)
}

// toldOf is what came of the execution of a plan, in words.
func toldOf(number int, plan queue.Plan) string {
	switch plan.State {
	case queue.PlanStopped:
		return fmt.Sprintf("plan %d stopped: %d of %d mails of its canary died again", number, plan.DiedAgain, plan.Canary)
	case queue.PlanHeld:
		return fmt.Sprintf("plan %d is held: its canary went well, and we are asked", number)
	}
	return fmt.Sprintf("plan %d is %s: %d of %d mails redriven", number, plan.State, plan.Redriven, plan.Total)
}

// execute has the plan executed until there is nothing to do for now.
func (p *planner) execute(ctx context.Context, s *scenario.Stage) {
	ctx, cancel := context.WithCancel(ctx)
	fails := make(chan error, 1)
	over := make(chan struct{})
	p.fails, p.over = fails, over
	id, number := p.id, p.count
	go func() {
		defer close(over)
		plan, err := s.Q.ExecutePlan(ctx, id, func(plan queue.Plan) { showPlan(s, number, plan) })
		if err != nil {
			fails <- err
			return
		}
		showPlan(s, number, plan)
		s.Note("", toldOf(number, plan))
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
	return plan.State == state, fmt.Sprintf("plan %d is %s: %d redriven, %d died again", p.count, plan.State, plan.Redriven, plan.DiedAgain), err
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
