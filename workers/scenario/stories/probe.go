package stories

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers/scenario"
)

// probe is a worker that claims one job at a time, sees how long that takes, and completes
// it. Its jobs have no effects: the story is about time.
type probe struct {
	q      *queue.Queue // its own, with marks of its own
	queue  string
	name   string
	claims int
}

// probeLease is longer than a probe has a job.
const probeLease = 30 * time.Second

// newProbe makes a worker that claims one job at a time when it is told to.
func newProbe(ctx context.Context, s *scenario.Stage, name string) (*probe, error) {
	q, err := s.Open(ctx, 2)
	if err != nil {
		return nil, err
	}
	return &probe{q: q, queue: s.Queue(""), name: name}, nil
}

// claim is how long a claim takes, as the library makes it: from the low-water mark on.
func (p *probe) claim(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	jobs, err := p.q.Claim(ctx, queue.ClaimRequest{Queue: p.queue, Owner: p.owner(), Lease: probeLease, Limit: 1})
	took := time.Since(began)
	if err == nil && len(jobs) == 0 {
		err = errNoJob
	}
	if err != nil {
		return 0, err
	}
	return took, p.q.Complete(ctx, jobs[0].Lease())
}

// claimFromStart is how long the same statement takes that looks from the first entry on.
func (p *probe) claimFromStart(ctx context.Context) (time.Duration, error) {
	owner := p.owner()
	began := time.Now()
	rows, err := p.q.Pool().Query(ctx, p.q.Schema().Query("claim"),
		p.queue, owner, probeLease.Seconds(), 1, pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}, int64(math.MinInt64), []int64{})
	if err != nil {
		return 0, err
	}
	var id int64
	for rows.Next() {
		if err := rows.Scan(append([]any{&id}, make([]any, len(rows.FieldDescriptions())-1)...)...); err != nil {
			rows.Close()
			return 0, err
		}
	}
	took := time.Since(began)
	if err := rows.Err(); err != nil {
		return 0, err
	}
	if id == 0 {
		return 0, errNoJob
	}
	return took, p.q.Complete(ctx, queue.Lease{ID: id, Token: owner})
}

var errNoJob = errors.New("there was no job to claim")

func (p *probe) owner() string {
	p.claims++
	return fmt.Sprintf("%s#%d", p.name, p.claims)
}

// cost is how long the quickest of a few claims takes: what a claim costs, without what else
// the machine does meanwhile.
func cost(ctx context.Context, claim func(context.Context) (time.Duration, error)) (time.Duration, error) {
	all, err := costs(ctx, claim)
	if err != nil {
		return 0, err
	}
	return all[0], nil
}

// costs is what claims of several kinds cost, made in turn: what disturbs one disturbs all.
func costs(ctx context.Context, claims ...func(context.Context) (time.Duration, error)) ([]time.Duration, error) {
	const each = 5
	least := make([]time.Duration, len(claims))
	for range each {
		for i, claim := range claims {
			took, err := claim(ctx)
			if err != nil {
				return nil, err
			}
			if least[i] == 0 || took < least[i] {
				least[i] = took
			}
		}
	}
	return least, nil
}

// flow has so many jobs go through the queue, all at once, behind those that wait already.
func (p *probe) flow(ctx context.Context, in, out int) error {
	if _, err := p.q.Pool().Exec(ctx, p.q.Schema().Query("scenario_flow_in"), p.queue, in); err != nil {
		return fmt.Errorf("add jobs: %w", err)
	}
	if _, err := p.q.Pool().Exec(ctx, p.q.Schema().Query("scenario_flow_out"), p.queue, out); err != nil {
		return fmt.Errorf("complete jobs: %w", err)
	}
	return nil
}

// inMilliseconds is a duration as plots have it.
func inMilliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }
