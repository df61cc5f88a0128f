package safe

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON escapes in JSON text what would act on a terminal or is never drawn as itself. The
// text means the same: such characters stand in its strings alone, and those below a space
// are escaped there already.
func JSON(text []byte) []byte {
	var b strings.Builder
	from := 0
	for at := 0; at < len(text); {
		if text[at] < 0x7f {
			at++
			continue
		}
		r, size := utf8.DecodeRune(text[at:])
		if r != utf8.RuneError && hidden(r) {
			b.Write(text[from:at])
			if high, low := utf16.EncodeRune(r); r > 0xffff {
				fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
			} else {
				fmt.Fprintf(&b, `\u%04x`, r)
			}
			from = at + size
		}
		at += size
	}
	if from == 0 {
		return text
	}
	b.Write(text[from:])
	return []byte(b.String())
}
