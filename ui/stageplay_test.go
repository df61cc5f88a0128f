package ui

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/scenario"
)

// theatre gives plays in which nothing happens but what a test says.
type theatre struct {
	*world
	why  string // why this database is not for demonstrations; "" when it is
	last *fakePlay
}

func (h *theatre) List() []scenario.Scenario {
	steps := make([]scenario.Step, 3)
	return []scenario.Scenario{
		{Name: "crash", Title: "A worker crashes in mid-job", Shows: "A job is never lost with its worker: when the lease runs out, another worker takes the job over.", Needs: scenario.Queue, Lasts: 4 * time.Second, Steps: steps, Measures: []scenario.Measure{{Name: "recovery", Unit: "s", Bound: scenario.AtMost(2.25)}}},
		{Name: "race", Title: "Three ways to claim", Shows: "Of three ways to claim one lets all work at once.", Needs: scenario.Schema, Lasts: 14 * time.Second, Steps: steps},
		{Name: "failover", Title: "The server dies, its standby takes over", Shows: "What was acknowledged is there after a failover.", Needs: scenario.Server, Lasts: 70 * time.Second, Steps: steps[:1]},
	}
}

func (h *theatre) Allows(_ context.Context, needs scenario.Needs) (bool, string, error) {
	h.note("may %s", needs)
	if needs == scenario.Queue {
		return h.why != pooled, h.why, h.down
	}
	return h.why == "", h.why, h.down
}

func (h *theatre) Play(_ context.Context, name string, seed uint64) (Playing, error) {
	h.note("play %s by %d", name, seed)
	if h.down != nil {
		return nil, h.down
	}
	h.last = &fakePlay{world: h.world, done: make(chan struct{}), pic: crashPicture(scenario.Waiting, 0)}
	h.last.pic.Name = name
	return h.last, nil
}

// fakePlay is a play of which a test says how it stands.
type fakePlay struct {
	*world
	pic  scenario.Picture
	done chan struct{}
	once sync.Once
}

func (p *fakePlay) Picture() scenario.Picture      { p.touch("picture"); return p.pic }
func (p *fakePlay) Changed(uint64) <-chan struct{} { p.touch("changed"); return nil }
func (p *fakePlay) Done() <-chan struct{}          { return p.done }

// What keys do waits for nothing, so it may be done where they are pressed.
func (p *fakePlay) order(text string) { p.asked = append(p.asked, text) }
func (p *fakePlay) Next()             { p.order("next") }
func (p *fakePlay) Auto(on bool)      { p.order(fmt.Sprintf("auto %v", on)) }
func (p *fakePlay) Stop()             { p.order("stop") }

// end ends the play.
func (p *fakePlay) end() { p.once.Do(func() { close(p.done) }) }

// inTheatre has the theatre in a dashboard.
func inTheatre(h *theatre) stageOption { return func(c *Config) { c.Scenarios = h } }

// stands has the play on the screen as it stands now.
func (s *stage) stands(pic scenario.Picture) {
	s.t.Helper()
	p := s.app.plays.now
	pic.Version = p.latest.Version + 1
	s.send(playMsg{p, pic})
}

// performs has a play go through pictures, so much time apart, as an audience would see it.
func (s *stage) performs(pictures []scenario.Picture, apart time.Duration) {
	s.t.Helper()
	for _, pic := range pictures {
		s.now = s.now.Add(apart)
		s.stands(pic)
	}
	s.send(secondMsg{})
}

const sampleRun = "crash-3f2a71"

