package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

// CASES "Payloads": nested 10,000 deep, a payload is no larger on the screen than it is.
func TestReadablePayloadIsBounded(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	if got := readable(json.RawMessage(deep)); got != deep {
		t.Errorf("%d bytes became %d", len(deep), len(got))
	}
	for payload, want := range map[string]string{
		`{"a":[1]}`:                           "{\n  \"a\": [\n    1\n  ]\n}",
		`{"a":"[[[[`:                          `{"a":"[[[[`, // cut
		`{"brackets":"\"` + deep + `"}`:       "{\n  \"brackets\": \"\\\"" + deep + "\"\n}",
		`{"n":1970670598291982290,"f":1e400}`: "{\n  \"n\": 1970670598291982290,\n  \"f\": 1e400\n}",
		strings.Repeat("[", 100) + strings.Repeat("]", 100): "",
	} {
		got := readable(json.RawMessage(payload))
		if want != "" && got != want || want == "" && !strings.Contains(got, "\n") {
			t.Errorf("%.60s became %.60s", payload, got)
		}
	}
}
