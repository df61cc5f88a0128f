package languages

import (
	"flag"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	leasesql "github.com/leasetop/leasetop/sql"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

var update = flag.Bool("update", false, "write leasetop's statements into the workers and the page")

// What of a file is a statement: its name and its text, as regular expressions.
var statements = map[string]*regexp.Regexp{
	"worker.mjs": regexp.MustCompile("(?m)^  (\\w+): `\n((?s:.*?))`,$"),
	"worker.py":  regexp.MustCompile(`(?m)^    "(\w+)": """\n((?s:.*?))""",$`),
	"README.md":  regexp.MustCompile("\\(\\.\\./queries/(\\w+)\\.sql\\)\n\n```sql\n((?s:.*?))```\n"),
}

// The workers run leasetop's own statements, and the page shows those, none more and
// none less: -update writes them.
func TestStatementsAreLeasetopsOwn(t *testing.T) {
	t.Parallel()
	names := map[string][]string{}
	for file, pattern := range statements {
		text := read(t, os.DirFS("."), file)
		got, end := "", 0
		for _, found := range pattern.FindAllStringSubmatchIndex(text, -1) {
			name := text[found[2]:found[3]]
			names[file] = append(names[file], name)
			got += text[end:found[4]] + statement(t, file, name)
			end = found[5]
		}
		got += text[end:]
		if got == text {
			continue
		}
		if !*update {
			t.Errorf("%s holds another statement than sql/queries: go test ./sql/languages -update", file)
		} else if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := slices.Sorted(slices.Values(names["README.md"]))
	for _, worker := range []string{"worker.mjs", "worker.py"} {
		if got := slices.Sorted(slices.Values(names[worker])); len(got) < 8 || !slices.Equal(got, want) {
			t.Errorf("%s has the statements %q, the page has %q", worker, got, want)
		}
	}
}

// What the page shows besides works as it stands, and the workers have its setting.
func TestPagesExamplesRun(t *testing.T) {
	t.Parallel()
	conn := connect(t, testdb.New(t))
	page := statements["README.md"].ReplaceAllString(read(t, os.DirFS("."), "README.md"), "")
	examples := regexp.MustCompile("(?s)```sql\n(.*?)\n```").FindAllStringSubmatch(page, -1)
	if len(examples) < 3 {
		t.Fatalf("found only %d examples", len(examples))
	}
	for _, example := range examples {
		do(t, conn, example[1])
		for _, worker := range []string{"worker.mjs", "worker.py"} {
			if strings.HasPrefix(example[1], "SET ") && !strings.Contains(read(t, os.DirFS("."), worker), example[1]) {
				t.Errorf("%s does not run %s", worker, example[1])
			}
		}
	}
	if n := value[int](t, conn, `select count(*) from leasetop.jobs`); n != 2 {
		t.Errorf("the examples enqueue %d jobs", n)
	}
}

// statement is a file of sql/queries as another file shows it: the page whole, the
// workers without its opening comment.
func statement(t *testing.T, file, name string) string {
	text := read(t, leasesql.Queries(), name+".sql")
	if file == "README.md" {
		return text
	}
	for strings.HasPrefix(text, "--") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

func read(t *testing.T, from fs.FS, name string) string {
	t.Helper()
	text, err := fs.ReadFile(from, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
