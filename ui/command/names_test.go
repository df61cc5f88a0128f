package command

import (
	"slices"
	"testing"
)

func TestNamesAreSplitOnCommasAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ said, want []string }{
		{[]string{"a"}, []string{"a"}},
		{[]string{"a,b", "c"}, []string{"a", "b", "c"}},
		{[]string{"a\nb"}, []string{"a\nb"}},
		{[]string{`x"y,"z"`}, []string{`x"y`, `"z"`}},
		{[]string{`a\,b,c`}, []string{"a,b", "c"}},
		{[]string{`a\,\,b`}, []string{"a,,b"}},
		{[]string{`a\b\`, "c"}, []string{`a\b\`, "c"}},
		{[]string{`a\,b\`}, []string{`a,b\`}},
		{[]string{""}, []string{""}},
		{[]string{"a,,b,"}, []string{"a", "", "b", ""}},
	} {
		var n names
		for _, text := range c.said {
			if err := n.Set(text); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
		if !slices.Equal(n, c.want) {
			t.Errorf("%q: %q, want %q", c.said, n, c.want)
		}
	}
	if n := (names{"a,b", "c"}); n.String() != `a\,b,c` || (&names{}).String() != "" {
		t.Errorf("written %s", n.String())
	}
}
