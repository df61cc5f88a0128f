package ui

import (
	"image/color"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// ink is one way text looks, as the escape sequence that switches it on. The
// zero ink leaves text as the terminal shows it. Rows are drawn thousands of
// times a minute, so an ink is made once, with the theme.
type ink struct{ on string }

const inkOff = ansi.ResetStyle

// draw returns s in this ink, switched off behind it.
func (k ink) draw(s string) string {
	if k.on == "" || s == "" {
		return s
	}
	return k.on + s + inkOff
}

// newInk makes an ink of a colour (nil: the terminal's own) and attributes.
func newInk(fg color.Color, attrs ...ansi.Attr) ink {
	s := ansi.NewStyle(attrs...)
	if fg != nil {
		s = s.ForegroundColor(fg)
	}
	if len(s) == 0 {
		return ink{}
	}
	return ink{on: s.String()}
}

// over returns the ink on a background.
func (k ink) over(bg color.Color) ink {
	if bg == nil {
		return k
	}
	return ink{on: k.on + ansi.NewStyle().BackgroundColor(bg).String()}
}

// wash lays a background under a whole row that was already drawn in several
// inks: each of them ends in a reset, behind which the background goes on.
func (k ink) wash(row string) string {
	if k.on == "" {
		return row
	}
	return k.on + strings.ReplaceAll(row, inkOff, inkOff+k.on) + inkOff
}

// fade redraws a row in one ink, whatever it was drawn in.
func (k ink) fade(row string) string { return k.draw(ansi.Strip(row)) }
