package ui

import (
	"testing"
	"time"
)

// BenchmarkFrame measures one frame of the overview, drawn anew.
func BenchmarkFrame(b *testing.B) {
	s := newStage(b, newWorld(), 120, 36)
	for b.Loop() {
		s.now = s.now.Add(time.Second)
		s.app.tick()
		s.app.View()
	}
}
