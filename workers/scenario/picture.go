package scenario

import (
	"slices"
	"sync"
	"time"

	"github.com/leasetop/leasetop/workers"
)

// State is how far a play, a step or an assertion is.
type State string

// The states; not all of them are for each.
const (
	ToCome     State = ""            // not yet
	SettingUp  State = "setting up"  // the play: its world is being made
	Waiting    State = "waiting"     // for the audience
	Playing    State = "playing"     // acting, or looking
	Shown      State = "shown"       // the play: what a step was to show is there, and stays in sight for a moment
	CleaningUp State = "cleaning up" // the play: its world is being taken down
	Passed     State = "passed"
	Failed     State = "failed"
	Cancelled  State = "cancelled" // the play: stopped before its end
	Unjudged   State = "unjudged"  // a timed measure beyond its bound where time is not judged
)

// Picture is all there is to show of a play, as a value. Texts may hold whatever the
// database holds: strip them before they reach a terminal.
type Picture struct {
	Version uint64
	Name    string
	Title   string
	Shows   string
	Seed    uint64
	State   State
	Auto    bool
	Flows   bool      // jobs flow while it waits, too
	Err     string    // why it failed; "" when it did not, or when an assertion says it
	Began   time.Time // local clock, as all times here
	Ended   time.Time // zero while it goes on
	Where   string    // the queues, schema or server it plays in
	Run     string    // the name of the play within the database: those of its queues begin with it

	Step     int // index of the step at hand
	Steps    []StepPicture
	Measures []MeasurePicture

	Invariants Invariants

	Looked  time.Time // when Depths and Leases were read; zero before
	Depths  []Depth
	Leases  []Lease
	Workers []Worker
	Runs    []Run // of the listed workers' handlers, the oldest first; of those that ended the last 400
	Bars    []Bar
	Plots   []Plot
	Events  []Event  // oldest first, the last 200
	Outages []Outage // oldest first
}

// StepPicture is a step.
type StepPicture struct {
	Name       string // short; "" where the story has none
	Say        string
	State      State
	Began      time.Time
	Took       time.Duration // once it is over
	Assertions []AssertionPicture
}

// AssertionPicture is an assertion.
type AssertionPicture struct {
	Text   string
	Harm   bool // what a mistake costs
	State  State
	Took   time.Duration // since the act, at the last look
	Within time.Duration
	Seen   string // at the last look
}

// MeasurePicture is a measure.
type MeasurePicture struct {
	Name  string
	Text  string
	Unit  string
	Bound Bound
	Harm  bool  // what a mistake costs
	State State // ToCome before it is taken
	Value float64
}

// Depth is how many jobs of one of the play's queues stand where.
type Depth struct {
	Queue                                        string
	Pending, Processing, Completed, Failed, Dead int64
}

// Lease is a job in somebody's hands.
type Lease struct {
	Job     int64
	Worker  string // as the story calls it; else the owner's token
	Attempt int
	Expires time.Time // local clock, from how long it had when it was read
}

// Worker is a worker of the story.
type Worker struct {
	Name  string
	State string // of workers.State; "partitioned", "killed" and the like for what only the story knows
	Slots int
	Pid   int // of a child process; 0 runs in this one
}

// Bar is one of several figures that are compared, as in a race.
type Bar struct {
	Name  string
	Value float64
	Unit  string
	Most  float64 // a full bar
	Note  string  // what is to say beside it
	Bad   bool    // the note is about harm
	Over  bool    // no more will come
}

// Plot is a figure over time.
type Plot struct {
	Name   string
	Unit   string
	Points []float64 // oldest first, the last 600
	Marks  []Mark
}

// Mark is a moment on a plot.
type Mark struct {
	At   int // index in Points of the point it comes before; negative when that is gone
	Text string
}

// Event is something that happened.
type Event struct {
	At     time.Time
	Worker string // as the story calls it
	Text   string
	What   workers.What // "" for the story's own
}

// Outage is a time in which something all workers need was not there.
type Outage struct {
	Text  string // "the server is away"
	Began time.Time
	Ended time.Time // zero while it goes on
}

