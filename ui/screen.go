package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/ui/safe"
)

// View draws the screen. It runs after every message, so a finished frame is
// kept until something changes.
func (a *app) View() (v tea.View) {
	defer func() {
		if r := recover(); r != nil {
			// The next message ends the program.
			a.fail(caught(r))
			v = tea.NewView("")
			v.AltScreen = true
		}
	}()
	if a.frame == "" {
		a.frame = strings.Join(a.screen(), "\n")
		if !a.clustered {
			a.frame = safe.Unclustered(a.frame)
		}
	}
	v = tea.NewView(a.frame)
	v.AltScreen = true
	v.WindowTitle = a.title()
	return v
}

// title is the terminal window's.
func (a *app) title() string {
	if db := a.pic.state.Server.Database; db != "" {
		return "leasetop · " + safe.Text(db)
	}
	return "leasetop"
}

// roomy tells whether the window is large enough for the screens.
func (a *app) roomy() bool { return a.w >= leastWidth && a.h >= leastHeight }

// screen draws all lines, each exactly as wide as the window.
func (a *app) screen() []string {
	w, h := max(a.w, 0), max(a.h, 0)
	if !a.roomy() {
		return a.tooSmall(w, h)
	}
	lines := []string{header(&a.pic, a.cfg.Origin, a.frozen, w), a.tabLine(w)}
	lines = append(lines, alertLine(&a.pic, w)...)
	lines = append(lines, banner(&a.pic, w)...)
	lines = append(lines, a.planLine(w)...)
	lines = append(lines, a.playLine(w)...)
	lines = append(lines, a.brokenLine(w)...)
	body := h - len(lines) - 1
	switch s := a.pic.state.Server; {
	case s.SchemaMissing:
		lines = append(lines, a.noSchema(w, body)...)
	case s.SchemaOld:
		lines = append(lines, a.oldSchema(w, body)...)
	default:
		lines = append(lines, a.page().View(w, body)...)
	}
	lines = append(lines, a.footer(w))
	return a.dialogs.over(lines, a.pic.theme, w, h, a.now())
}

// tooSmall says how large the window must be.
func (a *app) tooSmall(w, h int) []string {
	lines := blankLines(w, h)
	for i, text := range []string{
		fmt.Sprintf("leasetop needs %d×%d", leastWidth, leastHeight),
		fmt.Sprintf("this window is %d×%d · q quits", w, h),
	} {
		if y := h/2 - 1 + i; y >= 0 && y < h {
			lines[y] = safe.Fit(strings.Repeat(" ", max((w-safe.Width(text))/2, 0))+text, w)
		}
	}
	return lines
}

// noSchema says how to get the table.
func (a *app) noSchema(w, h int) []string {
	t, s := a.pic.theme, a.pic.state.Server
	return t.boxed(heading{name: "NO QUEUE HERE YET"}, []string{
		"",
		" " + safe.Text(fmt.Sprintf("Database %q has no schema %q.", s.Database, s.Schema)),
		"",
		" " + t.dim.draw("Create it with"),
		"",
		"     " + t.lead.draw("leasetop migrate up"),
		"",
		" " + t.dim.draw("This screen fills as soon as the table is there."),
	}, w, h, true)
}

// oldSchema says how to get what this program needs.
func (a *app) oldSchema(w, h int) []string {
	t, s := a.pic.theme, a.pic.state.Server
	return t.boxed(heading{name: "THIS QUEUE IS OF AN OLDER RELEASE"}, []string{
		"",
		" " + safe.Text(fmt.Sprintf("Schema %q of database %q lacks what this program reads.", s.Schema, s.Database)),
		"",
		" " + t.dim.draw("Bring it up to date with"),
		"",
		"     " + t.lead.draw("leasetop migrate up"),
		"",
		" " + t.dim.draw("Workers of the older release go on meanwhile and afterwards."),
		" " + t.dim.draw("This screen fills as soon as it is done."),
	}, w, h, true)
}
