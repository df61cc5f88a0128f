package ui

import (
	"testing"
	"time"
)

// The end of the program gives executions a while to let go of their plans.
func TestBackgroundWorkIsWaitedForAndThenNot(t *testing.T) {
	t.Parallel()
	var b background
	if !b.begin() {
		t.Fatal("nothing may begin")
	}
	ended := make(chan struct{})
	go func() {
		b.close(time.Minute)
		close(ended)
	}()
	for {
		b.mu.Lock()
		closed := b.closed
		b.mu.Unlock()
		if closed {
			break
		}
	}
	if b.begin() {
		t.Error("something began after the end had")
	}
	select {
	case <-ended:
		t.Error("it did not wait")
	default:
	}
	b.end()
	<-ended

	var stuck background
	stuck.begin()
	stuck.close(time.Millisecond)
}
