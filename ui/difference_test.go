package ui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestNewWordsOfAnErrorAreMarked(t *testing.T) {
	t.Parallel()
	plain := newTheme(true, true)
	for _, c := range []struct{ before, text, want string }{
		{"a b c", "a b c", "a b c"},
		{"dial 10.1.4.7:25 refused", "dial 10.1.4.8:25 refused", "dial {+10.1.4.8:25+} refused"},
		{"a b c d", "a b x y c d", "a b {+x y+} c d"},
		{"a b c d e", "a c d e", "a c d e"}, // what is gone stands in the error below
		{"one two three four", "one 2 three 4", "one {+2+} three {+4+}"},
		{"a\nb\nc\nd", "a\nx\ny\nc\nd", "a\n{+x+}\n{+y+}\nc\nd"},
		{"  a  b  c ", "  a  b  c  d", "  a  b  c  {+d+}"},
		{"", "all of it", "all of it"},
		{"something else entirely", "nothing in common here", "nothing in common here"},
	} {
		d := compare(c.before, c.text)
		if got := d.mark(plain, c.text); got != c.want {
			t.Errorf("%q after %q is shown as %q, want %q", c.text, c.before, got, c.want)
		}
		if c.before == c.text && d.words != 0 {
			t.Errorf("%q differs from itself in %d words", c.text, d.words)
		}
	}
	if d := compare("something else entirely", "nothing in common here"); !d.whole {
		t.Error("two errors with nothing in common are compared word by word")
	}
}

// TestMarksColourNothingBesideTheText wraps marked text at every width: each line ends
// without colour, and without its colours the text is what it was.
func TestMarksColourNothingBesideTheText(t *testing.T) {
	t.Parallel()
	coloured := newTheme(true, false)
	before := "POST https://hooks.example.com/v2/orders with 3 items: connection refused after 5 s\nat line 3"
	text := "POST https://hooks.example.com/v2/" + strings.Repeat("long", 40) + " 你好世界 with 4 items: connection reset after 5 s\nat line 4"
	for w := 8; w < 100; w++ {
		lines := coloured.closed(wrapSafe(compare(before, text).mark(coloured, text), w))
		for i, line := range lines {
			if on, off := strings.Count(line, coloured.lead.on), strings.Count(line, inkOff); on != off || on > 0 && !strings.Contains(line[strings.LastIndex(line, coloured.lead.on):], inkOff) {
				t.Fatalf("at width %d the colour of line %d is not closed: %q", w, i, line)
			}
			if n := ansi.StringWidth(line); n > w {
				t.Fatalf("line %d is %d cells wide, not %d", i, n, w)
			}
		}
		plain := strings.Join(strings.Fields(ansi.Strip(strings.Join(lines, ""))), "")
		if want := strings.Join(strings.Fields(text), ""); plain != want {
			t.Fatalf("at width %d the text became %q", w, plain)
		}
	}
}

func TestLongTextsAreComparedInBoundedTime(t *testing.T) {
	t.Parallel()
	a, b := strings.Repeat("long ", 20_000), strings.Repeat("other ", 20_000)
	if d := compare(a, b); !d.whole {
		t.Errorf("%+v", d.words)
	}
	if d := compare(a+b, a+"new "+b); d.words != 1 {
		t.Errorf("%d words are new, want 1", d.words)
	}
}
