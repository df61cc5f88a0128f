package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue/filter"
)

// CASES "Filter text": whatever is typed or pasted where words are taken is one line, acts on
// nothing, and is either meant as it stands or said to be a mistake, at which nothing
// changes. What a filter compiles to is held against the database in queue/filter.
func TestFilterTextIsLiteralOrSaidToBeWrong(t *testing.T) {
	t.Parallel()
	texts := append([]string{
		"[", "(a+)+$", "%", "_", "'", `"; drop`, `"; drop table leasetop.jobs; --`, `"`, `!`, `!!`, ":", "queue:", "qeue:x", "attempts:>", "age:>1y",
		"id:10..", "payload.:x", `\`, "*", "a*b", "$1", "-1", strings.Repeat("x", 10_000), strings.Repeat("你", typedMost/3),
	}, hostile...)
	for _, c := range []struct {
		name string
		keys []string
		line func(s *stage) *filterLine // nil: it is no filter of jobs
	}{
		{"jobs", []string{"2", "/"}, func(s *stage) *filterLine { return &s.app.jobsTab.line }},
		{"dead letters", []string{"3", "/"}, func(s *stage) *filterLine { return &s.app.deadTab.line }},
		{"dead letters, listed", []string{"3", "tab", "/"}, func(s *stage) *filterLine { return &s.app.deadTab.line }},
		{"queue", []string{"2", "Q"}, nil},
		{"events", []string{"6", "/"}, nil},
		{"why to discard", []string{"3", "D"}, nil},
		{"why to redrive", []string{"3", "R", "shift+tab", "shift+tab"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, newWorld(), 80, 24)
			s.app.clustered = true
			for _, k := range c.keys {
				s.later(k)
			}
			for _, text := range texts {
				in := s.app.typing().Input()
				in.text, in.at = "", 0
				s.app.typing().Typed()
				s.send(tea.PasteMsg{Content: text})
				harmless(t, s)
				if len(text) > typedMost {
					if in.text != "" || !in.full {
						t.Fatalf("%d letters make %d", len(text), len(in.text))
					}
					continue
				}
				if strings.ContainsAny(in.text, "\r\n\t") {
					t.Fatalf("%q is no line", in.text)
				}
				if c.line != nil {
					meant(t, s, c.line(s))
				}
				s.pass(2 * typingPause)
				harmless(t, s)
			}
			if got := s.log(); got != "" {
				t.Errorf("typing did %q", got)
			}
		})
	}
}

// meant fails unless what is typed is what is shown next, or is said to be a mistake.
func meant(t *testing.T, s *stage, l *filterLine) {
	t.Helper()
	text, before := l.typing.text, l.applied.String()
	s.pass(0)
	s.pass(2 * typingPause)
	var wrong *filter.Mistake
	switch read, err := filter.Parse(text); {
	case err == nil && l.applied.String() != read.String():
		t.Fatalf("%q shows what matches %q, not %q", text, l.applied.String(), read.String())
	case errors.As(err, &wrong):
		if l.applied.String() != before {
			t.Fatalf("%q is a mistake, and changes what is shown from %q to %q", text, before, l.applied.String())
		}
		kept := l.text
		s.press("enter")
		if l.typing == nil {
			t.Fatalf("%q is a mistake (%v), and is kept", kept, err)
		}
		s.sees(fmt.Sprintf("%.20s", strings.TrimSpace(wrong.Says)))
	case err != nil:
		t.Fatalf("%q: %v is no mistake of the language", text, err)
	}
}
