package command

import (
	"errors"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/ui/cli"
	"github.com/leasetop/leasetop/ui/safe"
)

func TestCaretsStandUnderTheWrongBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, wrong string // wrong is the first of it in text
		want        string
	}{
		{"queue:a attempts:many x", "many", "queue:a attempts:many x\n                 ^^^^"},
		{"queue:メール stauts:dead", "stauts", "queue:メール stauts:dead\n             ^^^^^^"},
		{"a\nb \x1b[2J", "\x1b[2J", "a␊b ␛[2J\n    ^^^^"},
		{`error:"421`, "", "error:\"421\n^"},
		{strings.Repeat("a", 60) + "!" + strings.Repeat("b", 60), "!", "…" + strings.Repeat("a", 49) + "!" + strings.Repeat("b", 23) + "…\n" + strings.Repeat(" ", 50) + "^"},
		{strings.Repeat("(", 10_000), strings.Repeat("(", 10_000), strings.Repeat("(", 23) + "…\n" + strings.Repeat("^", 24)},
	} {
		from := strings.Index(c.text, c.wrong)
		if got := pointed(c.text, from, from+len(c.wrong)); got != c.want {
			t.Errorf("%q:\n%s\nwant\n%s", c.text, got, c.want)
		}
	}
	if got := pointed("queue:a ", 8, 8); got != "queue:a \n        ^" {
		t.Errorf("at the end:\n%s", got)
	}
	for _, at := range [][2]int{{-3, 99}, {5, 2}, {99, 99}} { // whatever a mistake says, nothing panics
		if got := pointed("abc", at[0], at[1]); !strings.HasPrefix(got, "abc\n") || !strings.HasSuffix(got, "^") {
			t.Errorf("%v: %q", at, got)
		}
	}
	long := pointed(strings.Repeat("長い", 5000), 15_000, 15_006)
	for line := range strings.Lines(long) {
		if safe.Width(line) > shownBefore+2*shownWrong {
			t.Errorf("%d cells: %s", safe.Width(line), line)
		}
	}
}

func TestAMistakeInAFilterIsOneOfUsage(t *testing.T) {
	t.Parallel()
	var failure error
	cmd := newRoot(&failure)
	if _, err := parseFilter(cmd, []string{"queue:emails", "attempts:many"}); !errors.Is(err, cli.ErrUsage) || !strings.Contains(err.Error(), "queue:emails attempts:many\n") {
		t.Errorf("error %v", err)
	}
	where, err := parseFilter(cmd, []string{"queue:emails", `error:"rate limited"`})
	if err != nil || where.String() != `queue:emails error:"rate limited"` {
		t.Errorf("%q, %v", where, err)
	}
	if where, err := parseFilter(cmd, nil); err != nil || !where.Empty() {
		t.Errorf("no words are %q, %v", where, err)
	}
}
