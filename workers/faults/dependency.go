package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// ErrDependency is what a failing [Dependency] answers.
var ErrDependency = errors.New("503 service unavailable")

// Dependency is something that handlers call and that may fail or be slow, as the server
// of a mail provider. It is safe for concurrent use.
type Dependency struct {
	mu       sync.Mutex
	random   *rand.Rand
	failing  float64
	slow     time.Duration
	counters Calls
}

// Calls are how often a dependency answered, and how. Calls that wait for a slow answer, or
// whose caller gave up, are in neither.
type Calls struct{ Succeeded, Failed uint64 }

// NewDependency makes one that works. Which calls will fail depends on the seed, and on
// the order of the calls.
func NewDependency(seed uint64) *Dependency {
	return &Dependency{random: rand.New(rand.NewPCG(seed, 0))}
}

// Set says which part of the calls fails from now on (0 none, 1 all), and how long each
// takes.
func (d *Dependency) Set(failing float64, slow time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failing, d.slow = failing, slow
}

// Calls returns the counters.
func (d *Dependency) Calls() Calls {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.counters
}

// Call calls the dependency. The error wraps [ErrDependency] when it fails, or is the
// cause of the end of ctx.
func (d *Dependency) Call(ctx context.Context) error {
	d.mu.Lock()
	fails, slow := d.random.Float64() < d.failing, d.slow
	d.mu.Unlock()
	var gone error
	if slow > 0 {
		answer := time.NewTimer(slow)
		defer answer.Stop()
		select {
		case <-answer.C:
		case <-ctx.Done():
			gone = context.Cause(ctx)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case gone != nil:
		return fmt.Errorf("wait for the dependency: %w", gone)
	case fails:
		d.counters.Failed++
		return fmt.Errorf("call the dependency: %w", ErrDependency)
	}
	d.counters.Succeeded++
	return nil
}