// crashPicture is the crash scenario: in a state, in a step.
func crashPicture(state scenario.State, step int) scenario.Picture {
	pic := scenario.Picture{
		Version: 1, Name: "crash", Title: "A worker crashes in mid-job", Seed: 4711,
		Shows: "A job is never lost with its worker: when the lease runs out, another worker takes the job over and finishes it.",
		State: state, Began: noon, Where: "queue " + sampleRun, Step: step,
		Steps: []scenario.StepPicture{
			{Name: "Two jobs held", Say: "Two workers wait for work. We enqueue two jobs; each worker claims one and holds it by a lease of 2 s, which its heartbeats renew.", Assertions: []scenario.AssertionPicture{{Text: "w1 and w2 hold one job each", Within: 5 * time.Second}}},
			{Name: "The worker dies", Say: "We kill w1 in the middle of its job. Nothing is cleaned up: to the database it is a process that died. Its row still says that w1 has the job, until the lease runs out.", Assertions: []scenario.AssertionPicture{{Text: "the lease runs out, the job goes back to pending", Within: 3 * time.Second}}},
			{Say: "Now w2 has its own job done, and takes over the orphan: the same job, its second attempt.", Assertions: []scenario.AssertionPicture{{Text: "both jobs are completed", Within: 5 * time.Second}, {Text: "the orphan at its second attempt", Within: 5 * time.Second}}},
		},
		Measures:   []scenario.MeasurePicture{{Name: "recovery", Text: "from the crash until the job was pending again", Unit: "s", Bound: scenario.AtMost(2.25)}},
		Invariants: scenario.Invariants{Known: true, Entered: true, Lease: 2 * time.Second},
		Looked:     noon,
		Depths:     []scenario.Depth{{Queue: sampleRun, Processing: 2}},
		Workers:    []scenario.Worker{{Name: "w1", State: "busy", Slots: 1}, {Name: "w2", State: "busy", Slots: 1}},
		Events: []scenario.Event{
			{At: noon.Add(100 * time.Millisecond), Worker: "w1", What: workers.Spawned, Text: "1 slot on " + sampleRun},
		},
	}
	for i := range step {
		s := &pic.Steps[i]
		s.State, s.Began, s.Took = scenario.Passed, noon.Add(time.Duration(i)*2*time.Second+time.Second), 1830*time.Millisecond
		for k := range s.Assertions {
			s.Assertions[k].State, s.Assertions[k].Took = scenario.Passed, 1820*time.Millisecond
		}
	}
	if step < len(pic.Steps) {
		pic.Steps[step].State = state
	}
	return pic
}

// crashes are the pictures of a crash up to its middle: held, killed, waiting for the lease.
func crashes(now time.Time) (pictures []scenario.Picture) {
	lease := func(pic *scenario.Picture, at time.Time, jobs ...int64) {
		pic.Looked = at
		for i, job := range jobs {
			if job > 0 {
				pic.Leases = append(pic.Leases, scenario.Lease{Job: job, Worker: fmt.Sprintf("w%d", i+1), Attempt: 1, Expires: at.Add(2 * time.Second)})
			}
		}
	}
	for i := range 8 {
		pic := crashPicture(scenario.Playing, 0)
		if i > 2 {
			lease(&pic, now.Add(time.Duration(i)*250*time.Millisecond), 133, 134)
		}
		pictures = append(pictures, pic)
	}
	ends := now.Add(8*250*time.Millisecond + 1600*time.Millisecond)
	for i := range 5 {
		at := now.Add(time.Duration(8+i) * 250 * time.Millisecond)
		pic := crashPicture(scenario.Playing, 1)
		lease(&pic, at, 133, 134)
		pic.Leases[0].Expires = ends
		pic.Workers[0].State = string(workers.Crashed)
		pic.Steps[1].Began = now.Add(2 * time.Second)
		a := &pic.Steps[1].Assertions[0]
		a.State, a.Took, a.Seen = scenario.Playing, time.Duration(i)*250*time.Millisecond, "it is processing"
		pic.Events = append(pic.Events, scenario.Event{At: now.Add(2 * time.Second), Worker: "w1", What: workers.Killed, Text: "1 job abandoned without clean-up, lease runs out in 1.6s"})
		pictures = append(pictures, pic)
	}
	return pictures
}