// Invariants are what must hold in every story, but for what it lets go wrong on purpose.
type Invariants struct {
	Known    bool
	Exempt   bool             // there are queues in which harm is shown on purpose: they are not counted
	Counted  time.Time        // when that was, by this machine's clock
	Missed   bool             // they could not be counted since, or not yet
	Entered  bool             // there are workers who enter their effects in the ledger
	Effects  int64            // of jobs, in the ledger
	Lost     int64            // jobs that were acknowledged and are gone, or completed without effect: 0
	Doubled  int64            // effects beyond the first of a job: 0
	Fenced   uint64           // stale writes that matched no row
	Recovery workers.Recovery // how soon the play's own reapers took back leases that had run out
	Lease    time.Duration    // the shortest lease in use
	Overlaps int              // times that two runners of one job both trusted their lease, among those in this process: 0
	Overlap  time.Duration    // the longest of them
}

// Stale tells whether the figures are not those of now: they could not be counted, or not
// for a while.
func (i Invariants) Stale(now time.Time) bool {
	return !i.Known || i.Missed && now.Sub(i.Counted) > staleAfter
}

// Kept tells whether nothing was lost, doubled or run by two at once.
func (i Invariants) Kept() bool {
	return !i.Known || i.Lost == 0 && i.Doubled == 0 && i.Overlaps == 0
}

const (
	eventsKept = 200
	staleAfter = 2 * time.Second
	pointsKept = 600
)

// board is the picture that is being painted.
type board struct {
	mu    sync.Mutex
	pic   Picture
	fresh chan struct{} // closed at the next change
	err   error         // how it ended
}

func (b *board) begin(sc Scenario, o Options) {
	b.fresh = make(chan struct{})
	b.pic = Picture{
		Version: 1, Name: sc.Name, Title: sc.Title, Shows: sc.Shows,
		Seed: o.Seed, Flows: sc.Flows, State: SettingUp, Began: time.Now(),
	}
	for _, step := range sc.Steps {
		s := StepPicture{Name: step.Name, Say: step.Say}
		for _, e := range step.Expect {
			within := e.Within
			if within == 0 {
				within = usualPatience
			}
			s.Assertions = append(s.Assertions, AssertionPicture{Text: e.Text, Harm: e.Harm, Within: within})
		}
		b.pic.Steps = append(b.pic.Steps, s)
	}
	for _, m := range sc.Measures {
		b.pic.Measures = append(b.pic.Measures, MeasurePicture{Name: m.Name, Text: m.Text, Unit: m.Unit, Bound: m.Bound, Harm: m.Harm})
	}
}

// change paints. What the function gets may be kept by nobody.
func (b *board) change(paint func(*Picture)) {
	b.touch(func(p *Picture) bool { paint(p); return true })
}

// touch paints, and tells nobody when paint says that there is nothing new to see.
func (b *board) touch(paint func(*Picture) (news bool)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !paint(&b.pic) {
		return
	}
	b.pic.Version++
	close(b.fresh)
	b.fresh = make(chan struct{})
}

func (b *board) changed(version uint64) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pic.Version > version {
		return closed
	}
	return b.fresh
}

// waits tells whether the play waits for its audience.
func (b *board) waits() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pic.State == Waiting
}

var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// picture is a copy, since the board is painted on.
func (b *board) picture() Picture {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.pic
	p.Steps = slices.Clone(p.Steps)
	for i := range p.Steps {
		p.Steps[i].Assertions = slices.Clone(p.Steps[i].Assertions)
	}
	p.Measures = slices.Clone(p.Measures)
	p.Depths = slices.Clone(p.Depths)
	p.Leases = slices.Clone(p.Leases)
	p.Workers = slices.Clone(p.Workers)
	p.Runs = slices.Clone(p.Runs)
	p.Bars = slices.Clone(p.Bars)
	p.Plots = slices.Clone(p.Plots)
	for i := range p.Plots {
		p.Plots[i].Points, p.Plots[i].Marks = slices.Clone(p.Plots[i].Points), slices.Clone(p.Plots[i].Marks)
	}
	p.Events = slices.Clone(p.Events)
	p.Outages = slices.Clone(p.Outages)
	return p
}
