package ui

import (
	"context"
	"os/user"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/leasetop/leasetop/queue/alert"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/safe"
)

// page is what fills the screen between the tabs and the footer.
type page interface {
	Show(p *picture)
	View(w, h int) []string
	Keys(a *app) []action
	Move(m motion)
	Cycle(by int)
}

// loader is a page that reads what it lacks from the database: Load returns the command
// for that, or nil.
type loader interface {
	Load(a *app) tea.Cmd
}

// named is a page that is no tab, by the name that the help has for it.
type named interface {
	Name() string
}

// app is the root model. It routes messages; pages, panes and dialogs decide.
// Update and View do no I/O: everything that waits is a command made by io.
type app struct {
	cfg Config
	ctx context.Context
	now func() time.Time
	// sleep waits in commands, and reports whether the time passed before ctx ended.
	sleep func(ctx context.Context, d time.Duration) bool

	w, h      int
	dark      bool
	plain     bool
	clustered bool // the terminal counts cells per grapheme cluster (mode 2027)

	pic    picture
	latest pulledMsg // the newest there is; pic lags behind it while frozen
	frozen bool

	tabs     []tab
	open     int
	overview *overview
	jobsTab  *jobsTab
	deadTab  *deadTab
	crew     *crewTab
	stories  *scenarioTab
	events   *eventsTab
	over     []page // opened over the tab, the one in front last; esc goes back
	dialogs  dialogs
	health   *healthPanel // in dialogs while it is open
	presses  presses
	flash    flash
	drafts   drafts
	plans    plansHere
	plays    playsHere
	broken   brokenHere
	// undoables are what this dashboard did that can be taken back, oldest first.
	undoables []undoable
	alarm     alert.Alarm

	frame string // the finished screen; "" when something changed
	fault error  // a panic, to be returned by Run
}

func newApp(ctx context.Context, cfg Config) *app {
	a := &app{cfg: cfg, ctx: ctx, now: time.Now, sleep: sleep, dark: true}
	if a.cfg.By == "" {
		a.cfg.By = "dashboard"
		if u, err := user.Current(); err == nil {
			a.cfg.By = u.Username
		}
	}
	a.overview, a.jobsTab, a.deadTab, a.crew, a.events = newOverview(), newJobsTab(), &deadTab{}, &crewTab{}, newEventsTab()
	a.stories = newScenarioTab(a)
	a.tabs = a.registry()
	a.pic = picture{theme: newTheme(a.dark, a.plain), state: &watch.State{}, alone: cfg.Workers == nil, lanes: &laneFeed{}}
	a.latest.state = a.pic.state
	a.alarm.Limits, a.pic.alarm = cfg.Alerts.Limits, &a.alarm
	a.health = &healthPanel{pic: &a.pic, compare: a.compareKey}
	a.tick()
	return a
}

// Init asks the terminal for its background and starts the clock and the feed.
func (a *app) Init() tea.Cmd {
	return tea.Batch(tea.RequestBackgroundColor, a.pull(pulledMsg{}), a.second(), a.readLedger(0), a.watchBroken(0), a.awaitServer())
}

// Update takes one message.
func (a *app) Update(msg tea.Msg) (m tea.Model, cmd tea.Cmd) {
	defer func() {
		if r := recover(); r != nil {
			m, cmd = a, a.fail(caught(r))
		}
	}()
	cmd = a.update(msg)
	a.unsay()
	return a, tea.Batch(cmd, a.load())
}

