package scenario

import (
	"context"
	"sync"
)

// Gate is where handlers wait for the story: it stands still until the story opens the
// gate, for one job or for all.
type Gate struct {
	mu      sync.Mutex
	open    bool
	passes  map[int64]bool
	changed chan struct{}
}

// NewGate is a gate that is shut.
func NewGate() *Gate { return &Gate{passes: map[int64]bool{}, changed: make(chan struct{})} }

// Open lets everybody pass, also those to come.
func (g *Gate) Open() { g.set(func() { g.open = true }) }

// Shut makes those to come wait.
func (g *Gate) Shut() { g.set(func() { g.open = false; clear(g.passes) }) }

// Pass lets these jobs pass.
func (g *Gate) Pass(jobs ...int64) {
	g.set(func() {
		for _, id := range jobs {
			g.passes[id] = true
		}
	})
}

func (g *Gate) set(how func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	how()
	close(g.changed)
	g.changed = make(chan struct{})
}

// Wait waits until the job may pass, or ctx ends; then it returns ctx's cause.
func (g *Gate) Wait(ctx context.Context, job int64) error {
	for {
		g.mu.Lock()
		pass, changed := g.open || g.passes[job], g.changed
		g.mu.Unlock()
		if pass {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changed:
		}
	}
}
