package e2e

import (
	"strings"
	"testing"

	"github.com/leasetop/leasetop/ui/term"
)

// The journal of live work: narrowed by what is typed, and left where the cursor stands.
func TestEventsAreChosenAndStandStill(t *testing.T) {
	t.Parallel()
	s := start(t, 100, 30)
	s.Press(s.find(`(\d) Events`)[1])
	s.Expect("following", "✓ completed", "→ claimed")
	s.Press("/")
	for _, letter := range "what:completed" {
		s.Press(string(letter))
	}
	s.Gone("→ claimed")
	s.Press("enter")
	s.Expect("/ what:completed", "esc clear")
	rows := func(f *term.Frame) int { return strings.Count(f.Text(), "✓ completed") }
	s.Until("two of them", func(f *term.Frame) bool { return rows(f) > 1 })
	s.Press("k")
	s.Gone("following")
	cursor := s.find(`▸\d.*`)[0]
	s.find(`[1-9]\d* new below, G goes on`)
	if now := s.find(`▸\d.*`)[0]; now != cursor {
		t.Errorf("the cursor stands on %s, and stood on %s", now, cursor)
	}
	s.Press("esc")
	s.Expect("→ claimed")
}