// racePicture is a race in which one is over, and did harm.
func racePicture() scenario.Picture {
	pic := crashPicture(scenario.Playing, 1)
	pic.Name, pic.Title, pic.Where, pic.Workers, pic.Leases = "race", "Three ways to claim", "schema leasetop_play_race_3f2a71", nil, nil
	pic.Invariants.Lease, pic.Invariants.Entered = 0, false
	pic.Events = nil
	pic.Bars = []scenario.Bar{
		{Name: "naive", Value: 440, Unit: "jobs", Most: 6000, Note: "110/s · 1,615 duplicates · 4.6 of 16 wait", Bad: true, Over: true},
		{Name: "FOR UPDATE", Value: 1630, Unit: "jobs", Most: 6000, Note: "420/s · 0 duplicates · 14.9 of 16 wait"},
		{Name: "SKIP LOCKED", Most: 6000, Unit: "jobs"},
	}
	pic.Depths = []scenario.Depth{{Queue: "race-3f2a71-naive", Pending: 5560, Completed: 440}, {Queue: "race-3f2a71-for-update", Pending: 4370, Completed: 1630}, {Queue: "race-3f2a71-skip-locked", Pending: 6000}}
	pic.Measures = []scenario.MeasurePicture{
		{Name: "duplicates", Text: "claims of a job that somebody had, with SKIP LOCKED", Bound: scenario.Exactly(0), State: scenario.Passed},
		{Name: "times_naive", Text: "SKIP LOCKED does so many times the jobs of the naive ones", Bound: scenario.AtLeast(2), State: scenario.Passed, Value: 11.2},
		{Name: "waiting", Text: "workers that wait for a lock, of 16", Bound: scenario.AtMost(0.5), State: scenario.Failed, Value: 0.9},
	}
	return pic
}

// plotPicture has figures over time.
func plotPicture() scenario.Picture {
	pic := crashPicture(scenario.Waiting, 2)
	pic.Name, pic.Title, pic.Where = "vacuum", "A long transaction holds up VACUUM", "queue vacuum-3f2a71"
	plot := scenario.Plot{Name: "a claim takes", Unit: "ms"}
	for i := range 120 {
		v := 0.4
		if i >= 40 && i < 90 {
			v = 0.4 + float64(i-40)*0.7
		}
		plot.Points = append(plot.Points, v)
	}
	plot.Marks = []scenario.Mark{{At: -3, Text: "gone"}, {At: 40, Text: "a transaction begins"}, {At: 90, Text: "it ends"}, {At: 118, Text: "the mark moves on"}}
	pic.Plots = []scenario.Plot{plot}
	return pic
}

// failedPicture is a crash in which the lease was not taken back.
func failedPicture() scenario.Picture {
	pic := crashPicture(scenario.Failed, 1)
	pic.Ended = noon.Add(9 * time.Second)
	pic.Steps[1].State, pic.Steps[1].Took = scenario.Failed, 3*time.Second
	a := &pic.Steps[1].Assertions[0]
	a.State, a.Took, a.Seen = scenario.Failed, 3*time.Second, "it is processing"
	pic.Invariants.Lost, pic.Invariants.Fenced = 1, 2
	return pic
}

// seenPicture is a crash whose second step is over, and stays in sight for a moment.
func seenPicture() scenario.Picture {
	pic := crashPicture(scenario.Shown, 2)
	pic.Step, pic.Steps[2].State = 1, scenario.ToCome
	pic.Workers[0].State, pic.Looked = string(workers.Crashed), noon.Add(3500*time.Millisecond)
	pic.Leases = []scenario.Lease{{Job: 134, Worker: "w2", Attempt: 1, Expires: pic.Looked.Add(2 * time.Second)}}
	return pic
}

// cancelledPicture is one that was stopped in its second step.
func cancelledPicture() scenario.Picture {
	pic := crashPicture(scenario.Cancelled, 1)
	pic.Ended, pic.Err = noon.Add(9*time.Second), scenario.ErrCancelled.Error()
	pic.Steps[1].State = scenario.Waiting
	return pic
}

// passedPicture is one that went well.
func passedPicture() scenario.Picture {
	pic := crashPicture(scenario.Passed, 3)
	pic.Ended = noon.Add(9 * time.Second)
	pic.Measures[0].State, pic.Measures[0].Value = scenario.Passed, 1.83
	pic.Invariants.Recovery, pic.Invariants.Effects = workers.Recovery{Judged: 1, Worst: 121 * time.Millisecond}, 2
	pic.Depths[0].Processing, pic.Depths[0].Completed = 0, 2
	pic.Workers[0].State, pic.Workers[1].State = string(workers.Crashed), string(workers.Idle)
	return pic
}

var errNoPlay = errors.New("too many connections")
