package ui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/leasetop/leasetop/ui/term"
)

// pastes are texts that would do harm if their letters were taken for keys.
var pastes = []string{"dy\nrk\n", "\ny\n", "rRDKFCPCxbnd+-y\n*r\ny\ne\nu\ny\n"}

// CASES "Paste": whatever is open, text that is pasted never acts: neither marked as
// pasted, nor as the keys that a terminal without bracketed paste makes of it.
func TestPasteNeverActsWhateverIsOpen(t *testing.T) {
	t.Parallel()
	for n, screen := range screens {
		t.Run(fmt.Sprint(n, " ", screen.front), func(t *testing.T) {
			t.Parallel()
			for _, text := range pastes {
				for _, bracketed := range []bool{true, false} {
					if bracketed && text != pastes[0] {
						continue // no letter of it is looked at
					}
					s := newStage(t, newWorld(), 120, 36)
					for i := range n + 1 {
						s.show(i)
					}
					before := s.log()
					s.now = s.now.Add(swallow) // dialogs listen
					if bracketed {
						s.send(tea.PasteStartMsg{})
						s.send(tea.PasteMsg{Content: text})
						s.send(tea.PasteEndMsg{})
					} else {
						s.pressAtOnce(text)
					}
					if after := s.log(); after != before {
						t.Errorf("%q (bracketed %v) did %q on\n%s", text, bracketed, strings.TrimPrefix(after, before), s.screen().Text())
					}
				}
			}
		})
	}
}

// What changes something stands alone, or asks first: then no paste does it. Every key of
// every page and dialog is looked at, once.
func TestEveryKeyThatActsAsksOrStandsAlone(t *testing.T) {
	t.Parallel()
	type one struct{ front, keys string }
	seen := map[one]bool{}
	acting := 0
	walking := newStage(t, newWorld(), 120, 36)
	for n := range screens {
		walking.show(n)
		at := func() *stage {
			s := newStage(t, newWorld(), 120, 36)
			for i := range n + 1 {
				s.show(i)
			}
			s.now = s.now.Add(swallow)
			return s
		}
		for i, a := range walking.keysNow() {
			this := one{walking.front(), strings.Join(a.keys, " ")}
			if a.why != "" || a.do == nil || seen[this] {
				continue
			}
			seen[this] = true
			fresh := at() // what the key does leaves its traces
			before := fresh.log()
			fresh.run(fresh.keysNow()[i].do())
			if after := fresh.log(); after != before {
				acting++
				if looks := this == (one{"HEALTH", "c"}); !a.solo && !looks {
					t.Errorf("%s: %s at once does %q", this.front, this.keys, strings.TrimPrefix(after, before))
				}
			}
		}
	}
	if acting < 10 {
		t.Errorf("only %d keys act", acting)
	}
}

// Nor into what an edit is about to change.
func TestPasteIntoAReviewSavesNothing(t *testing.T) {
	for _, text := range append(pastes, "s\nr\ns\n") {
		s := editing(t, newWorld(), sampleJob(88007), 120, 36)
		s.types(`{"to": "someone else"}`, nil)
		s.now = s.now.Add(swallow)
		if got := s.front(); !strings.HasPrefix(got, "EDITED PAYLOAD") {
			t.Fatalf("%q is in front", got)
		}
		before := s.log()
		s.pressAtOnce(text)
		if after := s.log(); after != before {
			t.Errorf("%q did %q", text, strings.TrimPrefix(after, before))
		}
	}
}

// keysNow are the actions of what is in front.
func (s *stage) keysNow() []action {
	if top := s.app.dialogs.Top(); top != nil {
		return top.Keys(s.app)
	}
	return s.app.keys()
}

// pressAtOnce presses the keys that a text is made of, as a terminal sends a paste.
func (s *stage) pressAtOnce(text string) {
	s.t.Helper()
	keys := make([]string, 0, len(text))
	for _, r := range text {
		keys = append(keys, pick(r == '\n', "enter", string(r)))
	}
	s.press(keys...)
}

// The same over a terminal, on a list and into a question.
func TestPasteOverATerminalNeverActs(t *testing.T) {
	t.Parallel()
	for _, asked := range []bool{false, true} {
		for _, bracketed := range []bool{true, false} {
			t.Run(fmt.Sprintf("asked %v, bracketed %v", asked, bracketed), func(t *testing.T) {
				t.Parallel()
				tm := open(t, "none", term.Options{})
				tm.Expect("QUEUES", "INVARIANTS")
				tm.Press("4")
				tm.Expect("w1 RUNS")
				if asked {
					tm.Press("K")
					tm.Expect("KILL WORKER w1", "y  kill w1") // it listens
				}
				paste := tm.Send
				if bracketed {
					paste = tm.Paste
				}
				if err := paste("dy\rrk\r"); err != nil {
					t.Fatal(err)
				}
				switch { // keys are taken one after the other
				case bracketed && asked:
					tm.Press("n")
					tm.Gone("KILL WORKER")
				case bracketed:
					tm.Press("?")
					tm.Expect("KEYS")
				default:
					tm.Expect("keys that came all at once, as pasted text does: nothing was done")
				}
				tm.Press("ctrl+c")
				if code := tm.Exit(); code != 0 {
					t.Errorf("exit status %d", code)
				}
				tm.Expect("ended well, asked for: nothing")
			})
		}
	}
}

// A lone esc is told from the beginning of another key by time alone, and it works with
// nothing after it. That time is what the terminal's reader takes, which is half of what
// people are said to bear; nothing here adds to it.
func TestLoneEscWorksByItself(t *testing.T) {
	t.Parallel()
	if uv.DefaultEscTimeout.Milliseconds() > 50 {
		t.Errorf("the reader waits %v for what may follow an esc", uv.DefaultEscTimeout)
	}
	tm := open(t, "none", term.Options{})
	tm.Expect("QUEUES", "INVARIANTS")
	tm.Press("?")
	tm.Expect("KEYS", "the next pane")
	if err := tm.Send("\x1b"); err != nil {
		t.Fatal(err)
	}
	tm.Gone("the next pane")
}
