package filter_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/leasetop/leasetop/queue/filter"
)

func TestTheZeroFilterLeavesNothingOut(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "  "} {
		f, err := filter.Parse(text)
		if err != nil || !f.Empty() || f.Path() != "" || f.Wide() || f.Queues() != nil || f.Statuses() != nil || f.String() != text {
			t.Errorf("%q is %+v, error %v", text, f, err)
		}
	}
	if !filter.Everything.Empty() {
		t.Error("Everything leaves something out")
	}
}

// nil, which is any, is told apart from none.
func TestWhatCannotFitIsKnown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typed, queues, statuses string
		wide                    bool
	}{
		{typed: "refused", queues: "any", statuses: "any"},
		{typed: "queue:b,a", queues: "[a b]", statuses: "any"},
		{typed: "queue:a,b*", queues: "any", statuses: "any"},
		{typed: "queue:a*,b", queues: "any", statuses: "any"},
		{typed: `queue:"a*"`, queues: "[a*]", statuses: "any"},
		{typed: "queue:*", queues: "any", statuses: "any"},
		{typed: "!queue:a", queues: "any", statuses: "any"},
		{typed: "queue:a,b !queue:a", queues: "[a b]", statuses: "any"},
		{typed: "queue:a,b queue:b,c", queues: "[b]", statuses: "any"},
		{typed: "queue:a queue:b", queues: "[]", statuses: "any"},
		{typed: "status:dead,FAILED,dead", queues: "any", statuses: "[dead failed]"},
		{typed: "status:ready", queues: "any", statuses: "[pending]"},
		{typed: "status:ready,dead status:scheduled", queues: "any", statuses: "[pending]"},
		{typed: "!status:dead", queues: "any", statuses: "any"},
		{typed: "died:>1h", queues: "any", statuses: "[dead failed]"},
		{typed: "!died:>1h", queues: "any", statuses: "any"},
		{typed: "died:>1h status:pending", queues: "any", statuses: "[]"},
		{typed: "payload.a:b", queues: "any", statuses: "any", wide: true},
		{typed: "!payload:b", queues: "any", statuses: "any", wide: true},
		{typed: `"payload.a:b" key:b`, queues: "any", statuses: "any"},
	} {
		f, err := filter.Parse(c.typed)
		if err != nil {
			t.Errorf("%q: %v", c.typed, err)
		}
		if q, s := shown(f.Queues()), shown(f.Statuses()); q != c.queues || s != c.statuses || f.Wide() != c.wide {
			t.Errorf("%q: queues %s, statuses %s, wide %v", c.typed, q, s, f.Wide())
		}
	}
}

func shown(names []string) string {
	if names == nil {
		return "any"
	}
	return fmt.Sprint(names)
}

func TestAGroupCanBeTypedAgain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := filter.Group(textOrNone.Draw(t, "queue"), textOrNone.Draw(t, "kind"), textOrNone.Draw(t, "fingerprint"))
		again, err := filter.Parse(f.String())
		if err != nil || again.Path() != f.Path() {
			t.Fatalf("%q, which is %s, is read as %s, error %v", f, f.Path(), again.Path(), err)
		}
	})
}

func TestAGroupIsItsDeadLettersAlone(t *testing.T) {
	t.Parallel()
	conn := connect(t)
	rapid.Check(t, func(t *rapid.T) {
		jobs := insert(t, conn, rapid.SliceOfN(rapid.Custom(drawJob), 1, 10).Draw(t, "jobs"))
		j := rapid.SampledFrom(jobs).Draw(t, "job")
		var want []int64
		for _, k := range jobs {
			if k.queue == j.queue && k.kind == j.kind && k.problem == j.problem {
				want = append(want, k.id)
			}
		}
		slices.Sort(want)
		if got := found(t, conn, filter.Group(j.queue, j.kind, j.problem)); !slices.Equal(got, want) {
			t.Fatalf("%s finds %v, want %v", filter.Group(j.queue, j.kind, j.problem), got, want)
		}
	})
}

func TestAGroupOfWhatNoDatabaseHoldsFindsNothing(t *testing.T) {
	t.Parallel()
	conn := connect(t)
	if _, err := conn.Exec(t.Context(), "INSERT INTO leasetop.jobs (queue) VALUES ('a')"); err != nil {
		t.Fatal(err)
	}
	if ids := found(t, conn, filter.Group("\xff", "", "")); len(ids) > 0 {
		t.Errorf("found %d", ids)
	}
	if ids := found(t, conn, filter.Group("a", "", "")); len(ids) != 1 {
		t.Errorf("found %d, want the one", ids)
	}
}

func TestEveryKeyIsExplainedOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range filter.Keys() {
		if k.Name == "" || k.Takes == "" || !strings.HasSuffix(k.Help, ".") || seen[k.Name] {
			t.Errorf("%+v", k)
		}
		seen[k.Name] = true
		if f, err := filter.Parse(k.Example); err != nil || f.Empty() || !strings.HasPrefix(k.Example, k.Name) {
			t.Errorf("%s: the example %q: %v", k.Name, k.Example, err)
		}
	}
}

// The README has a row for each key, and what it shows can be typed.
func TestTheREADMEExplainsTheLanguage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Filters\n")
	section, _, _ = strings.Cut(section, "\n## ")
	shown := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?`) \\|").FindAllStringSubmatch(section, -1) {
		for _, typed := range strings.Split(strings.Trim(row[1], "`"), "`, `") {
			if _, err := filter.Parse(typed); err != nil {
				t.Errorf("%s: %v", typed, err)
			}
			key, _, _ := strings.Cut(typed, ":")
			key, _, _ = strings.Cut(key, ".")
			shown[key] = true
		}
	}
	for _, k := range filter.Keys() {
		if !shown[k.Name] {
			t.Errorf("README.md does not show %s", k.Name)
		}
	}
}
