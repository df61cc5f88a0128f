package ui

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/queue/filter"
)

// Everywhere a question is answered by y alone, and a form is done on its button alone:
// enter opens things in every list, and one enter too many must never act.
func TestEnterAloneNeverActs(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{
		"redrive a group": {"3", "r"}, "redrive a job": {"3", "tab", "r"}, "redrive all": {"3", "*", "r"}, "plan": {"3", "R"}, "discard": {"3", "D"}, "discard all": {"3", "*", "D"},
		"pause": {"P"}, "cancel": {"tab", "C"}, "kill": {"4", "K"}, "freeze": {"4", "F"}, "spawn": {"4", "n"}, "a job's discard": {"3", "tab", "enter", "D"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, newWorld(), 120, 36)
			for _, k := range keys {
				s.later(k)
			}
			switch top := s.app.dialogs.Top().(type) {
			case nil:
				t.Fatalf("%v asks nothing", keys)
			case *confirm:
				s.later("enter")
				s.sees("y confirms, esc leaves")
				s.press("enter")
				if got := s.log(); got != "" || s.app.dialogs.Top() != dialog(top) {
					t.Fatalf("enter did %q", got)
				}
				s.press("y")
			default:
				s.now = s.now.Add(swallow)
				for n := 0; !strings.Contains(s.screen().Text(), "▸  enter y "); n++ { // the button says that it acts
					s.press("enter")
					if got := s.log(); got != "" || n > fields {
						t.Fatalf("enter %d, off the button, did %q", n, got)
					}
				}
				if d, ok := top.(*discardDialog); ok && d.set.vast() {
					s.press("enter")
					s.sees("type the number first: " + thousands(int64(len(d.set.ids))))
					s.press("shift+tab")
					s.press("9", "x")
					s.press("enter")
					s.press("enter")
					if got := s.log(); got != "" || d.number.text != "9" {
						t.Fatalf("another number, %q, did %q", d.number.text, got)
					}
					s.press("shift+tab")
					s.press("backspace")
					s.typeText(fmt.Sprint(len(d.set.ids)))
					s.press("enter")
				}
				s.press("enter")
			}
			if s.log() == "" || reflect.TypeOf(s.app.dialogs.Top()) == reflect.TypeFor[*confirm]() {
				t.Errorf("nothing was done: %s", s.screen().Text())
			}
		})
	}
}

// A field that takes letters takes y and n as letters.
func TestLettersAreTextInAField(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{"discard": {"3", "D"}, "plan": {"3", "R", "tab", "tab", "tab", "tab"}} {
		s := newStage(t, newWorld(), 120, 36)
		for _, k := range keys {
			s.later(k)
		}
		s.now = s.now.Add(swallow)
		for _, r := range "yndsq" {
			s.press(string(r))
		}
		if got := s.app.typing().Input().text; got != "yndsq" || s.log() != "" {
			t.Errorf("%s: typed %q, did %q", name, got, s.log())
		}
	}
}

// What reaches over queues, or is large, names the queues, and is discarded only by who
// types how many it is.
func TestAVastSetNamesItsQueuesAndItsNumber(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{"all": {"3", "*"}, "some jobs": {"3", "tab", "v", "G", "space"}} {
		for _, act := range []string{"r", "R", "D"} {
			s := newStage(t, newWorld(), 120, 36)
			s.press(append(keys, act)...)
			s.sees("in 2 queues: emails 3", " · images ")
			if d, ok := s.app.dialogs.Top().(*discardDialog); ok && !d.set.vast() {
				t.Errorf("%s: it asks for no number", name)
			}
		}
	}
}

// What stands as the filter of a set can be typed again, and finds the set.
func TestTheFilterOfASetCanBeTyped(t *testing.T) {
	t.Parallel()
	key := func(queue, kind, print string) groupKey { return groupKey{queue, kind, print, "age:>1h"} }
	for _, c := range []struct {
		keys []groupKey
		want string
	}{
		{[]groupKey{key("a", "b", "x y")}, `age:>1h queue:a kind:b fingerprint:"x y"`},
		{[]groupKey{key("a", "b", "x y"), key("a", "b", `q"uoted`), key("a", "b", "")}, `age:>1h queue:a kind:b fingerprint:"x y","q""uoted",""`},
		{[]groupKey{key("a", "b", "x"), key("c", "b", "x")}, ""},
		{[]groupKey{key("a", "b", "x"), key("a", "c", "x")}, ""},
	} {
		got := oneFilter(c.keys)
		if got != c.want {
			t.Errorf("%v: %s, want %s", c.keys, got, c.want)
		}
		if _, err := filter.Parse(got); err != nil {
			t.Errorf("%s: %v", got, err)
		}
	}
}
