package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/ui/lanes"
	"github.com/leasetop/leasetop/workers/scenario"
)

// Scenarios are the failure stories that can be played on the database at hand.
type Scenarios interface {
	// List is all there are, in the order in which they are told.
	List() []scenario.Scenario
	// Allows tells whether those that need this may be played here; if not, why, and what to do.
	Allows(ctx context.Context, needs scenario.Needs) (ok bool, why string, err error)
	// Play begins one, which waits before each step. The end of ctx stops it.
	Play(ctx context.Context, name string, seed uint64) (Playing, error)
}

// Playing is a play that goes on; *scenario.Play is one. None of it waits.
type Playing interface {
	Picture() scenario.Picture
	Changed(version uint64) <-chan struct{}
	Next()
	Auto(on bool)
	Stop()
	Done() <-chan struct{}
}

const (
	// lookedAgain is how often a play is looked at in which nothing changes: to know that
	// what it shows is still so.
	lookedAgain = time.Second
	// playLeave is how long the dashboard shows that a play is being stopped before it ends
	// all the same, and playFarewell for how long it waits then.
	playLeave    = 20 * time.Second
	playFarewell = 5 * time.Second
	// playBrief is how long a job must be held to have a letter: two looks of the audience.
	playBrief = 200 * time.Millisecond
)

// playsHere are the scenarios, and the play that this dashboard gives.
type playsHere struct {
	stories []scenario.Scenario
	ground  ground
	now     *performance // that goes on, or was the last
	begins  bool         // one is being begun
	ended   map[string]outcome
	leaving bool // the program ends when the play is over
	work    background
}

// ground is whether more may be done to this database than what scenarios do that keep to
// queues of their own.
type ground struct {
	known bool
	ours  bool   // it is for demonstrations
	why   string // it is not, and what to do
	err   error
	asked time.Time
	busy  bool
}

// outcome is how the last play of a scenario ended.
type outcome struct {
	state scenario.State
	took  time.Duration
}

// performance is one play, as the screen knows it.
type performance struct {
	play   Playing
	pic    scenario.Picture // on the screen
	latest scenario.Picture // pic lags behind it while the picture is frozen
	clock  playClock
	now    time.Time // the clock of the play, as of latest
	shown  time.Time // as of pic
	lanes  lanes.Recorder

	stands, still bool // the clock of the play does, as of latest; as of pic

	came map[string]int // measures: how many steps had begun when each was known
}

// over tells whether it has ended, and its world is taken down.
func (p *performance) over() bool { return !p.latest.Ended.IsZero() }

type (
	groundMsg struct {
		ok  bool
		why string
		err error
	}
	playBegunMsg struct {
		name string
		play Playing
		pic  scenario.Picture
		err  error
	}
	playMsg struct {
		of  *performance
		pic scenario.Picture
	}
	leaveMsg struct{}
)

// live is the play that goes on; nil when none does.
func (p *playsHere) live() *performance {
	if p.now == nil || p.now.over() {
		return nil
	}
	return p.now
}

// askGround finds out what may be done to this database.
func (a *app) askGround() tea.Cmd {
	g, now := &a.plays.ground, a.now()
	if a.cfg.Scenarios == nil || g.known || g.busy || now.Sub(g.asked) < afterError {
		return nil
	}
	g.busy, g.asked = true, now
	return a.io(func(ctx context.Context) tea.Msg {
		ok, why, err := a.cfg.Scenarios.Allows(ctx, scenario.Server)
		return groundMsg{ok, why, err}
	})
}

// begin has a scenario played.
func (a *app) begin(name string, seed uint64) tea.Cmd {
	a.plays.begins = true
	return a.ioUnder(a.ctx, func(ctx context.Context) tea.Msg {
		if !a.plays.work.begin() {
			return nil
		}
		play, err := a.cfg.Scenarios.Play(ctx, name, seed)
		if err != nil {
			a.plays.work.end()
			return playBegunMsg{name: name, err: err}
		}
		go func() {
			defer a.plays.work.end()
			<-play.Done()
		}()
		return playBegunMsg{name: name, play: play, pic: play.Picture()}
	})
}

// follow waits for something newer of a play, and not less than a frame, and takes it.
func (a *app) follow(p *performance) tea.Cmd {
	version, wait := p.latest.Version, pick(p.clock.Settling(a.now()), waitShown, lookedAgain)
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = faultMsg{caught(r)}
			}
		}()
		if !a.sleep(a.ctx, frameEvery) {
			return nil
		}
		again := time.NewTimer(wait)
		defer again.Stop()
		select {
		case <-p.play.Changed(version):
		case <-again.C:
		case <-a.ctx.Done():
			return nil
		}
		return playMsg{p, p.play.Picture()}
	}
}

// played takes what there is to know of plays.
func (a *app) played(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case groundMsg:
		g := &a.plays.ground
		g.busy, g.known, g.ours, g.why, g.err = false, msg.err == nil, msg.ok, msg.why, msg.err
	case playBegunMsg:
		return a.playBegun(msg)
	case playMsg:
		return a.told(msg)
	case leaveMsg:
		return tea.Quit
	}
	a.frame = ""
	return nil
}

