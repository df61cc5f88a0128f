package stories

import (
	"context"
	"sync"
	"time"

	"github.com/leasetop/leasetop/sql/local"
	"github.com/leasetop/leasetop/workers/scenario"
)

// pair shows a primary and its standby: what state each is in, and how many completed jobs
// it has. The standby is asked itself: it has what it was sent, not what is hoped.
type pair struct {
	standby *local.Server

	mu       sync.Mutex
	dead     bool // the primary
	promoted bool // the standby
	first    int64
	second   int64 // completed jobs that the primary had and the standby has
	shown    [2]scenario.Bar
}

// begin shows them until the play is over.
func (p *pair) begin(s *scenario.Stage) {
	p.show(s)
	beside(s, 2*scenario.LookEvery, func() (over bool) {
		if _, has, err := ask(s.Context(), s, p.standby); err == nil {
			p.has(s, has)
		}
		return false
	})
}

// has notes how many completed jobs the standby has. That never falls, but answers may
// come out of turn.
func (p *pair) has(s *scenario.Stage, completed int64) {
	p.mu.Lock()
	p.second = max(p.second, completed)
	p.mu.Unlock()
	p.show(s)
}

// dies notes that the primary is dead. What it had, as far as anybody was told, the standby
// has, once that has applied what it was sent.
func (p *pair) dies(ctx context.Context, s *scenario.Stage) error {
	had := int64(-1)
	for {
		_, now, err := ask(ctx, s, p.standby)
		if err != nil {
			return err
		}
		if now == had {
			break
		}
		had = now
		if err := scenario.ToilFor(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	p.mu.Lock()
	p.dead, p.first, p.second = true, had, had
	p.mu.Unlock()
	p.show(s)
	return nil
}

// promote notes that the standby takes writes.
func (p *pair) promote(s *scenario.Stage) {
	p.mu.Lock()
	p.promoted = true
	p.mu.Unlock()
	p.show(s)
}

func (p *pair) show(s *scenario.Stage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.dead {
		completed := int64(0)
		for _, d := range s.Picture().Depths {
			completed += d.Completed
		}
		p.first = max(p.first, completed, p.second) // what the standby has it has from there
	}
	all := p.bars()
	for i, bar := range all {
		if bar != p.shown[i] {
			s.Bar(bar)
		}
	}
	p.shown = all
}

func (p *pair) bars() [2]scenario.Bar {
	primary, standby := "takes writes", "copies each commit, takes no writes itself"
	if p.dead {
		primary = "dead"
	}
	if p.promoted {
		standby = "the primary now: takes writes"
	}
	most := float64(max(p.first, p.second, seenFlow))
	return [2]scenario.Bar{
		{Name: "primary has", Value: float64(p.first), Unit: "completed", Most: most, Note: primary, Bad: p.dead},
		{Name: "standby has", Value: float64(p.second), Unit: "completed", Most: most, Note: standby},
	}
}
