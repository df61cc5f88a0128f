package ui

// buttonRow is the last line of a form: what it does, which enter or y does on this row
// alone, and how to leave it. Everywhere else in a form enter goes on to the next field,
// so that one key too many never acts.
func buttonRow(t *theme, kind tone, armed, fine, on bool, does, leave string, more ...string) string {
	press := "enter y"
	switch {
	case !armed:
		kind, press = quiet, "…"
	case !on:
		kind, press = quiet, ""
	case !fine:
		kind = quiet
	}
	row := pick(on, t.lead.draw("▸ "), "  ") + t.chip(kind, join(press, " "+does))
	if armed && !on {
		row += "  " + t.chip(quiet, "enter  next")
	}
	for _, one := range more {
		row += "  " + one
	}
	return row + "  " + t.chip(quiet, "esc  "+leave)
}