func (a *app) update(msg tea.Msg) tea.Cmd {
	if a.fault != nil { // a panic in View
		return tea.Quit
	}
	switch msg := msg.(type) {
	case pulledMsg:
		return a.pulled(msg)
	case secondMsg:
		a.tick()
		return tea.Batch(a.second(), a.judge())
	case tea.KeyPressMsg:
		a.frame = ""
		cmd := a.press(msg)
		if a.dialogs.Top() != nil && !a.dialogs.Armed(a.now()) {
			cmd = tea.Batch(cmd, a.after(swallow, wakeMsg{})) // it looks different then
		}
		return cmd
	case tea.WindowSizeMsg:
		a.w, a.h = msg.Width, msg.Height
	case tea.BackgroundColorMsg:
		a.dark = msg.IsDark()
		a.dress()
	case tea.ColorProfileMsg:
		a.plain = msg.Profile <= colorprofile.ASCII
		a.dress()
	case tea.ModeReportMsg:
		if msg.Mode == ansi.ModeUnicodeCore {
			a.clustered = msg.Value == ansi.ModeSet || msg.Value == ansi.ModeReset || msg.Value == ansi.ModePermanentlySet
		}
	case tea.ResumeMsg:
		a.tick()
		a.frame = ""
		return a.refresh()
	case tea.PasteMsg:
		a.pasted(msg.Content)
	case serverNewsMsg:
		return a.serverTold(msg)
	case jobsMsg:
		a.jobsTab.Took(msg)
	case deadMsg:
		a.deadTab.Took(msg)
	case groupsMsg:
		a.deadTab.groups.Took(&msg, a.now())
	case gatherMsg:
		a.frame = ""
		return a.gathered(msg)
	case discardMsg:
		a.frame = ""
		return a.discarded(msg)
	case eventsMsg:
		a.events.Took(msg)
	case jobMsg:
		for _, p := range a.over {
			if d, ok := p.(*detail); ok {
				d.Took(msg)
			}
		}
	case ledgerMsg:
		if msg.err == nil && !a.frozen {
			a.pic.ledger, a.pic.counted = &msg.ledger, a.now()
			a.frame = ""
		}
		return a.readLedger(ledgerEvery)
	case revealedMsg, originalsMsg, copyMsg, editMsg, editorMsg, reviewMsg, editedMsg, actedMsg:
		a.frame = ""
		return a.ofJob(msg)
	case actsMsg:
		for _, p := range a.over {
			if l, ok := p.(*logPage); ok {
				l.Took(msg)
			}
		}
	case planStartedMsg, planToldMsg, planRanMsg, planActedMsg, undoAskedMsg, planMsg, plansMsg, planJobsMsg, rehearsedMsg:
		a.frame = ""
		return a.planned(msg)
	case groundMsg, playBegunMsg, playMsg, leaveMsg:
		return a.played(msg)
	case choicesMsg, faultedMsg, healedMsg, brokenMsg:
		return a.faulted(msg)
	case orderedMsg:
		a.ordered(msg)
	case pausedMsg:
		a.pauseDone(msg)
	case archivedMsg:
		a.foundArchived(msg)
	case restoredMsg:
		a.restored(msg)
	case cancelledMsg:
		a.cancelled(msg)
	case comparedMsg:
		a.compared(msg)
	case aloneMsg:
		a.frame = ""
		return a.stoodAlone(msg)
	case wakeMsg: // something looks different now, or is due
	case faultMsg:
		return a.fail(msg.err)
	default: // releases, focus: nothing acts on them
		return nil
	}
	a.frame = ""
	return nil
}

// dress puts on the theme that suits the terminal.
func (a *app) dress() { a.pic.theme = newTheme(a.dark, a.plain) }

// page is what fills the screen now.
func (a *app) page() page {
	if n := len(a.over); n > 0 {
		return a.over[n-1]
	}
	return a.tabs[a.open].page
}

// openOver opens a page over the tab, or over what is over it already.
func (a *app) openOver(p page) {
	if l, ok := a.page().(leaver); ok {
		l.Left()
	}
	a.over = append(a.over, p)
	a.show()
}

// backKey goes back to what is below the page in front.
func (a *app) backKey() action {
	return key("esc", "back", "back to where this was opened", func() tea.Cmd {
		a.over = a.over[:len(a.over)-1]
		a.show()
		return nil
	})
}

// show hands the picture to the page on the screen. The others get it when they
// are opened.
func (a *app) show() {
	a.page().Show(&a.pic)
	a.frame = ""
}

// tick moves the picture's clock on, and what depends on time alone.
func (a *app) tick() {
	now := a.now()
	a.flash.Expire(now)
	a.pic.lanes.Catch(a.latest, now)
	if !a.frozen {
		a.pic.local, a.pic.now = now, a.pic.state.Clock.Now(now)
	}
	a.show()
}

// load asks for what the page on the screen lacks.
func (a *app) load() tea.Cmd {
	if p, ok := a.page().(loader); ok {
		return p.Load(a)
	}
	return nil
}

// helpOf opens the list of a dialog's keys over it.
func (a *app) helpOf(title string, keys []action) tea.Cmd {
	a.dialogs.Push(&helpDialog{sections: []helpSection{{title: title, actions: keys}}}, a.now())
	a.dialogs.deaf = a.now() // it was asked for, and nothing in it acts
	return nil
}

// ask opens a question. It listens after a moment, and is drawn again then.
func (a *app) ask(d dialog) {
	a.dialogs.Push(d, a.now())
}

// say shows a line in the footer. It may hold what the database holds.
func (a *app) say(kind tone, text string) { a.flash.Say(kind, safe.Text(text), a.now()) }

// freeze keeps the picture as it is, or shows the present again.
func (a *app) freeze() {
	a.frozen = !a.frozen
	if !a.frozen {
		a.adopt(a.latest)
		if a.plays.now != nil {
			a.plays.now.show()
		}
		a.tick()
	}
}

// openJob opens a job's detail.
func (a *app) openJob(id int64) tea.Cmd {
	a.openOver(newDetail(id, &a.pic))
	return nil
}

// readOnly says why nothing can be changed here; "" when it can.
func (a *app) readOnly() string {
	if a.pic.state.Server.ReadOnly {
		return "this database is read-only for " + a.pic.state.Server.User
	}
	return ""
}

// watching says why workers cannot be ordered about; "" when they can.
func (a *app) watching() string {
	if a.cfg.Workers == nil {
		return "watching only: no workers run in this process"
	}
	return ""
}
