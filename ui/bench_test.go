package ui

import (
	"testing"
	"time"
)

// BenchmarkFrame measures one frame of the overview, drawn anew a second later.
func BenchmarkFrame(b *testing.B) { benchmarkFrame(b, newWorld()) }

// BenchmarkHostileFrame measures the same where every name is a stranger's.
func BenchmarkHostileFrame(b *testing.B) {
	w := newWorld()
	w.fortyLeases()
	w.poisonInTurn()
	benchmarkFrame(b, w)
}

func benchmarkFrame(b *testing.B, w *world) {
	s := newStage(b, w, 120, 36)
	for b.Loop() {
		s.now = s.now.Add(time.Second)
		s.app.tick()
		s.app.View()
	}
}
