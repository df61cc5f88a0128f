package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// told is what a report says of events: "action test output", of package "p".
func told(t *testing.T, events ...[3]string) string {
	t.Helper()
	var out strings.Builder
	r := newReport(&out)
	for _, e := range events {
		line, err := json.Marshal(event{Action: e[0], Package: "p", Test: e[1], Output: e[2]})
		if err != nil {
			t.Fatal(err)
		}
		r.note(line)
	}
	r.end()
	return out.String()
}

func TestEndNamesEachFailureAndItsCause(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events []([3]string)
		end    string
	}{
		"a subtest": {[][3]string{
			{"run", "TestA", ""},
			{"run", "TestA/b", ""},
			{"output", "TestA/b", "=== RUN   TestA/b\n"},
			{"output", "TestA/b", "    a_test.go:7: a log\n"},
			{"output", "TestA/b", "    a_test.go:9: 3 jobs, want 4\n"},
			{"output", "TestA/b", "        and their rows\n"},
			{"output", "TestA/b", "    --- FAIL: TestA/b (0.10s)\n"},
			{"fail", "TestA/b", ""},
			{"output", "TestA", "--- FAIL: TestA (0.10s)\n"},
			{"fail", "TestA", ""},
			{"run", "TestC", ""},
			{"output", "TestC", "    c_test.go:1: all is well\n"},
			{"pass", "TestC", ""},
			{"output", "", "FAIL\n"},
			{"output", "", "FAIL\tp\t1.5s\n"},
			{"fail", "", ""},
		}, "1 failed:\n  TestA/b of p: a_test.go:9: 3 jobs, want 4\n"},
		"a test that never ended": {[][3]string{
			{"run", "TestA", ""},
			{"output", "TestA", "    a_test.go:7: it waits\n"},
			{"output", "", "panic: test timed out after 10m0s\n"},
			{"output", "", "FAIL\tp\t600s\n"},
			{"fail", "", ""},
		}, "2 failed:\n  TestA of p: it was running when its package ended\n  p: panic: test timed out after 10m0s\n"},
		"what is left after all tests": {[][3]string{
			{"run", "TestA", ""},
			{"pass", "TestA", ""},
			{"output", "", "goroutines were left behind: 1\n"},
			{"output", "", "FAIL\tp\t1.5s\n"},
			{"fail", "", ""},
		}, "1 failed:\n  p: goroutines were left behind: 1\n"},
		"a package that does not build": {[][3]string{
			{"build-output", "", "p/x.go:3:1: syntax error\n"},
			{"build-fail", "", ""},
			{"output", "", "FAIL\tp [build failed]\n"},
			{"fail", "", ""},
		}, "1 failed:\n  p: p/x.go:3:1: syntax error\n"},
		"none": {[][3]string{
			{"run", "TestA", ""},
			{"output", "TestA", "    a_test.go:7: a log\n"},
			{"pass", "TestA", ""},
			{"output", "", "ok  \tp\t1.5s\n"},
			{"pass", "", ""},
		}, "ok  \tp\t1.5s\n"},
	} {
		if got := told(t, c.events...); !strings.HasSuffix(got, c.end) {
			t.Errorf("%s: it ends with\n%s", name, got)
		}
	}
}

func TestLongFailureIsCutAtItsBeginning(t *testing.T) {
	t.Parallel()
	events := [][3]string{{"run", "TestA", ""}}
	for range keep + 5 {
		events = append(events, [3]string{"output", "TestA", "line\n"})
	}
	got := told(t, append(events, [3]string{"fail", "TestA", ""})...)
	if strings.Count(got, "line\n") != keep+1 || // and at the end
		!strings.Contains(got, "… 5 lines before\n") {
		t.Error(got)
	}
}
