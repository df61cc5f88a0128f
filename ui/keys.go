package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// action is one thing a key does at this moment. The same value drives the
// keyboard, the hints in the footer and the help, so they cannot disagree.
type action struct {
	keys  []string // as tea.KeyPressMsg spells them; the first is the one shown
	label string   // one or two words for the footer; "" leaves it out there
	help  string   // a sentence for the help
	why   string   // why the key does nothing now; "" when it works
	solo  bool     // it changes something without asking: it must stand alone
	out   bool     // it never does anything in this process, or with this job: the footer leaves it out
	do    func() tea.Cmd
}

// key makes an action of one key, or of several parted by spaces.
func key(keys, label, help string, do func() tea.Cmd) action {
	return action{keys: strings.Fields(keys), label: label, help: help, do: do}
}

// unless greys the action with a reason; an empty reason leaves it as it is.
func (a action) unless(why string) action {
	if a.why == "" {
		a.why = why
	}
	return a
}

// never greys the action like unless, where the reason will not pass.
func (a action) never(why string) action {
	a.out = a.out || why != ""
	return a.unless(why)
}

// alone marks an action that changes something without asking.
func (a action) alone() action {
	a.solo = true
	return a
}

// shown is how a key is spelled on the screen.
func (a action) shown() string { return spell(a.keys[0]) }

func spell(key string) string {
	switch key {
	case "backspace":
		return "⌫"
	case "enter", "tab", "esc", "space":
		return key
	case "up":
		return "↑"
	case "down":
		return "↓"
	case "left":
		return "←"
	case "right":
		return "→"
	}
	return strings.Replace(key, "ctrl+", "^", 1)
}

// find returns the first action that a key press stands for.
func find(actions []action, pressed string) (action, bool) {
	for _, a := range actions {
		if slices.Contains(a.keys, pressed) {
			return a, true
		}
	}
	return action{}, false
}

// motions are the keys that move the cursor everywhere.
var motions = map[string]motion{
	"j": down, "down": down,
	"k": up, "up": up,
	"g": toTop, "home": toTop,
	"G": toBottom, "end": toBottom,
	"ctrl+d": halfDown, "pgdown": halfDown,
	"ctrl+u": halfUp, "pgup": halfUp,
}
