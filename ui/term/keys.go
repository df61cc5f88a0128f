package term

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// keys are the named keys and what a terminal sends for them.
var keys = map[string]string{
	"enter": "\r", "esc": "\x1b", "tab": "\t", "shift+tab": "\x1b[Z", "space": " ", "backspace": "\x7f",
	"up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D",
	"home": "\x1b[H", "end": "\x1b[F", "pgup": "\x1b[5~", "pgdown": "\x1b[6~",
	"insert": "\x1b[2~", "delete": "\x1b[3~",
	"f1": "\x1bOP", "f2": "\x1bOQ", "f3": "\x1bOR", "f4": "\x1bOS", "f5": "\x1b[15~", "f6": "\x1b[17~",
	"f7": "\x1b[18~", "f8": "\x1b[19~", "f9": "\x1b[20~", "f10": "\x1b[21~", "f11": "\x1b[23~", "f12": "\x1b[24~",
}

// Key returns what a terminal sends for a key named as bubbletea names it:
// "j", "G", "?", "enter", "esc", "shift+tab", "ctrl+c", "alt+x", "f1".
func Key(name string) (string, error) {
	if s, ok := keys[name]; ok {
		return s, nil
	}
	if utf8.RuneCountInString(name) == 1 {
		return name, nil
	}
	if c, ok := strings.CutPrefix(name, "ctrl+"); ok && len(c) == 1 && c[0] >= '@' && c[0] <= '~' {
		return string(c[0] & 0x1f), nil
	}
	if c, ok := strings.CutPrefix(name, "alt+"); ok {
		s, err := Key(c)
		return "\x1b" + s, err
	}
	return "", fmt.Errorf("no key is named %q", name)
}

// Press presses keys by name, in order (see Key). After "esc" the effect
// should be waited for before more is pressed: a terminal sends the same bytes
// for esc followed by x as for alt+x.
func (t *Term) Press(names ...string) error {
	for _, name := range names {
		s, err := Key(name)
		if err != nil {
			return fmt.Errorf("press key: %w", err)
		}
		if err := t.Send(s); err != nil {
			return err
		}
	}
	return nil
}

// Send types raw bytes.
func (t *Term) Send(s string) error {
	if _, err := io.WriteString(t.tty, s); err != nil {
		return fmt.Errorf("type into terminal: %w", err)
	}
	return nil
}

// Paste pastes text, bracketed as modern terminals do.
func (t *Term) Paste(s string) error { return t.Send("\x1b[200~" + s + "\x1b[201~") }

// Click presses and releases the left mouse button on a cell, counted from 0.
func (t *Term) Click(x, y int) error {
	return t.Send(fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<0;%d;%dm", x+1, y+1, x+1, y+1))
}
