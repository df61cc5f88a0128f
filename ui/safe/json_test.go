package safe

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestJSONMeansTheSameAndHoldsNothingThatActs(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"plain", "naïve 你好 👍", "\x1b[2J", "c1 \u009b31m red", "del \x7f", "\u202egnp.exe", "zero\u200bwidth\u2066\u2069",
		"\ufeffbom", "tags \U000e0041\U000e0042", `quotes " and \ and / and \u009b`, "\u0085next", "",
	} {
		plain, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		shown := JSON(plain)
		var back string
		if err := json.Unmarshal(shown, &back); err != nil || back != text {
			t.Errorf("%q comes back as %q, %v", text, back, err)
		}
		if i := strings.IndexFunc(string(shown), hidden); i >= 0 {
			t.Errorf("%q holds %q", shown, string(shown)[i:])
		}
	}
	if got := string(JSON([]byte(`{"a": "👍 é"}`))); got != `{"a": "👍 é"}` {
		t.Errorf("%s", got)
	}
}
