package faults

import (
	"slices"
	"strings"
	"testing"
)

func TestOutputIsCutIntoLinesHoweverItComes(t *testing.T) {
	t.Parallel()
	var got []string
	out := lines{tell: func(line string) { got = append(got, line) }}
	for _, piece := range []string{"on", "e\ntwo\r\n\nth", "ree\n", strings.Repeat("x", longest), "y\n", "unfinished"} {
		if n, err := out.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	if want := []string{"one", "two", "", "three", strings.Repeat("x", longest), "y"}; !slices.Equal(got, want) {
		t.Errorf("%.20q", got)
	}
}
