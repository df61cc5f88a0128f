package stories

import (
	"sync"

	"github.com/leasetop/leasetop/workers/scenario"
)

// pair shows a primary and its standby: what state each is in, and how many jobs were
// completed on it. The zero value is of two that run.
type pair struct {
	mu       sync.Mutex
	dead     bool  // the primary
	promoted bool  // the standby
	before   int64 // jobs that were completed on the primary, once the standby is promoted
	all      int64 // jobs that were completed, at the last look
	shown    [2]scenario.Bar
}

// begin shows them until the play is over.
func (p *pair) begin(s *scenario.Stage) {
	p.show(s)
	beside(s, scenario.LookEvery, func() (over bool) {
		p.show(s)
		return false
	})
}

// dies and promote note what becomes of them, and how many jobs the standby had as completed
// when the primary was dead.
func (p *pair) dies(s *scenario.Stage) {
	p.mu.Lock()
	p.dead = true
	p.mu.Unlock()
	p.show(s)
}

func (p *pair) promote(s *scenario.Stage, before int64) {
	p.mu.Lock()
	p.promoted, p.before = true, before
	p.mu.Unlock()
	p.show(s)
}

// finish notes how many jobs were completed in the end, and shows that: there may be no
// look any more.
func (p *pair) finish(s *scenario.Stage, all int) {
	p.mu.Lock()
	p.all = int64(all)
	p.mu.Unlock()
	p.show(s)
}

func (p *pair) show(s *scenario.Stage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	completed := int64(0)
	for _, d := range s.Picture().Depths {
		completed += d.Completed
	}
	p.all = max(p.all, completed)
	all := p.bars()
	for i, bar := range all {
		if bar != p.shown[i] {
			s.Bar(bar)
		}
	}
	p.shown = all
}

func (p *pair) bars() [2]scenario.Bar {
	first, second := p.all, int64(0)
	primary, standby := "takes writes", "copies the primary, takes no writes"
	if p.dead {
		primary = "dead"
	}
	if p.promoted {
		first, second = p.before, max(p.all-p.before, 0)
		standby = "the primary now: takes writes"
	}
	most := float64(max(first, second, seenFlow))
	return [2]scenario.Bar{
		{Name: "primary", Value: float64(first), Unit: "done here", Most: most, Note: primary, Bad: p.dead},
		{Name: "standby", Value: float64(second), Unit: "done here", Most: most, Note: standby},
	}
}
