package safe

import (
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

const (
	zwj      = '\u200d'     // joins emoji into one
	asText   = '\ufe0e'     // VS15: draw as text
	asEmoji  = '\ufe0f'     // VS16: draw as emoji
	keycap   = '\u20e3'     // the enclosing key of 1️⃣
	flag     = '\U0001f3f4' // the only base on which tags mean something: 🏴󠁧󠁢󠁥󠁮󠁧󠁿
	tagEnd   = '\U000e007f'
	maxJoins = 8 // joined elements; the longest in use (families, kisses) have four
)

// emoji reports whether the cluster is one well-formed emoji sequence as in
// Unicode TS 51: a flag, a keycap, a tag flag, or pictographs with skin tones
// and presentation selectors joined by ZWJ. Invisible characters that are part
// of such a picture are harmless; anywhere else they hide something. Sequences
// that terminals measure differently from lipgloss are turned down.
func emoji(cluster string) bool {
	first, n := utf8.DecodeRuneInString(cluster)
	rest := cluster[n:]
	switch {
	case rest == "":
		return false
	case regional(first):
		second, n := utf8.DecodeRuneInString(rest)
		return regional(second) && n == len(rest)
	case first == '#' || first == '*' || '0' <= first && first <= '9':
		return rest == string(asEmoji)+string(keycap)
	case !pictograph(first):
		return false
	case rest == string(asText):
		return Width(cluster) == 1
	case Width(cluster) != 2:
		return false
	case first == flag && tags(rest):
		return true
	}
	for joined := 1; joined <= maxJoins; joined++ {
		rest = trim(rest, tone)
		rest = trim(rest, func(r rune) bool { return r == asEmoji })
		if rest == "" {
			return true
		}
		after := trim(rest, func(r rune) bool { return r == zwj })
		r, n := utf8.DecodeRuneInString(after)
		if len(after) == len(rest) || !pictograph(r) {
			return false
		}
		rest = after[n:]
	}
	return false
}

// trim takes one rune off the front of s if it is wanted.
func trim(s string, want func(rune) bool) string {
	if r, n := utf8.DecodeRuneInString(s); n > 0 && want(r) {
		return s[n:]
	}
	return s
}

// tags reports whether s spells a region such as "gbeng" in tag characters,
// closed by the end tag.
func tags(s string) bool {
	letters := 0
	for i, r := range s {
		switch {
		case r == tagEnd:
			return letters >= 3 && i+utf8.RuneLen(r) == len(s)
		case 0xe0030 <= r && r <= 0xe0039, 0xe0061 <= r && r <= 0xe007a:
			if letters++; letters > 6 {
				return false
			}
		default:
			return false
		}
	}
	return false
}

func regional(r rune) bool { return 0x1f1e6 <= r && r <= 0x1f1ff }

func tone(r rune) bool { return 0x1f3fb <= r && r <= 0x1f3ff }

// pictograph reports whether r can be part of a joined emoji. The segmenter
// knows the property (Extended_Pictographic) but does not export it, so it is
// asked: only such characters hold on to a joined one (rule GB11).
func pictograph(r rune) bool {
	if r < 0xa9 || tone(r) {
		return false
	}
	joined := string(r) + "\u200d💻"
	cluster, _ := ansi.FirstGraphemeCluster(joined, ansi.GraphemeWidth)
	return len(cluster) == len(joined)
}