func (a *app) playBegun(m playBegunMsg) tea.Cmd {
	a.plays.begins, a.frame = false, ""
	if m.err != nil {
		a.say(danger, m.name+" was not played: "+m.err.Error())
		return pick(a.plays.leaving, tea.Cmd(tea.Quit), nil)
	}
	p := &performance{play: m.play, lanes: lanes.Recorder{Keep: time.Hour, Brief: playBrief}}
	a.plays.now = p
	if a.plays.leaving {
		m.play.Stop()
	} else {
		a.flash = flash{}
		a.openOver(&stagePage{pic: &a.pic, of: p})
	}
	return a.told(playMsg{p, m.pic})
}

// told takes a picture of a play, and goes on listening until it is over.
func (a *app) told(m playMsg) tea.Cmd {
	p := m.of
	if p.over() {
		return nil
	}
	fresh := m.pic.Version != p.latest.Version
	stood := p.stands
	p.take(m.pic, a.now())
	a.pic.lanes.Without(m.pic.Run)
	fresh = fresh || p.stands != stood || away(&p.latest) != nil // how long that has been is shown
	if !a.frozen {
		p.show()
	}
	if fresh {
		a.frame = ""
	}
	if !p.over() {
		return a.follow(p)
	}
	if a.plays.ended == nil {
		a.plays.ended = map[string]outcome{}
	}
	a.plays.ended[m.pic.Name] = outcome{m.pic.State, m.pic.Ended.Sub(m.pic.Began)}
	if a.plays.leaving {
		return tea.Quit
	}
	if page, ok := a.page().(*stagePage); !ok || page.of != p {
		kind, word, after := endTone(m.pic.State)
		a.say(kind, m.pic.Name+": "+word+" "+after+short(m.pic.Ended.Sub(m.pic.Began)))
	}
	return nil
}

// take notes a picture, and has the lanes record what it shows.
func (p *performance) take(pic scenario.Picture, now time.Time) {
	p.latest = pic
	p.note(&pic)
	p.clock.Tick(now, pic.State == scenario.Waiting)
	p.now = p.clock.Of(now)
	p.stands = pic.State == scenario.Waiting && !p.clock.Settling(now)
	p.lanes.Ran(p.clock.Of(pic.Looked), runsOf(pic.Runs, &p.clock))
	held := make([]lanes.Held, len(pic.Leases))
	for i, l := range pic.Leases {
		held[i] = lanes.Held{Job: l.Job, Worker: l.Worker, Attempt: l.Attempt, Expires: p.clock.Of(l.Expires)}
	}
	crew := make([]lanes.Worker, len(pic.Workers))
	for i, w := range pic.Workers {
		crew[i] = lanes.Worker{Name: w.Name, State: w.State, Slots: w.Slots}
	}
	p.lanes.Away(outagesOf(pic.Outages, &p.clock))
	p.lanes.See(p.now, held, crew)
}

// note remembers when measures were known.
func (p *performance) note(pic *scenario.Picture) {
	if p.came == nil {
		p.came = map[string]int{}
	}
	for _, m := range pic.Measures {
		if _, ok := p.came[m.Name]; !ok && m.State != scenario.ToCome {
			p.came[m.Name] = begun(pic)
		}
	}
}

// fresh tells whether a measure has come since the last step began: as long as the
// audience reads, it stays so.
func (p *performance) fresh(measure string) bool {
	at, ok := p.came[measure]
	return ok && p.pic.Ended.IsZero() && at >= begun(&p.pic)
}

// begun is how many steps are being played or over.
func begun(pic *scenario.Picture) (n int) {
	for _, step := range pic.Steps {
		if step.State != scenario.ToCome && step.State != scenario.Waiting {
			n++
		}
	}
	return n
}

// runsOf are runs as lanes have them.
func runsOf(all []scenario.Run, clock *playClock) []lanes.Run {
	runs := make([]lanes.Run, len(all))
	of := func(t time.Time) time.Time {
		if t.IsZero() {
			return t
		}
		return clock.Of(t)
	}
	for i, one := range all {
		runs[i] = lanes.Run{
			ID: one.ID, Job: one.Job, Worker: one.Worker, Attempt: one.Attempt,
			Began: of(one.Began), Ended: of(one.Ended), End: runEnds[one.End], Dead: of(one.Dead),
		}
	}
	return runs
}

// runEnds are the ends of runs as lanes have them.
var runEnds = map[scenario.RunEnd]lanes.End{
	scenario.RunDone: lanes.Done, scenario.RunFailed: lanes.Back, scenario.RunBack: lanes.Back,
	scenario.RunFenced: lanes.Fenced, scenario.RunStopped: lanes.Stopped, scenario.RunCrashed: lanes.Crashed,
}

// show puts the latest picture on the screen.
func (p *performance) show() { p.pic, p.shown, p.still = p.latest, p.now, p.stands }

// leave ends the program. A play that goes on is stopped first, and its world taken down:
// the screen says so meanwhile. Whoever does not want to wait presses again.
func (a *app) leave() tea.Cmd {
	p := a.plays.live()
	if p == nil && !a.plays.begins || a.plays.leaving {
		return tea.Quit
	}
	a.plays.leaving = true
	if p != nil {
		p.play.Stop()
	}
	a.dialogs.Push(&leaving{plays: &a.plays}, a.now())
	a.dialogs.deaf = a.now()
	a.frame = ""
	return a.after(playLeave, leaveMsg{})
}

// endTone is how the end of a play is drawn: a colour, a word, and what stands before the
// time it took.
func endTone(s scenario.State) (kind tone, word, after string) {
	switch s {
	case scenario.Passed:
		return okay, "passed", "in "
	case scenario.Failed:
		return danger, "failed", "after "
	}
	return caution, "stopped", "after "
}
