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
	ours  bool   // it is for demonstrations: all may be played
	open  bool   // what keeps to queues of its own may be played
	why   string // not all may, and what to do
	err   error
	asked time.Time
	busy  bool
}

// outcome is how the last play of a scenario ended.
type outcome struct {
	state scenario.State
	took  time.Duration
}

type (
	groundMsg struct {
		ours, open bool
		why        string
		err        error
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
		ours, why, err := a.cfg.Scenarios.Allows(ctx, scenario.Server)
		open := ours
		if err == nil && !ours {
			open, _, err = a.cfg.Scenarios.Allows(ctx, scenario.Queue)
		}
		return groundMsg{ours, open, why, err}
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
		g.busy, g.known, g.ours, g.open, g.why, g.err = false, msg.err == nil, msg.ours, msg.open, msg.why, msg.err
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
