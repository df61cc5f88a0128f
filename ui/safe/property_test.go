package safe

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

// nasty are the fragments that break terminals, alone and beside each other.
var nasty = []string{
	"a", "Z", "7", "#", " ", "é", "e\u0301", "\u0301", "\u0489", "你", "好", "ｶ", "ﾞ", "ก", "\u0e33", "स", "\u094d", "ते",
	"ᄀ", "ᅡ", "ᆨ", "가", "\u0d4e", "\U000111c2", "👩", "🏾", "💻", "❤", "☝", "⌚", "🏴", "🇨", "🇭", "©",
	"\u200d", "\u200c", "\u200b", "\ufe0e", "\ufe0f", "\ufe01", "\U000e0100", "\u20e3", "\u034f", "\u00ad", "\u3164",
	"\U000e0067", "\U000e0062", "\U000e0065", "\U000e007f", "\u202e", "\u2066", "\u2069", "\u2028", "\ufeff", "\ufffe",
	"\x1b", "\x1b[31m", "\x1b]52;c;", "\x1b]8;;http://x\x07", "\x1bP", "\x07", "\x00", "\r", "\n", "\r\n", "\t", "\b", "\x7f",
	"\u009b", "\u0085", "\x9b", "\xff", "\xe4\xbd", "\xf0\x9f", "\xed\xa0\x80", "◌", "…", "│", "█", "⣿", "ೳ", "ါ", "𝅥", "￼", "\ue0b0",
}

var hostile = rapid.Custom(func(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.OneOf(
		rapid.SampledFrom(nasty), rapid.SampledFrom(nasty), rapid.StringN(0, 3, -1),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 4), func(b []byte) string { return string(b) }),
	), 0, 24).Draw(t, "parts"), "")
})

// harmless fails unless s is one line of visible text.
func harmless(t interface {
	Helper()
	Fatalf(string, ...any)
}, s string,
) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Fatalf("invalid UTF-8: %q", s)
	}
	for rest := s; rest != ""; {
		cluster, width := ansi.FirstGraphemeCluster(rest, ansi.GraphemeWidth)
		if width < 1 {
			t.Fatalf("invisible %q in %q", cluster, s)
		}
		if n := utf8.RuneCountInString(cluster); n > maxLetters*(maxMarks+1) {
			t.Fatalf("%d characters in one cluster of %q", n, s)
		}
		for _, r := range cluster {
			if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
				t.Fatalf("%U in %q", r, s)
			}
			if trailing(r) && !unicode.Is(unicode.Hangul, []rune(cluster)[0]) {
				t.Fatalf("%U alone in %q", r, s)
			}
			if hidden(r) && !emoji(cluster) {
				t.Fatalf("%U hidden in %q", r, s)
			}
		}
		rest = rest[len(cluster):]
	}
}

func checkText(t *rapid.T, s string) {
	got := Text(s)
	harmless(t, got)
	if again := Text(got); again != got {
		t.Fatalf("not stable:\n%q\n%q", got, again)
	}
	for line := range strings.SplitSeq(Block(s), "\n") {
		harmless(t, line)
	}
}

func checkFit(t *rapid.T, s string, w int) {
	for name, got := range map[string]string{"Fit": Fit(s, w), "FitRight": FitRight(s, w)} {
		harmless(t, got)
		if n := Width(got); n != max(w, 0) {
			t.Fatalf("%s(%q, %d) = %q: %d cells", name, s, w, got, n)
		}
	}
	if whole := Text(s); Width(whole) == w && Fit(s, w) != whole {
		t.Fatalf("Fit(%q, %d) = %q, want %q", s, w, Fit(s, w), whole)
	}
	styled := "\x1b[1;31m" + Text(s) + "\x1b[44m" + Text(s)
	got := FitStyled(styled, w)
	if n := ansi.StringWidth(got); n != max(w, 0) {
		t.Fatalf("FitStyled(%q, %d) = %q: %d cells", styled, w, got, n)
	}
	harmless(t, ansi.Strip(got))
	if w > 0 && !strings.HasSuffix(strings.TrimRight(got, " "), ansi.ResetStyle) {
		t.Fatalf("colour bleeds from %q", got)
	}
}

func checkUnclustered(t *rapid.T, s string, w int) {
	const border = "┃" // not among the parts
	frame := border + Fit(s, w) + border + "\x1b[32m" + Fit(s, w) + "\x1b[m" + border
	got := Unclustered(frame)
	if a, b := ansi.StringWidth(frame), ansi.StringWidth(got); a != b {
		t.Fatalf("%d cells became %d: %q → %q", a, b, frame, got)
	}
	for _, column := range strings.SplitAfter(got, border) {
		if a, b := ansi.StringWidth(column), ansi.StringWidthWc(column); a != b {
			t.Fatalf("%q in %q: %d cells by cluster, %d by rune", column, got, a, b)
		}
	}
	if Unclustered(got) != got {
		t.Fatalf("not stable: %q", got)
	}
}

func TestTextIsAlwaysHarmless(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { checkText(t, hostile.Draw(t, "s")) })
}

func TestFitIsAlwaysExactlyAsWide(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		checkFit(t, hostile.Draw(t, "s"), rapid.IntRange(-1, 30).Draw(t, "w"))
	})
}

func TestUnclusteredKeepsColumns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		checkUnclustered(t, hostile.Draw(t, "s"), rapid.IntRange(0, 30).Draw(t, "w"))
	})
}

func FuzzText(f *testing.F) {
	for _, s := range nasty {
		f.Add("a"+s+"\u0301"+s+"b", 5)
	}
	f.Fuzz(func(t *testing.T, s string, w int) {
		w = w&63 - 1
		got := Fit(s, w)
		harmless(t, got)
		harmless(t, Text(s))
		if Width(got) != max(w, 0) {
			t.Fatalf("Fit(%q, %d) = %q: %d cells", s, w, got, Width(got))
		}
	})
}
