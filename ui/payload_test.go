package ui

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// shown lays out a payload and returns its lines without colours.
func shown(text string, f *folding, w int) []string {
	var lines []string
	for _, row := range payloadRows(pretty(text, newTheme(true, false)), f, newTheme(true, false), w) {
		lines = append(lines, ansi.Strip(row.line))
	}
	return lines
}

func TestPayloadFoldsToLevelsAndByParts(t *testing.T) {
	t.Parallel()
	const text = `{"a": 1970670598291982290, "b": {"c": [1, -0, 1e400], "d": {}}, "e": [], "f": [{"g": 1}]}`
	whole := "{\n  \"a\": 1970670598291982290,\n  \"b\": {\n    \"c\": [\n      1,\n      -0,\n      1e400\n    ],\n    \"d\": {}\n  },\n  \"e\": [],\n  \"f\": [\n    {\n      \"g\": 1\n    }\n  ]\n}"
	f := &folding{}
	for _, want := range []string{
		whole,
		"{\n  \"a\": 1970670598291982290,\n  \"b\": { … 2 },\n  \"e\": [],\n  \"f\": [ … 1 ]\n}",
		"{\n  \"a\": 1970670598291982290,\n  \"b\": {\n    \"c\": [ … 3 ],\n    \"d\": {}\n  },\n  \"e\": [],\n  \"f\": [\n    { … 1 }\n  ]\n}",
		whole,
	} {
		if got := strings.Join(shown(text, f, 80), "\n"); got != want {
			t.Errorf("level %d:\n%s\nwant\n%s", f.level, got, want)
		}
		f.Next()
	}
	f = &folding{}
	rows := payloadRows(pretty(text, newTheme(true, false)), f, newTheme(true, false), 80)
	f.Turn(rows[3].fold) // "c"
	if got := shown(text, f, 80)[3]; got != `    "c": [ … 3 ],` {
		t.Errorf("one part folded is %q", got)
	}
	f.Turn(rows[0].fold)
	if got := strings.Join(shown(text, f, 80), "\n"); got != `{ … 4 }` {
		t.Errorf("all of it folded is %q", got)
	}
}

func TestPayloadThatIsCutOrBrokenFoldsAsFarAsItGoes(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"a": {"b": [1, 2`, `]}{"a": 1}`, `{"a": 1}}}`, ``, `nonsense`, strings.Repeat("[", 20_000), strings.Repeat(`{"a":`, 5000)} {
		for _, level := range []int{0, 1, 2} {
			if lines := shown(text, &folding{level: level}, 40); len(lines) > maxLines*40 {
				t.Errorf("%.20q makes %d lines", text, len(lines))
			}
		}
	}
}

// The cursor stays where it is when something above it opens or folds.
func TestCursorStaysThroughFolds(t *testing.T) {
	t.Parallel()
	s := atJob(t, newWorld(), sampleJob(88007), 120, 50)
	s.press("tab")
	s.screen()
	body := s.detail().body()
	for !strings.Contains(ansi.Strip(body.rows[body.at].line), `"template"`) {
		s.press("j")
		s.screen()
	}
	s.press("z")
	s.screen()
	if line := ansi.Strip(body.rows[body.at].line); !strings.Contains(line, `"template"`) {
		t.Errorf("the cursor went to %q", line)
	}
}

// CASES "Numbers": unchanged in the view.
func TestNumbersAreShownAsTheyAre(t *testing.T) {
	t.Parallel()
	j := sampleJob(88007)
	j.Payload = json.RawMessage(`{"big": 1970670598291982290, "huge": 1e400, "minus": -0, "exact": 0.10000000000000000001}`)
	s := atJob(t, newWorld(), j, 120, 36)
	s.sees(`"big": 1970670598291982290`, `"huge": 1e400`, `"minus": -0`, `"exact": 0.10000000000000000001`)
}

// CASES "Payloads": the page shows a bounded preview of a huge one, and says so.
func TestHugePayloadIsShownInPart(t *testing.T) {
	t.Parallel()
	j := sampleJob(88007)
	j.Payload = json.RawMessage(`{"blob": "` + strings.Repeat("x", 5<<20) + `"}`)
	s := atJob(t, newWorld(), j, 120, 36)
	s.sees("PAYLOAD 5,242,892 characters", "the first 16,384")
	if n := len(s.detail().job.Payload); n != payloadCharacters {
		t.Errorf("%d characters were read", n)
	}
}
