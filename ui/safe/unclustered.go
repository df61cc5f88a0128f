package safe

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Unclustered rewrites a finished, styled frame for a terminal that advances
// the cursor rune by rune, as those without Unicode mode 2027 do. Layout
// counts cells per grapheme cluster. For nearly all text both counts are the
// same, but 👩🏾‍💻 is two cells in one and six in the other, and every border
// to its right would move by four. Each such cluster is cut to the part that
// takes the same cells by both counts, and padded: 👩🏾‍💻 becomes 👩.
//
// bubbletea tells the program which kind of terminal it has: a
// tea.ModeReportMsg for ansi.ModeUnicodeCore that says set or reset means the
// terminal counts clusters and frames must be left alone. A frame without such
// clusters is returned as it is, without allocating.
func Unclustered(frame string) string {
	if strings.IndexFunc(frame, contested) < 0 {
		return frame
	}
	var b strings.Builder
	b.Grow(len(frame))
	p := ansi.GetParser()
	defer ansi.PutParser(p)
	for frame != "" {
		if frame[0] < ' ' || frame[0] == 0x7f {
			sequence, _, n, _ := ansi.DecodeSequence(frame, ansi.NormalState, p)
			b.WriteString(sequence)
			frame = frame[n:]
			continue
		}
		if n := printable(frame); n == len(frame) || n > 0 && frame[n] < 0x80 {
			b.WriteString(frame[:n])
			frame = frame[n:]
			continue
		} else if n > 1 {
			b.WriteString(frame[:n-1])
			frame = frame[n-1:]
		}
		cluster, width := ansi.FirstGraphemeCluster(frame, ansi.GraphemeWidth)
		if ansi.StringWidthWc(cluster) == width {
			b.WriteString(cluster)
		} else {
			b.WriteString(narrow(cluster, width, frame[len(cluster):]))
		}
		frame = frame[len(cluster):]
	}
	return b.String()
}

// contested reports whether a cluster that holds r may be counted differently.
// It errs towards yes; arrows, lines, blocks and Chinese characters are no.
func contested(r rune) bool {
	switch {
	case r < 0x0900:
		return false
	case r == zwj, r == asEmoji, r == 0x302e, r == 0x302f: // the last two: Hangul tones
		return true
	}
	return r < 0x2000 || r > 0x9fff
}

// narrow returns as much of the cluster as takes width cells rune by rune.
// Joiners and selectors go: without their sequence they change the count. A
// remainder that would join what follows is given up for "…".
func narrow(cluster string, width int, following string) string {
	var b strings.Builder
	left := width
	for _, r := range cluster {
		if r == zwj || r == asEmoji || r == asText {
			continue
		}
		n := ansi.StringWidthWc(string(r))
		if n > left {
			break
		}
		b.WriteRune(r)
		left -= n
	}
	if left == 0 && following != "" {
		r, _ := utf8.DecodeRuneInString(following)
		if c, _ := ansi.FirstGraphemeCluster(b.String()+string(r), ansi.GraphemeWidth); len(c) > b.Len() {
			return cut + blank(width-1)
		}
	}
	return b.String() + blank(left)
}
