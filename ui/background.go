package ui

import (
	"sync"
	"time"
)

// background is work that the end of the program waits for, a while.
type background struct {
	mu     sync.Mutex
	closed bool
	n      int
	idle   chan struct{} // closed when the last has ended after close
}

func (b *background) begin() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.n++
	return true
}

func (b *background) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.n--; b.n == 0 && b.closed {
		close(b.idle)
	}
}

// close lets nothing more begin and waits for what runs, but no longer than patience. It
// tells whether all has ended.
func (b *background) close(patience time.Duration) (ended bool) {
	b.mu.Lock()
	b.closed, b.idle = true, make(chan struct{})
	none, idle := b.n == 0, b.idle
	b.mu.Unlock()
	if none {
		return true
	}
	select {
	case <-idle:
		return true
	case <-time.After(patience):
		return false
	}
}
