package ui

import (
	"slices"
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

// BenchmarkFrameOfManyQueues measures a frame with ten thousand queues, as time passes.
func BenchmarkFrameOfManyQueues(b *testing.B) {
	w := newWorld()
	w.state.Depths.Queues = manyQueues(10_000)
	benchmarkFrame(b, w)
}

// BenchmarkStateOfManyQueues measures the frame of another State, with other counts.
func BenchmarkStateOfManyQueues(b *testing.B) {
	w := newWorld()
	s := newStage(b, w, 120, 36)
	queues := manyQueues(10_000)
	for b.Loop() {
		s.now = s.now.Add(time.Second)
		state := *w.state
		state.Version++
		state.Depths.Queues = slices.Clone(queues)
		w.state = &state
		s.app.adopt(pulledMsg{state: &state, workers: w.crew})
		s.app.View()
	}
}

func benchmarkFrame(b *testing.B, w *world) {
	s := newStage(b, w, 120, 36)
	for b.Loop() {
		s.now = s.now.Add(time.Second)
		s.app.tick()
		s.app.View()
	}
}
