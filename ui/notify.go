package ui

import (
	"strings"
	"unicode"

	"github.com/leasetop/leasetop/ui/safe"
)

// Notification is how a terminal is asked for a notification on the desktop.
type Notification string

// The two ways that terminals know.
const (
	NoNotification Notification = ""
	OSC9           Notification = "osc9"   // iTerm2, Windows Terminal, WezTerm, Ghostty, kitty
	OSC777         Notification = "osc777" // urxvt, foot, WezTerm, Ghostty, terminals with VTE
)

// noticeMost is how long a notification may be, in cells: desktops show little more.
const noticeMost = 200

// sequence is what asks for it. The text may be anything.
func (n Notification) sequence(title, text string) string {
	title, text = notice(title), notice(text)
	switch n {
	case OSC9:
		// The title begins with a letter: a digit and a semicolon would be another request.
		return "\x1b]9;" + notice(title+": "+text) + "\x1b\\"
	case OSC777:
		return "\x1b]777;notify;" + title + ";" + text + "\x1b\\"
	}
	return ""
}

// notice is a text that stays the one field that it is: nothing in it ends the sequence or
// the field, and nothing in it is invisible.
func notice(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == ';':
			return ','
		case !unicode.IsPrint(r):
			return '·'
		}
		return r
	}, safe.Text(text))
	if safe.Width(text) > noticeMost {
		text = strings.TrimRight(safe.Fit(text, noticeMost), " ")
	}
	return text
}
