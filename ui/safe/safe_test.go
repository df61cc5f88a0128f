package safe

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

func TestHostileCharactersBecomeVisible(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"plain", "SMTP 421 rate limited", "SMTP 421 rate limited"},
		{"empty", "", ""},
		{"clipboard", "\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"},
		{"title", "\x1b]0;owned\x1b\\", "␛]0;owned␛\\"},
		{"cursor report", "\x1b[6n", "␛[6n"},
		{"reset", "\x1bc", "␛c"},
		{"unfinished", "a\x1b]", "a␛]"},
		{"8-bit CSI", "\u009b31m", "‹U+009B›31m"},
		{"8-bit CSI as a byte", "\x9b31m", "�31m"},
		{"next line", "a\u0085b", "a‹U+0085›b"},
		{"return", "paid\rfree", "paid␍free"},
		{"backspace", "ab\b\bcd", "ab␈␈cd"},
		{"delete", "a\x7f", "a␡"},
		{"lines", "a\r\nb\tc", "a␍␊b␉c"},
		{"separators", "a\u2028b\u2029", "a‹U+2028›b‹U+2029›"},
		{"override", "\u202etxt.exe", "‹U+202E›txt.exe"},
		{"isolate", "\u2066a\u2069", "‹U+2066›a‹U+2069›"},
		{"zero width", "ad\u200bmin", "ad‹U+200B›min"},
		{"joiner between letters", "a\u200db", "a‹U+200D›b"},
		{"non-joiner", "a\u200cb", "a‹U+200C›b"},
		{"word joiner", "a\u2060b", "a‹U+2060›b"},
		{"byte order", "\ufeffa", "‹U+FEFF›a"},
		{"soft hyphen", "pass\u00adword", "pass‹U+00AD›word"},
		{"tags", "a\U000e0041", "a‹U+E0041›"},
		{"tags after an emoji", "😀\U000e0041\U000e007f", "😀‹U+E0041›‹U+E007F›"},
		{"selector after a letter", "a\ufe0f", "a‹U+FE0F›"},
		{"smuggled bytes", "😀\U000e0100\U000e0101", "😀‹U+E0100›‹U+E0101›"},
		{"filler", "a\u3164b", "a‹U+3164›b"},
		{"half a flag", "🇨 ", "‹U+1F1E8› "},
		{"tone alone", "🏽", "‹U+1F3FD›"},
		{"dangling joiner", "👩\u200d", "👩‹U+200D›"},
		{"no UTF-8", "a\xff\xfeb", "a��b"},
		{"cut rune", "a\xe4\xbd", "a��"},
		{"leading mark", "\u0301a", "◌\u0301a"},
		{"mark after a mark", "\u202e\u0301", "‹U+202E›◌\u0301"},
		{"prepended", "\u0d4e ", "‹U+0D4E› "},
		{"few marks", "e\u0301\u0302", "e\u0301\u0302"},
		{"many marks", "e" + strings.Repeat("\u0301", 500) + "x", "e\u0301\u0301\u0301\u0301…x"},
		{"many letters", strings.Repeat("ᄀ", 500), "ᄀᄀᄀᄀᄀᄀᄀᄀ…"},
		{"letters", "Łódź naïve Ω 你好 ｶﾞ สวัสดี नमस्ते 한국", "Łódź naïve Ω 你好 ｶﾞ สวัสดี नमस्ते 한국"},
		{"emoji", "👩🏾‍💻🏴󠁧󠁢󠁥󠁮󠁧󠁿🇨🇭❤️1️⃣👍🏽👨‍👩‍👧‍👦☠️🏳️‍🌈", "👩🏾‍💻🏴󠁧󠁢󠁥󠁮󠁧󠁿🇨🇭❤️1️⃣👍🏽👨‍👩‍👧‍👦☠️🏳️‍🌈"},
		{"emoji as text", "⚠\ufe0e ⌚\ufe0e", "⚠\ufe0e ⌚‹U+FE0E›"},
		{"drawing", "│ ▁▂▅█ ⣿ ✓ → …", "│ ▁▂▅█ ⣿ ✓ → …"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Text(c.in); got != c.want {
				t.Errorf("Text(%q)\n got %q\nwant %q", c.in, got, c.want)
			}
		})
	}
}

