package ui

import (
	"image/color"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// theme holds the inks by what they mean. Nothing else in this package names a
// colour, and nothing is said by an ink alone: a letter, a word or a glyph says
// the same, so that the screen reads well without colour.
type theme struct {
	plain bool // no colour: NO_COLOR, or a terminal that has none

	text   ink // what is read first
	strong ink // text that leads its line
	dim    ink // what is there when looked for: units, times, nought
	faint  ink // borders, rules, tracks

	accent ink // focus, keys, work in hand
	lead   ink // accent that leads its line
	good   ink
	warn   ink
	bad    ink
	alarm  ink // bad that must be seen
	other  ink // a second hue, for what is neither good nor bad

	row   ink   // background under the cursor
	hills []ink // a chart, from its foot to its top
	tab   ink   // the open tab
	chips map[tone]ink
}

// tone is the colour of a chip: a short word on a background.
type tone int

const (
	quiet tone = iota
	okay
	caution
	danger
)

// newTheme returns the inks for a dark or a light background. A plain theme
// has only bold, faint and reverse.
func newTheme(dark, plain bool) *theme {
	if plain {
		reverse := newInk(nil, ansi.AttrReverse)
		bold := newInk(nil, ansi.AttrBold)
		return &theme{
			plain: true, strong: bold, lead: bold, alarm: bold, faint: newInk(nil, ansi.AttrFaint), tab: newInk(nil, ansi.AttrReverse, ansi.AttrBold),
			chips: map[tone]ink{quiet: reverse, okay: reverse, caution: reverse, danger: reverse},
		}
	}
	pick := func(onLight, onDark string) color.Color {
		return lipgloss.LightDark(dark)(lipgloss.Color(onLight), lipgloss.Color(onDark))
	}
	var (
		accent = pick("#0b63ce", "#6cb6ff")
		good   = pick("#1a7f37", "#7bd88f")
		warn   = pick("#8f5d00", "#f0c674")
		bad    = pick("#c4202b", "#ff7b72")
		paper  = pick("#ffffff", "#10151d")
		under  = pick("#e2ecf9", "#22304a")
		track  = pick("#dfe4ea", "#2b3341")
	)
	return &theme{
		strong: newInk(nil, ansi.AttrBold),
		dim:    newInk(pick("#5f6873", "#8a94a3")),
		faint:  newInk(pick("#bcc4ce", "#424c5b")),
		accent: newInk(accent),
		lead:   newInk(accent, ansi.AttrBold),
		good:   newInk(good),
		warn:   newInk(warn),
		bad:    newInk(bad),
		alarm:  newInk(bad, ansi.AttrBold),
		other:  newInk(pick("#7a43c9", "#c3a6ff")),
		row:    ink{}.over(under),
		hills:  inks(lipgloss.Blend1D(8, pick("#9fc4ee", "#27507f"), accent)),
		tab:    newInk(paper, ansi.AttrBold).over(accent),
		chips: map[tone]ink{
			quiet:   newInk(pick("#3d4650", "#c6cedb")).over(track),
			okay:    newInk(paper, ansi.AttrBold).over(good),
			caution: newInk(paper, ansi.AttrBold).over(warn),
			danger:  newInk(paper, ansi.AttrBold).over(bad),
		},
	}
}

func inks(colors []color.Color) []ink {
	out := make([]ink, len(colors))
	for i, c := range colors {
		out[i] = newInk(c)
	}
	return out
}

// chip draws a short word on a background.
func (t *theme) chip(kind tone, word string) string { return t.chips[kind].draw(" " + word + " ") }
