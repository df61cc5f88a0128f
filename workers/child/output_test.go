package child

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/leasetop/leasetop/queue"
)

func TestLinesArePassedOnFromBothStreams(t *testing.T) {
	t.Parallel()
	var p printed
	if err := sh(`printf 'one\r\n\ntwo'; printf 'three\n' >&2`, &p)(t.Context(), &queue.Job{ID: 1}); err != nil {
		t.Fatal(err)
	}
	got := p.all()
	slices.Sort(got)
	if want := []string{"err three", "out ", "out one", "out two"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A megabyte without a line end, and of no text at all, on each stream.
func TestOutputIsBoundedWhateverIsPrinted(t *testing.T) {
	t.Parallel()
	var p printed
	err := sh(`head -c 1048576 /dev/zero | tr '\0' '\377'; head -c 1048576 /dev/zero >&2; exit 1`, &p)(t.Context(), &queue.Job{ID: 1})
	got := p.all()
	if len(got) != 2 {
		t.Fatalf("%d lines, want one of each stream", len(got))
	}
	for _, line := range got {
		if len(line) > lineKept+100 || !strings.HasSuffix(line, "… (1044480 bytes more)") {
			t.Errorf("a line of %d bytes that ends in %q", len(line), line[len(line)-40:])
		}
	}
	if err == nil || len([]rune(err.Error())) > 2000 || strings.Contains(err.Error(), "\x00") || !utf8.ValidString(err.Error()) {
		t.Errorf("the error has %d bytes: %.60q", len(err.Error()), err)
	}
}

func TestManyLinesComeWhole(t *testing.T) {
	t.Parallel()
	var p printed
	if err := sh(`i=0; while [ $i -lt 20000 ]; do echo "line $i"; i=$((i+1)); done`, &p)(t.Context(), &queue.Job{ID: 1}); err != nil {
		t.Fatal(err)
	}
	got := p.all()
	if len(got) != 20000 {
		t.Fatalf("%d lines", len(got))
	}
	for i, line := range got {
		if line != fmt.Sprintf("out line %d", i) {
			t.Fatalf("line %d is %q", i, line)
		}
	}
}

func TestErrorIsTheEndOfStandardErrorByWholeLines(t *testing.T) {
	t.Parallel()
	var long strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&long, "line %d\n", i)
	}
	for _, c := range []struct {
		name, in string
		good     func(string) bool
	}{
		{"nothing", "", func(s string) bool { return s == "" }},
		{"blank lines", "\n\r\n\n", func(s string) bool { return s == "" }},
		{"short", "  File \"x.py\"\nboom\n", func(s string) bool { return s == "  File \"x.py\"\nboom" }},
		{"many lines", long.String(), func(s string) bool {
			return strings.HasPrefix(s, "… line ") && strings.HasSuffix(s, "line 998\nline 999") && len(s) > tailKept-20
		}},
		{"one long line", strings.Repeat("x", 5000), func(s string) bool { return s == "… "+strings.Repeat("x", tailKept) }},
		{"one long line that ends", strings.Repeat("x", 5000) + "\n", func(s string) bool { return s == "… "+strings.Repeat("x", tailKept-1) }},
		{"cut within a rune", strings.Repeat("😀", 1000) + "x", func(s string) bool { return s == "… "+strings.Repeat("😀", 399)+"x" }},
		{"NUL and no UTF-8", "a\x00b\xff\xfec", func(s string) bool { return s == "a\uFFFDb\uFFFDc" }},
		{"a cut rune at the end", "ende \xf0\x9f\x98", func(s string) bool { return s == "ende \uFFFD" }},
		{"only continuation bytes", strings.Repeat("\x80", 5000), utf8.ValidString},
	} {
		for _, piece := range []int{1, 7, 1 << 20} {
			var kept tail
			for rest := c.in; rest != ""; {
				n := min(piece, len(rest))
				_, _ = kept.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			if got := kept.String(); !c.good(got) || !utf8.ValidString(got) || len(got) > tailKept+8 {
				t.Errorf("%s in pieces of %d: %q", c.name, piece, got)
			}
		}
	}
}

// As it goes through a real child.
func TestErrorOfHostileChildCanBeStored(t *testing.T) {
	t.Parallel()
	err := sh(`printf 'boom\000tail \377\376 \355\240\200\n' >&2; exit 3`, &printed{})(t.Context(), &queue.Job{ID: 1})
	if want := "exit status 3: boom\uFFFDtail \uFFFD \uFFFD"; err == nil || err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}
