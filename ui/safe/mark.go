package safe

import (
	"fmt"
	"unicode"
)

// hidden reports whether r is never drawn as itself: it acts on the terminal,
// is invisible, changes the order of its neighbours, swallows the character
// after it, or is newer than Go's Unicode tables, so that nobody knows whether
// it is any of these. (New emoji are known: their places were set aside.)
func hidden(r rune) bool {
	switch {
	case r < ' ' || r == 0x7f:
		return true
	case r < 0x7f:
		return false
	case r < 0xa0: // C1: U+009B alone is a CSI to some terminals
		return true
	case r < 0x300:
		return r == 0xad // soft hyphen
	case !unicode.IsGraphic(r): // also Cf, Zl, Zp and noncharacters
		return !unicode.Is(unicode.Co, r) && !pictograph(r)
	}
	return unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point, unruly)
}

// unruly characters are visible on their own, but take part of a neighbour:
// drawn beside a border or a space they would move the column.
var unruly = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x0d4e, Hi: 0x0d4e, Stride: 1}, // prepended: joins the character after it
	},
	R32: []unicode.Range32{
		{Lo: 0x111c2, Hi: 0x111c3, Stride: 1}, // prepended, as the four below
		{Lo: 0x113d1, Hi: 0x113d1, Stride: 1},
		{Lo: 0x1193f, Hi: 0x11941, Stride: 2},
		{Lo: 0x11a84, Hi: 0x11a89, Stride: 1},
		{Lo: 0x11d46, Hi: 0x11d46, Stride: 1},
		{Lo: 0x11f02, Hi: 0x11f02, Stride: 1},
		{Lo: 0x1f1e6, Hi: 0x1f1ff, Stride: 1}, // half a flag; whole flags are emoji
		{Lo: 0x1f3fb, Hi: 0x1f3ff, Stride: 1}, // a skin tone with no skin
	},
}

// joins reports whether r is drawn onto the character before it: combining
// marks, and the letters Unicode treats alike (Thai and Lao am, the half-width
// voicing marks of katakana).
func joins(r rune) bool {
	switch r {
	case 0x0e33, 0x0eb3, 0xff9e, 0xff9f:
		return true
	}
	return r >= 0x300 && unicode.Is(unicode.M, r) && !unicode.Is(loose, r)
}

// loose marks are marks by category but stand in a cell of their own: vowel
// and tone signs of Myanmar, Tai Tham and Ahom (UAX 29, table 2).
var loose = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x102b, Hi: 0x102c, Stride: 1},
		{Lo: 0x1038, Hi: 0x1038, Stride: 1},
		{Lo: 0x1062, Hi: 0x1064, Stride: 1},
		{Lo: 0x1067, Hi: 0x106d, Stride: 1},
		{Lo: 0x1083, Hi: 0x1083, Stride: 1},
		{Lo: 0x1087, Hi: 0x108c, Stride: 1},
		{Lo: 0x108f, Hi: 0x108f, Stride: 1},
		{Lo: 0x109a, Hi: 0x109c, Stride: 1},
		{Lo: 0x1a61, Hi: 0x1a61, Stride: 1},
		{Lo: 0x1a63, Hi: 0x1a64, Stride: 1},
		{Lo: 0xaa7b, Hi: 0xaa7b, Stride: 1},
		{Lo: 0xaa7d, Hi: 0xaa7d, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x11720, Hi: 0x11721, Stride: 1},
	},
}

// trailing reports whether r is a conjoining Hangul vowel or final consonant,
// which needs a leading consonant to be drawn onto.
func trailing(r rune) bool {
	return 0x1160 <= r && r <= 0x11ff || 0xd7b0 <= r && r <= 0xd7ff
}

// mark returns the visible stand-in of a hidden character.
func mark(r rune) string {
	switch {
	case r < ' ':
		return string('␀' + r)
	case r == 0x7f:
		return "␡"
	}
	return fmt.Sprintf("‹U+%04X›", r)
}
