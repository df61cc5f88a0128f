package ui

import (
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

func TestLineIsEdited(t *testing.T) {
	t.Parallel()
	named := map[string]tea.KeyPressMsg{
		"left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
		"delete": {Code: tea.KeyDelete}, "space": {Code: tea.KeySpace, Text: " "}, "tab": {Code: tea.KeyTab},
	}
	for _, name := range []string{"backspace", "up", "enter", "esc", "ctrl+w", "ctrl+u", "ctrl+k", "ctrl+x"} {
		named[name] = keyPress(name)
	}
	for keys, want := range map[string]string{
		"ab left c":                          "ac|b",
		"ab left left left c":                "c|ab",
		"ab home c end d":                    "cabd|",
		"ab backspace backspace backspace c": "c|",
		"abc left left delete":               "a|c",
		"abc home right right right right d": "abcd|",
		"ab space cd ctrl+w":                 "ab |",
		"ab space cd ctrl+w ctrl+w":          "|",
		"abc left ctrl+u":                    "|c",
		"abc left ctrl+k":                    "ab|",
		"ab tab up enter esc ctrl+x":         "ab|", // none of them is a letter
		// A character is what a person takes for one.
		"a👩🏾‍💻b left backspace": "a|b",
		"e\u0301 left x":        "x|e\u0301",
		"你好 left backspace":     "|好",
	} {
		in := &input{}
		for _, word := range strings.Fields(keys) {
			if k, ok := named[word]; ok {
				in.Press(k)
			} else {
				in.Press(tea.KeyPressMsg{Code: tea.KeyExtended, Text: word})
			}
		}
		if got := in.text[:in.at] + "|" + in.text[in.at:]; got != want {
			t.Errorf("%q makes %q, want %q", keys, got, want)
		}
	}
}

// Wherever the cursor stands in whatever was pasted: it stands between characters, is in
// sight, and the line is as wide as its place.
func TestAnythingPastedIsALine(t *testing.T) {
	t.Parallel()
	theme := newTheme(true, false)
	for _, text := range hostile {
		in := &input{}
		in.Put(text)
		if strings.ContainsAny(in.text, "\r\n\t") {
			t.Errorf("%.20q: %q is no line", text, in.text)
		}
		for range 40 {
			for _, w := range []int{0, 1, 2, 3, 20, 100} {
				if got := ansi.StringWidth(in.View(theme, w)); got != w {
					t.Fatalf("%.20q at %d is %d cells wide, want %d", text, in.at, got, w)
				}
			}
			if utf8.ValidString(in.text) && !utf8.ValidString(in.text[:in.at]) {
				t.Fatalf("%.20q: the cursor stands within a letter, at %d", text, in.at)
			}
			in.Press(tea.KeyPressMsg{Code: tea.KeyLeft})
		}
		for in.at = len(in.text); in.text != ""; {
			before := len(in.text)
			if in.Press(keyPress("backspace")); len(in.text) >= before {
				t.Fatalf("%.20q: nothing is taken away of %q", text, in.text)
			}
		}
	}
	in := &input{}
	in.Put(strings.Repeat("x", typedMost))
	if in.Put("y"); !in.full || len(in.text) != typedMost {
		t.Errorf("%d letters fit where there is room for %d", len(in.text), typedMost)
	}
	if in.Press(keyPress("backspace")); in.full {
		t.Error("it is said to be full, and is not")
	}
}
