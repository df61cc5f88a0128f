package ui

import (
	"strings"
	"testing"
)

func TestChangedLinesAreShownWithSomeAroundThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ was, is, want string }{
		{"a", "a", "~1 line as before"},
		{"a b c", "a x c", " a|-b|+x| c"},
		{"a b c d e f g", "a b c X e f g", "~1 line as before| b| c|-d|+X| e| f|~1 line as before"},
		{"a b", "a b c", " a| b|+c"},
		{"a b c", "c", "-a|-b| c"},
		{"a a b a", "a b a a", " a|-a| b|+a| a"},
		{"a b c d", "w x y z", "-a|-b|-c|-d|+w|+x|+y|+z"},
		{"1 2 3 4 5 6 7 8 9", "1 2 3 4 5 6 7 8 X", "~6 lines as before| 7| 8|-9|+X"},
	} {
		var got []string
		for _, one := range changesOf(strings.Fields(c.was), strings.Fields(c.is)) {
			got = append(got, string(one.sign)+one.line)
		}
		if text := strings.Join(got, "|"); text != c.want {
			t.Errorf("%q to %q: %s, want %s", c.was, c.is, text, c.want)
		}
	}
}

func TestHugeChangesAreShownInBoundedTime(t *testing.T) {
	t.Parallel()
	was, is := strings.Fields(strings.Repeat("a ", 20_000)), strings.Fields(strings.Repeat("b ", 20_000))
	if n := len(changesOf(was, is)); n != 40_000 {
		t.Errorf("%d lines", n)
	}
}

// A line that became another is one line that changed.
func TestALineThatBecameAnotherIsOneChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		was, is string
		want    int
	}{
		{"a b c", "a x c", 1},
		{"a b c", "a b c", 0},
		{"a b c d", "x b c y", 2},
		{"a b", "a b c d", 2},
		{"a b c", "c", 2},
		{"a b c", "x", 3},
	} {
		if got := linesChanged(changesOf(strings.Fields(c.was), strings.Fields(c.is))); got != c.want {
			t.Errorf("%s to %s: %d lines changed, want %d", c.was, c.is, got, c.want)
		}
	}
}
