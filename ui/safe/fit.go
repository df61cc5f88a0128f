package safe

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Width returns how many cells s takes, escape sequences not counted. It is
// the measure lipgloss uses and the one bubbletea uses in terminals with
// Unicode mode 2027; for other terminals see [Unclustered].
func Width(s string) int {
	if n := printable(s); n == len(s) {
		return n
	}
	return ansi.StringWidth(s)
}

// Fit makes s safe (see [Text]) and exactly w cells wide: too long, it is cut
// between clusters and ends in "…"; too short, it is padded on the right. No
// more of s is looked at than fits. A w of zero or less gives "".
func Fit(s string, w int) string {
	text, missing := fit(s, w)
	if missing == 0 {
		return text
	}
	return text + blank(missing)
}

// FitRight is [Fit] with the padding on the left, for numbers.
func FitRight(s string, w int) string {
	text, missing := fit(s, w)
	if missing == 0 {
		return text
	}
	return blank(missing) + text
}

// fit returns s made safe and cut to at most w cells, and the number of cells
// missing to w.
func fit(s string, w int) (string, int) {
	if w <= 0 {
		return "", 0
	}
	if n := printable(s[:min(len(s), w+1)]); n == len(s) && n <= w {
		return s, w - n
	}
	var b strings.Builder
	width := 0            // of what b holds
	end, endWidth := 0, 0 // the last place where "…" still fits
	for s != "" {
		var piece string
		piece, s = next(s)
		for piece != "" {
			cluster, n := piece[:1], 1
			if len(piece) > 1 && piece[1] >= 0x80 || piece[0] >= 0x80 {
				cluster, n = ansi.FirstGraphemeCluster(piece, ansi.GraphemeWidth)
			}
			if width+n > w {
				return b.String()[:end] + cut, w - endWidth - 1
			}
			b.WriteString(cluster)
			piece = piece[len(cluster):]
			if width += n; width < w {
				end, endWidth = b.Len(), width
			}
		}
	}
	return b.String(), w - width
}

// FitStyled makes text that we styled ourselves exactly w cells wide, like
// [Fit]. Escape sequences are kept and count nothing, whatever is switched on
// is switched off before the padding, and no colour runs into what follows. It
// does not make text safe: that is done before styling.
func FitStyled(s string, w int) string {
	if w <= 0 {
		return ""
	}
	s = ansi.Truncate(s, w, cut)
	var b strings.Builder
	b.Grow(len(s) + w + 8)
	b.WriteString(s)
	if strings.Contains(s, "\x1b]8;") && !strings.HasSuffix(s, hyperlinkEnd) {
		b.WriteString(hyperlinkEnd)
	}
	if strings.Contains(s, "\x1b[") && !strings.HasSuffix(s, ansi.ResetStyle) {
		b.WriteString(ansi.ResetStyle)
	}
	pad(&b, w-ansi.StringWidth(s))
	return b.String()
}

var hyperlinkEnd = ansi.ResetHyperlink()

const blanks = "                                                                " // 64

// blank returns n spaces.
func blank(n int) string {
	if n <= len(blanks) {
		return blanks[:max(n, 0)]
	}
	return strings.Repeat(" ", n)
}

// pad writes n spaces.
func pad(b *strings.Builder, n int) { b.WriteString(blank(n)) }
