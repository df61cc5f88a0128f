package e2e

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/ui/term"
)

// Commands of the docs that do not run here, and why.
var notRunHere = map[string]string{
	"make run":       "every other test of this package is it, with keys pressed",
	"make test":      "it would run this test",
	"npm install pg": "it needs the network",
	"DATABASE_URL=postgres://app@db.example.com/app node worker.mjs emails reports":   "TestCommandLine of sql/languages runs it where node is installed",
	"DATABASE_URL=postgres://app@db.example.com/app python3 worker.py emails reports": "TestCommandLine of sql/languages runs it where psycopg is installed",
}

// Commands that run until a signal, and what they must say (a regular expression of
// bash) before they get SIGTERM, on which they must end well.
var endless = map[string]string{
	"leasetop": "Z depth ",
	"leasetop work --queue receipts --exec cat": "completed",
}

// What stands in blocks that no shell runs, by the page and language.
var elsewhere = map[string]string{
	"README.md go":                "TestProgramOfTheREADME",
	"README.md sql":               "TestRightsOfTheREADME of queue",
	"sql/languages/README.md sql": "TestStatementsAreLeasetopsOwn and TestPagesExamplesRun there",
}

// The docs' commands are run, page by page and in order, in a shell with leasetop in its
// PATH, a home of its own, and a new database where the page names one.
func TestCommandsOfTheDocs(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for path, page := range docs(t) {
		script, commands := "", 0
		for _, block := range blocks(t, path, page) {
			if block.language != "sh" {
				continue
			}
			for _, command := range block.commands() {
				name := strings.TrimSpace(regexp.MustCompile(` +#.*`).ReplaceAllString(command, ""))
				seen[name] = true
				switch {
				case notRunHere[name] != "":
					continue
				case endless[name] != "":
					command = "until_it_says " + quoted(endless[name]) + " " + name
				}
				command = strings.ReplaceAll(command, "postgres://app@db.example.com/app", `"$NEW_DATABASE"`)
				script += fmt.Sprintf("echo %s >&2\n%s\n", quoted(fmt.Sprintf("%s:%d: %s", path, block.line, name)), command)
				commands++
			}
		}
		if commands > 0 {
			t.Run(path, func(t *testing.T) {
				t.Parallel()
				runScript(t, script)
			})
		}
	}
	for name, why := range notRunHere {
		if !seen[name] {
			t.Errorf("%q is excepted (%s), but no page has it", name, why)
		}
	}
	for name := range endless {
		if !seen[name] {
			t.Errorf("%q is said to run until a signal, but no page has it", name)
		}
	}
}

const prelude = `set -eu -o pipefail
until_it_says() {
	local want=$1 said=
	shift
	coproc spoken { exec "$@" 2>&1; }
	local pid=$spoken_PID
	until [[ $said =~ $want ]]; do read -r said <&"${spoken[0]}"; echo "$said"; done
	kill -TERM "$pid"
	wait "$pid"
}
`

func runScript(t *testing.T, script string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", prelude+script)
	cmd.Dir, cmd.WaitDelay = t.TempDir(), time.Second
	cmd.Env = append(term.Environ(), "NEW_DATABASE="+testdb.Empty(t), "LEASETOP_HOME="+testdb.Home(t), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Links to files lead to files, and the tests that pages name exist.
func TestPagesNameWhatThereIs(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{}
	for _, text := range files(t, "_test.go") {
		for _, found := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(text, -1) {
			tests[found[1]] = true
		}
	}
	links, names := 0, 0
	for path, page := range docs(t) {
		for _, found := range regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllStringSubmatch(page, -1) {
			links++
			if _, err := os.Stat(filepath.Join(top, filepath.Dir(path), found[1])); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		for _, found := range regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(page, -1) {
			names++
			if !tests[found[1]] {
				t.Errorf("%s names %s, which is no test", path, found[1])
			}
		}
	}
	if links < 10 || names < 10 {
		t.Errorf("found only %d links and %d names of tests", links, names)
	}
}

// block is a fenced block of a page.
type block struct {
	language string
	line     int // of its first line
	text     string
}

// blocks are the fenced blocks of a page. It refuses what no test would run: blocks
// without a language, in another one, or indented.
func blocks(t *testing.T, path, page string) (found []block) {
	t.Helper()
	var open *block
	blank := true
	for i, line := range strings.Split(page, "\n") {
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && open == nil:
			open = &block{language: language, line: i + 2}
		case fence:
			found = append(found, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		case blank && (strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")):
			t.Errorf("%s:%d: an indented block: fence it and name its language", path, i+1)
		}
		blank = strings.TrimSpace(line) == ""
	}
	for _, b := range found {
		if b.language != "sh" && b.language != "text" && elsewhere[path+" "+b.language] == "" {
			t.Errorf("%s:%d: no test runs a block in %q: name the one that does", path, b.line, b.language)
		}
	}
	return found
}

// commands are the block's lines, those that a backslash continues put together.
func (b *block) commands() (commands []string) {
	for _, line := range strings.Split(strings.ReplaceAll(b.text, "\\\n", ""), "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			commands = append(commands, line)
		}
	}
	return commands
}

// top is the project's folder, seen from here.
const top = "../.."

func docs(t *testing.T) map[string]string {
	t.Helper()
	pages := files(t, ".md")
	if len(pages) < 3 {
		t.Fatalf("found only %d pages", len(pages))
	}
	return pages
}

// files are the project's files of one ending, by their paths.
func files(t *testing.T, ending string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(os.DirFS(top), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && path != ".") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ending) {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(top, path))
		found[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
