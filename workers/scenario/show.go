package scenario

import (
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// Note tells the audience of something: worker is the story's name for who it is about, or "".
func (s *Stage) Note(worker, text string) {
	s.event(Event{At: time.Now(), Worker: worker, Text: text})
}

// Picture is the play as the audience sees it: what was looked at and counted last.
func (s *Stage) Picture() Picture { return s.play.Picture() }

// Outage shows that something all workers need is not there, "the server is away" say,
// until the function it returns is called.
func (s *Stage) Outage(text string) (over func()) {
	began := time.Now()
	s.play.board.change(func(b *Picture) { b.Outages = append(b.Outages, Outage{Text: text, Began: began}) })
	return func() {
		s.play.board.change(func(b *Picture) {
			for i := range b.Outages {
				if b.Outages[i].Began.Equal(began) && b.Outages[i].Ended.IsZero() {
					b.Outages[i].Ended = time.Now()
				}
			}
		})
	}
}

// over tells that the world is being taken down. How that goes is no part of the story.
func (s *Stage) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.struck
}

func (s *Stage) event(e Event) {
	if s.over() {
		return
	}
	s.play.board.change(func(b *Picture) {
		b.Events = append(b.Events, e)
		if over := len(b.Events) - eventsKept; over > 0 {
			b.Events = append([]Event(nil), b.Events[over:]...)
		}
	})
}

// Bar shows a figure to be compared with others; one of the same name is replaced.
func (s *Stage) Bar(bar Bar) {
	s.play.board.change(func(b *Picture) {
		for i := range b.Bars {
			if b.Bars[i].Name == bar.Name {
				b.Bars[i] = bar
				return
			}
		}
		b.Bars = append(b.Bars, bar)
	})
}

// Plot adds a point to a figure over time. Time stands still on it while the play waits
// for its audience: what the story is about stays in sight however long somebody reads.
func (s *Stage) Plot(name, unit string, value float64) {
	if s.play.board.waits() {
		return
	}
	s.plot(name, func(p *Plot) {
		p.Unit = unit
		p.Points = append(p.Points, value)
		if over := len(p.Points) - pointsKept; over > 0 {
			p.Points = append([]float64(nil), p.Points[over:]...)
			for i := range p.Marks {
				p.Marks[i].At -= over
			}
		}
	})
}

// Mark marks the moment on a plot.
func (s *Stage) Mark(plot, text string) {
	s.plot(plot, func(p *Plot) { p.Marks = append(p.Marks, Mark{At: len(p.Points), Text: text}) })
}

func (s *Stage) plot(name string, draw func(*Plot)) {
	s.play.board.change(func(b *Picture) {
		for i := range b.Plots {
			if b.Plots[i].Name == name {
				draw(&b.Plots[i])
				return
			}
		}
		b.Plots = append(b.Plots, Plot{Name: name})
		draw(&b.Plots[len(b.Plots)-1])
	})
}

// Says sets what only the story knows of a worker's state, "partitioned" say; "" is what
// the worker says itself.
func (s *Stage) Says(worker, state string) {
	s.mu.Lock()
	s.said[worker] = state
	s.mu.Unlock()
	s.showWorkers()
}

// hearing is who hears the events of a crew or a process.
func (s *Stage) hearing(of any) func(workers.Event) {
	return func(e workers.Event) { s.heard(of, e) }
}

// heard is an event of the runtime, which the audience is told.
func (s *Stage) heard(of any, e workers.Event) {
	s.runs.heard(e)
	s.mu.Lock()
	s.recovery.Note(e)
	s.mu.Unlock()
	if (e.What == workers.ReapedBack || e.What == workers.ReapedDead) && !s.first(queue.Lease{ID: e.JobID, Token: e.Owner}) {
		return
	}
	if e.What == workers.Panicked { // who reads "w1 panicked" takes the worker for dead
		s.Note("", fmt.Sprintf("%s's handler panicked at job %d; %s works on", e.Worker, e.JobID, e.Worker))
		return
	}
	if text, told := s.troubles.inStory(of, e); told {
		s.event(Event{At: e.At, Worker: e.Worker, Text: text, What: e.What})
	}
	s.showWorkers()
}
