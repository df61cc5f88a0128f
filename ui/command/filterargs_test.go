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

// Every command that takes ids or a filter refuses both at once, before it looks at anything:
// a stray number would else be a text that thousands of jobs hold.
func TestIDsAmongTheWordsOfAFilterAreRefused(t *testing.T) {
	t.Parallel()
	failure := error(nil)
	found := 0
	for _, cmd := range newRoot(&failure).Commands() {
		if !strings.Contains(cmd.Use, "ID… | FILTER…") {
			continue
		}
		found++
		for _, args := range [][]string{{"17", "#42", "queue:emails"}, {"queue:emails", "17", "42"}, {"17", "queue:emails", "42"}} {
			var failure error
			root := newRoot(&failure)
			root.SetArgs(append([]string{cmd.Name(), "--yes", "--"}, args...))
			if err := root.ExecuteContext(t.Context()); err != nil || !errors.Is(failure, cli.ErrUsage) || !strings.Contains(failure.Error(), "ids or a filter, not both: did you mean id:17,42?") {
				t.Errorf("%s %q: %v, %v", cmd.Name(), args, failure, err)
			}
		}
	}
	if found < 3 {
		t.Errorf("only %d commands take either", found)
	}
}
