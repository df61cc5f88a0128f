package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/ui/mask"
	"github.com/leasetop/leasetop/ui/safe"
)

// How much is copied. Terminals that bound what a program may put into the clipboard
// take 100,000 bytes of it in base64 or, some of them, far less; more than a person can
// look through belongs into a file.
const (
	copySure = 74_994
	copyMost = 1 << 20
)

// copyKeys copy the job's id, or what is chosen.
func (d *detail) copyKeys(a *app, over string) []action {
	id := d.idText()
	return []action{
		key("y", "copy id", "send the job's id to the terminal's clipboard (OSC 52; tmux wants set-clipboard on)", func() tea.Cmd {
			a.say(okay, a.sent("job id "+id))
			return tea.SetClipboard(id)
		}),
		key("Y", "copy…", "copy something else: the payload, the error, the statement that finds the job", func() tea.Cmd {
			a.dialogs.Push(&copyDialog{of: d}, a.now())
			return nil
		}).unless(over),
	}
}

// copyDialog asks what to copy.
type copyDialog struct {
	of *detail
	at int
}

// copies are what can be copied. The true value is, not what the screen makes of it.
var copies = []struct {
	key, what string
	text      func(d *detail) string // "" when there is none
}{
	{"p", "payload", func(d *detail) string { return string(d.job.Payload) }},
	{"e", "error", func(d *detail) string { return d.job.LastError }},
	{"s", "statement that finds it", func(d *detail) string { return statementOf(d) }},
	{"c", "command that shows it", func(d *detail) string { return "leasetop show " + d.idText() }},
	{"k", "idempotency key", func(d *detail) string { return d.job.IdempotencyKey }},
	{"i", "id", func(d *detail) string { return d.idText() }},
}

// statementOf is the statement that finds the job in psql.
func statementOf(d *detail) string {
	schema := d.pic.state.Server.Schema
	if schema == "" {
		schema = "leasetop"
	}
	return strings.Join([]string{"select *", "from " + schema + ".jobs", "where id = " + d.idText() + ";"}, " ")
}

// Heading is the dialog's title.
func (c *copyDialog) Heading() heading { return heading{name: "COPY FROM JOB " + c.of.idText()} }

// Grave is not set.
func (c *copyDialog) Grave() bool { return false }

// Move moves the cursor.
func (c *copyDialog) Move(m motion) {
	by := map[motion]int{up: -1, down: 1, toTop: -len(copies), toBottom: len(copies)}[m]
	c.at = max(min(c.at+by, len(copies)-1), 0)
}

// Keys copy.
func (c *copyDialog) Keys(a *app) []action {
	do := func(i int) func() tea.Cmd {
		return func() tea.Cmd {
			a.dialogs.Pop()
			return c.of.copy(a, i)
		}
	}
	keys := []action{key("enter", "copy", "", do(c.at))}
	for i, one := range copies {
		if one.key != "k" && one.key != "j" { // those move
			keys = append(keys, key(one.key, one.what, "", do(i)))
		}
	}
	return keys
}

// Lines draws the choice.
func (c *copyDialog) Lines(t *theme, w, h int, _ bool) []string {
	lines := []string{""}
	for i, one := range copies {
		text := one.text(c.of)
		row := t.accent.draw(pick(one.key == "k", " ", one.key)) + "  " + t.text.draw(safe.Fit(one.what, 26)) + t.dim.draw(c.of.size(i, text))
		lines = append(lines, t.lineOf(row, w, i == c.at, false))
	}
	lines = append(lines, "")
	if !c.of.revealed && c.of.masked > 0 {
		for _, line := range wrap("Secrets are copied as "+mask.Mask+": X reveals them first.", w) {
			lines = append(lines, t.warn.draw(line))
		}
	}
	lines = append(lines, t.dim.draw(safe.Fit("enter copies · esc leaves", w)), "")
	return lines[:min(len(lines), max(h, 0))]
}

// size says how much the i-th choice is.
func (d *detail) size(i int, text string) string {
	n := len([]rune(text))
	if i == 0 && d.original == 0 {
		n = d.length
	}
	if n == 0 {
		return "none"
	}
	return plural(n, "character")
}

// copy puts the i-th choice into the clipboard.
func (d *detail) copy(a *app, i int) tea.Cmd {
	what, text := copies[i].what, copies[i].text(d)
	switch {
	case text == "":
		a.say(caution, "there is no "+what+" to copy")
		return nil
	case i > 0:
		if !d.revealed {
			text, _ = mask.Text(text)
		}
		return a.toClipboard(what, text)
	case d.original > 0:
		return a.toClipboard("original payload", d.shared(string(d.originals[d.original-1].Payload)))
	case d.length <= payloadCharacters:
		return a.toClipboard(what, d.shared(text))
	case d.length > copyMost:
		a.say(caution, fmt.Sprintf("the payload is too large to copy: leasetop show %d -o json > FILE has it whole", d.id))
		return nil
	}
	id, revealed := d.id, d.revealed
	return a.io(func(ctx context.Context) tea.Msg {
		job, _, err := a.cfg.Jobs.Preview(ctx, id, copyMost)
		if err != nil {
			return copyMsg{id: id, err: err}
		}
		return copyMsg{id: id, payload: job.Payload, revealed: revealed}
	})
}

// shared is a payload as it may be copied: without secrets unless they are shown.
func (d *detail) shared(payload string) string {
	if !d.revealed {
		payload, _ = mask.JSON(payload)
	}
	return payload
}

// copyMsg is a whole payload to be copied.
type copyMsg struct {
	id       int64
	payload  json.RawMessage
	revealed bool
	err      error
}

func (a *app) copyRead(m copyMsg) tea.Cmd {
	if m.err != nil {
		a.say(danger, "not copied: "+m.err.Error())
		return nil
	}
	text := string(m.payload)
	d, ok := a.page().(*detail)
	if shown := ok && d.id == m.id && d.revealed; !m.revealed || !shown { // hidden again meanwhile
		text, _ = mask.JSON(text)
	}
	return a.toClipboard("payload", text)
}

// sent says what was done with a text. Whether it is in the clipboard only the terminal knows, which
// does not answer; tmux with its defaults keeps it to itself.
func (a *app) sent(what string) string {
	said := "sent to the terminal's clipboard: " + what
	if a.cfg.Tmux {
		said += " (tmux wants set-clipboard on)"
	}
	return said
}

// toClipboard asks the terminal to copy a text.
func (a *app) toClipboard(what, text string) tea.Cmd {
	said := a.sent(what + ", " + plural(len([]rune(text)), "character"))
	if strings.Contains(text, mask.Mask) {
		said += ", secrets masked"
	}
	if len(text) > copySure {
		a.say(caution, said+"; many terminals refuse that much")
	} else {
		a.say(okay, said)
	}
	return tea.SetClipboard(text)
}
