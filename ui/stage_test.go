package ui

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/leasetop/leasetop/ui/term"
)

// stage is a dashboard without a program: messages go in, the screen comes out.
// Commands run at once, except those that wait for time.
type stage struct {
	t testing.TB
	*world
	app  *app
	held []aloneMsg // keys that wait whether others follow
	sent string     // to the terminal, beside the screen

	astray bool // cursors are not where they would be, so keys may open something else

	clipboard string // what the terminal was given to copy
	editor    int    // how often the terminal was given to an editor
}

type stageOption func(*Config)

func watchingOnly(c *Config) { c.Workers, c.Demo, c.Faults = nil, nil, nil }
func noDemo(c *Config)       { c.Demo = nil }

func newStage(t testing.TB, w *world, width, height int, options ...stageOption) *stage {
	t.Helper()
	cfg := Config{Feed: w, Jobs: w, Workers: crewOf{w}, Demo: w, Faults: faultsOf{w}, Origin: "local server", By: "ann@shop1", Serves: []string{"emails", "images", "reports"}}
	for _, o := range options {
		o(&cfg)
	}
	s := &stage{t: t, world: w, app: newApp(t.Context(), cfg)}
	s.app.now = func() time.Time { return w.now }
	s.app.sleep = func(_ context.Context, d time.Duration) bool { return d == alone } // else time does not pass by itself
	s.send(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
	s.send(tea.WindowSizeMsg{Width: width, Height: height})
	s.pull()
	if cfg.Demo != nil {
		s.send(ledgerMsg{ledger: *w.stats})
	}
	return s
}

// send delivers a message, runs what it asked for, and delivers the answers.
func (s *stage) send(msg tea.Msg) {
	s.t.Helper()
	_, cmd := s.app.Update(msg)
	if s.app.fault != nil {
		s.t.Fatalf("%v\n%s", s.app.fault, s.app.fault.(*panicError).stack)
	}
	s.run(cmd)
}

func (s *stage) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			s.run(c)
		}
	case aloneMsg:
		s.held = append(s.held, msg)
	case tea.RawMsg:
		s.sent += fmt.Sprint(msg.Msg)
	case groundMsg, playBegunMsg, archivedMsg, restoredMsg, revealedMsg, originalsMsg, copyMsg, editMsg, reviewMsg, editedMsg, actedMsg, actsMsg:
		s.send(msg)
	case jobsMsg, deadMsg, groupsMsg, gatherMsg, discardMsg, eventsMsg, jobMsg, planStartedMsg, planRanMsg, planActedMsg, undoAskedMsg, planMsg, plansMsg, planJobsMsg, rehearsedMsg, orderedMsg, pausedMsg, cancelledMsg, comparedMsg, faultMsg, choicesMsg, faultedMsg, healedMsg, brokenMsg:
		s.send(msg)
	default:
		switch fmt.Sprintf("%T", msg) {
		case "tea.setClipboardMsg":
			s.clipboard = fmt.Sprint(msg)
		case "tea.execMsg":
			s.editor++
		}
	}
}

// pull hands the dashboard the world as it is now.
func (s *stage) pull() {
	m := pulledMsg{state: s.state}
	if s.app.cfg.Workers != nil {
		m.workers, m.claims, m.fenced, m.reaped = s.Workers(), s.ClaimLatency(), s.Fenced(), s.Recovery()
		m.news, m.last = crewOf{s.world}.Events(s.app.latest.last)
	}
	s.send(m)
	s.send(secondMsg{})
}

// pass lets time pass, then delivers the second.
func (s *stage) pass(d time.Duration) {
	s.now = s.now.Add(d)
	s.send(secondMsg{})
}

// press presses keys one after the other, without time between them. No others come
// shortly before and after them.
func (s *stage) press(keys ...string) {
	s.t.Helper()
	s.app.presses.last = time.Time{}
	for _, k := range keys {
		s.send(keyPress(k))
	}
	held := s.held
	s.held = nil
	for _, m := range held {
		s.send(m)
	}
}

// later presses a key when dialogs listen again.
func (s *stage) later(keys ...string) {
	s.t.Helper()
	s.now = s.now.Add(swallow + time.Millisecond)
	s.press(keys...)
}

// discards answers the question about a discard: with no reason but that given before,
// and with the number where that is asked for.
func (s *stage) discards() {
	s.t.Helper()
	d := s.app.dialogs.Top().(*discardDialog)
	s.later("enter")
	if d.set.vast() {
		s.press(strings.Split(strconv.Itoa(len(d.set.ids)), "")...)
		s.press("enter")
	}
	s.press("y")
}

// starts answers the form of a plan as it is, from any field but the reason.
func (s *stage) starts() {
	s.t.Helper()
	s.press("y")
	s.press("y")
}

func keyPress(name string) tea.KeyPressMsg {
	special := map[string]rune{"enter": tea.KeyEnter, "tab": tea.KeyTab, "esc": tea.KeyEsc, "space": tea.KeySpace, "backspace": tea.KeyBackspace, "down": tea.KeyDown, "up": tea.KeyUp}
	if code, ok := special[name]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	if rest, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(rest[0]), Mod: tea.ModCtrl}
	}
	if name == "shift+tab" {
		return tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	}
	r := []rune(name)[0]
	return tea.KeyPressMsg{Code: r, Text: name}
}

// screen is what a person sees; it fails the test when it does not fit.
func (s *stage) screen() *term.Frame {
	s.t.Helper()
	view := s.app.View().Content
	if s.app.fault != nil {
		s.t.Fatalf("%v\n%s", s.app.fault, s.app.fault.(*panicError).stack)
	}
	if len(s.broken) > 0 {
		s.t.Fatalf("Update or View asked for %v", s.broken)
	}
	f := term.Render(view, s.app.w, s.app.h)
	if err := f.Err(); err != nil && s.app.h > 0 {
		s.t.Fatalf("the screen does not fit: %v\n%s", err, f.Text())
	}
	return f
}

func (s *stage) sees(texts ...string) {
	s.t.Helper()
	screen := s.screen().Text()
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			s.t.Fatalf("no %q on\n%s", text, screen)
		}
	}
}

func (s *stage) seesNot(texts ...string) {
	s.t.Helper()
	screen := s.screen().Text()
	for _, text := range texts {
		if strings.Contains(screen, text) {
			s.t.Fatalf("%q on\n%s", text, screen)
		}
	}
}

// detail is the job's page in front; nil when there is none.
func (s *stage) detail() *detail {
	d, _ := s.app.page().(*detail)
	return d
}
