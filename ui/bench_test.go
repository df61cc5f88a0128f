package ui

import (
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
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

// BenchmarkEventsFrame measures one frame of the events at 10,000 of them a second, a
// quarter of a second later: all of them, and those that words let through.
func BenchmarkEventsFrame(b *testing.B) {
	for name, text := range map[string]string{"all": "", "of a queue": "queue:emails", "with a text": "no such text"} {
		b.Run(name, func(b *testing.B) {
			w := newWorld()
			w.happen(enqueued(recordMost, 100_000)...)
			s := events(b, w, 120, 36)
			s.press("/")
			s.send(tea.PasteMsg{Content: text})
			s.press("enter")
			fresh := enqueued(2500, 200_000)
			b.ReportAllocs()
			for b.Loop() {
				for i := range fresh {
					fresh[i].Seq = s.app.events.record.seen + 1 + uint64(i)
				}
				s.app.Update(eventsMsg{events: fresh})
				s.app.View()
			}
		})
	}
}
