package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// keep is how many lines of a failure are shown, the last ones.
const keep = 80

// event is a line of `go test -json`. See `go doc test2json`.
type event struct {
	Action, Package, ImportPath, FailedBuild, Test, Output string
}

// test is one test of a package, or with no name the package itself.
type test struct {
	pkg, name string
	lines     []string
	state     string // the last action that is no output
}

// report is what came of the tests so far.
type report struct {
	out   io.Writer
	tests map[[2]string]*test
	order []*test
}

func newReport(out io.Writer) *report {
	return &report{out: out, tests: map[[2]string]*test{}}
}

var (
	// verdict is the line about a package that go test prints without -json.
	verdict = regexp.MustCompile(`^(ok  |FAIL|\?   )\t`)
	// noise is what go test says of the course of every test.
	noise = regexp.MustCompile(`^(=== (RUN|PAUSE|CONT|NAME) |\s*--- (PASS|SKIP): |PASS$|FAIL$|exit status )`)
)

// note takes one line of `go test -json`.
func (r *report) note(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		fmt.Fprintf(r.out, "%s", line) // it is go test's own
		return
	}
	t := r.of(cmp.Or(e.Package, e.ImportPath), e.Test)
	switch e.Action {
	case "output", "build-output":
		text := strings.TrimRight(e.Output, "\n")
		switch {
		case e.Test == "" && verdict.MatchString(text):
			fmt.Fprintln(r.out, text)
		case text != "" && !noise.MatchString(text):
			t.lines = append(t.lines, text)
		}
	case "fail":
		if e.Test != "" {
			fmt.Fprintf(r.out, "--- FAIL: %s\n", t)
		}
		t.state = e.Action
		if e.FailedBuild != "" {
			t.state = "" // the build says why
		}
	default:
		t.state = e.Action
	}
	if t.state == "pass" || t.state == "skip" {
		t.lines = nil // of hundreds of tests
	}
}

func (r *report) of(pkg, name string) *test {
	key := [2]string{pkg, name}
	if r.tests[key] == nil {
		r.tests[key] = &test{pkg: pkg, name: name}
		r.order = append(r.order, r.tests[key])
	}
	return r.tests[key]
}

// end prints what failed: first with all that it said, then each in a line.
func (r *report) end() {
	failed := r.failed()
	if len(failed) == 0 {
		return
	}
	for _, t := range failed {
		fmt.Fprintf(r.out, "\n==== %s\n", t)
		if cut := len(t.lines) - keep; cut > 0 {
			fmt.Fprintf(r.out, "… %d lines before\n", cut)
			t.lines = t.lines[cut:]
		}
		fmt.Fprintln(r.out, strings.Join(t.lines, "\n"))
	}
	fmt.Fprintf(r.out, "\n%d failed:\n", len(failed))
	for _, t := range failed {
		fmt.Fprintf(r.out, "  %s: %.200s\n", t, t.cause())
	}
}

// failed are the tests that failed, without those that failed by a subtest alone, and those
// that were running when their package failed. A package is one where none of its tests
// says why, or it says more.
func (r *report) failed() (failed []*test) {
	broke := map[string]bool{} // packages
	for _, t := range r.order {
		if t.name == "" && t.state == "fail" {
			broke[t.pkg] = true
		}
	}
	explained := map[string]bool{}
	for _, t := range r.order {
		running := broke[t.pkg] && (t.state == "run" || t.state == "cont")
		if t.name != "" && (t.state == "fail" || running) && (t.said() || !r.byPart(t)) {
			failed = append(failed, t)
			explained[t.pkg] = true
		}
	}
	for _, t := range r.order {
		if t.name == "" && len(t.lines) > 0 && (broke[t.pkg] || t.state == "build-fail") || t.name == "" && broke[t.pkg] && !explained[t.pkg] {
			failed = append(failed, t)
		}
	}
	return failed
}

// byPart reports whether a subtest of the test failed, or ran at the end.
func (r *report) byPart(t *test) bool {
	for _, other := range r.order {
		if other.pkg == t.pkg && strings.HasPrefix(other.name, t.name+"/") && other.state != "pass" && other.state != "skip" {
			return true
		}
	}
	return false
}

var bad = regexp.MustCompile(`^\s*--- FAIL: `)

// said reports whether the test itself said anything, besides that it failed.
func (t *test) said() bool {
	for _, line := range t.lines {
		if !bad.MatchString(line) {
			return true
		}
	}
	return false
}

// source is the place in a test's file that begins what it says.
var source = regexp.MustCompile(`^\s*[\w.]+\.go:\d+: `)

// cause is the line that most likely says why: a panic or a race, else the last place in a
// test's file, for t.Fatal is the last word, else the first line.
func (t *test) cause() (cause string) {
	if t.state == "run" || t.state == "cont" {
		return "it was running when its package ended"
	}
	for _, line := range t.lines {
		switch text := strings.TrimSpace(line); {
		case strings.HasPrefix(text, "panic: "), text == "WARNING: DATA RACE":
			return text
		case source.MatchString(line), cause == "" && !bad.MatchString(line):
			cause = text
		}
	}
	return cmp.Or(cause, "it says nothing")
}

// String is how a test is called.
func (t *test) String() string {
	if t.name == "" {
		return t.pkg
	}
	return t.name + " of " + strings.TrimPrefix(t.pkg, "github.com/leasetop/leasetop/")
}