func TestBlockKeepsLinesAndExpandsTabs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"one", "one"},
		{"a\nb\r\nc\rd\n", "a\nb\nc␍d\n"},
		{"\tx\n\t\ty", "    x\n        y"},
		{"ab\tc\n你\td", "ab  c\n你  d"},
		{"\x1b[2J\n\u202e", "␛[2J\n‹U+202E›"},
		{"a\n\u0301", "a\n◌\u0301"},
	} {
		if got := Block(c.in); got != c.want {
			t.Errorf("Block(%q)\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

// TestTablesAgreeWithTheSegmenter asks the Unicode segmenter about every code
// point there is: what can join a neighbour must be a mark, an accepted
// joining character, or hidden. It fails when an upgrade brings a new one.
func TestTablesAgreeWithTheSegmenter(t *testing.T) {
	t.Parallel()
	whole := func(s string) bool {
		cluster, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		return cluster == s
	}
	for r := rune(0xa0); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) || hidden(r) {
			continue
		}
		if whole(" "+string(r)) != joins(r) {
			t.Errorf("U+%04X joins the character before it: %v", r, !joins(r))
		}
		if joins(r) && ansi.StringWidthWc(string(r)) > 0 && !contested(r) {
			t.Errorf("U+%04X is counted differently, but not by Unclustered", r)
		}
		if whole(string(r) + " ") {
			t.Errorf("U+%04X joins the character after it", r)
		}
		if !joins(r) && Width(string(r)) != ansi.StringWidthWc(string(r)) {
			t.Errorf("U+%04X is %d cells wide, %d as a rune", r, Width(string(r)), ansi.StringWidthWc(string(r)))
		}
		if !joins(r) && Width(string(r)) == 0 {
			t.Errorf("U+%04X is invisible", r)
		}
	}
}

func TestPrintableTextCostsNothing(t *testing.T) {
	s := strings.Repeat("connection reset by peer ", 40)
	if n := testing.AllocsPerRun(100, func() {
		if Text(s) != s || Block(s) != s || Width(s) != len(s) || Fit(s, len(s)) != s {
			t.Fatal("changed")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestUnclusteredCutsToWhatBothCountAlike(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"│ queue │ 12 │", "│ queue │ 12 │"},
		{"é 你好 → 🇨🇭 🏴󠁧󠁢󠁥󠁮󠁧󠁿 👩", "é 你好 → 🇨🇭 🏴󠁧󠁢󠁥󠁮󠁧󠁿 👩"},
		{"👩🏾‍💻│", "👩│"},
		{"a❤️│⚠️ 1️⃣", "a❤ │⚠  1\u20e3 "},
		{"\x1b[31m👍🏽\x1b[m│", "\x1b[31m👍\x1b[m│"},
		{"नमस्ते│ｶﾞ│", "नमस्│ｶ│"},
	} {
		if got := Unclustered(c.in); got != c.want {
			t.Errorf("Unclustered(%q)\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

func TestFitStyledEndsWhatItBegan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		w    int
		want string
	}{
		{"\x1b[31mred", 5, "\x1b[31mred\x1b[m  "},
		{"\x1b[31mred\x1b[m", 5, "\x1b[31mred\x1b[m  "},
		{"\x1b[31mredder\x1b[m", 4, "\x1b[31mred…\x1b[m"},
		{"\x1b[31m你好\x1b[m", 2, "\x1b[31m…\x1b[m "},
		{"plain", 7, "plain  "},
		{"plain", 0, ""},
	} {
		if got := FitStyled(c.in, c.w); got != c.want {
			t.Errorf("FitStyled(%q, %d) = %q, want %q", c.in, c.w, got, c.want)
		}
	}
}

func TestFitCutsBetweenClusters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in          string
		w           int
		left, right string
	}{
		{"emails", 8, "emails  ", "  emails"},
		{"emails", 6, "emails", "emails"},
		{"emails", 5, "emai…", "emai…"},
		{"emails", 4, "ema…", "ema…"},
		{"emails", 1, "…", "…"},
		{"emails", 0, "", ""},
		{"emails", -3, "", ""},
		{"", 2, "  ", "  "},
		{"你好", 4, "你好", "你好"},
		{"你好", 3, "你…", "你…"},
		{"你好", 2, "… ", " …"},
		{"👩🏾‍💻👩🏾‍💻", 3, "👩🏾‍💻…", "👩🏾‍💻…"},
		{"a\x1b[31m", 4, "a␛[…", "a␛[…"},
		{"\u202e", 4, "‹U+…", "‹U+…"},
	} {
		if got := Fit(c.in, c.w); got != c.left {
			t.Errorf("Fit(%q, %d) = %q, want %q", c.in, c.w, got, c.left)
		}
		if got := FitRight(c.in, c.w); got != c.right {
			t.Errorf("FitRight(%q, %d) = %q, want %q", c.in, c.w, got, c.right)
		}
	}
}

func TestFitLooksAtNoMoreThanItShows(t *testing.T) {
	s := strings.Repeat("é", 40) + strings.Repeat("x", 64<<20) + "é"
	if n := testing.AllocsPerRun(10, func() { Fit(s, 20) }); n > 10 {
		t.Errorf("%v allocations", n)
	}
	if got := Fit(s, 3); got != "éé…" {
		t.Errorf("got %q", got)
	}
}

func BenchmarkUnclustered(b *testing.B) {
	line := "│ emails  1,204   310    4      7   31  2m14s 41.0  39.5 ▁▂▅ ││ 88123  send    w3        2  00:03 ██░░░░░░ !   │\n"
	frame := strings.Repeat(line, 35)
	b.Run("nothing to do", func(b *testing.B) {
		for b.Loop() {
			Unclustered(frame)
		}
	})
	b.Run("one emoji", func(b *testing.B) {
		for b.Loop() {
			Unclustered(frame + "👩🏾‍💻")
		}
	})
}

func BenchmarkTextHostile(b *testing.B) {
	s := strings.Repeat("a\x1b[31mé👩🏾‍💻 你好\u202e ", 20)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Text(s)
	}
}
