package ui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// Wide characters may straddle either edge of a dialog; the line keeps its width.
func TestDialogOverWideTextKeepsTheBorder(t *testing.T) {
	t.Parallel()
	for _, under := range []string{"│你好你好你好你好你好你好│", "│ 你好你好你好你好你好你好 │", "你好你好你好你好你好你好你"} {
		w := ansi.StringWidth(under)
		for x := range w - 4 {
			for dw := 1; x+dw <= w; dw++ {
				box := strings.Repeat("#", dw)
				got := stamp([]string{under}, []string{box}, x, 0, dw)[0]
				if ansi.StringWidth(got) != w {
					t.Fatalf("%d cells at %d over %q: %q is %d wide, want %d", dw, x, under, got, ansi.StringWidth(got), w)
				}
			}
		}
	}
}
