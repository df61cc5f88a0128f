package child

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/queue"
)

func TestPayloadComesOnStandardInputAsItIs(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{
		`{"id": 1970670598291982290, "big": 1e400, "text": "\u00e4 $(rm) \"quoted\" ä"}`, `{}`, ``, `"` + strings.Repeat("x", 5<<20) + `"`,
	} {
		file := filepath.Join(t.TempDir(), "payload")
		t.Logf("%d bytes", len(payload))
		err := Handler([]string{"sh", "-c", `cat >"$1"`, "sh", file}, Options{})(t.Context(), &queue.Job{ID: 1, Payload: []byte(payload)})
		if got, readErr := os.ReadFile(file); err != nil || readErr != nil || !bytes.Equal(got, []byte(payload)) {
			t.Errorf("%v, %v: got %d bytes, want %d", err, readErr, len(got), len(payload))
		}
	}
}

func TestJobIsInTheEnvironmentAndNotInTheArguments(t *testing.T) {
	t.Setenv("LEASETOP_KIND", "of an outer worker")
	t.Setenv("TEST_INHERITED", "handed on")
	var p printed
	h := Handler([]string{"sh", "-c", `printf '%s\n' "$LEASETOP_JOB_ID" "$LEASETOP_QUEUE" "$LEASETOP_KIND" "$LEASETOP_ATTEMPT" "$TEST_INHERITED" "$#" "$1"; env | grep -c LEASETOP_KIND`, "sh", "a b"},
		Options{Output: p.add})
	job := &queue.Job{ID: 42, Queue: "e mails; rm", Kind: "", Attempts: 3, Payload: []byte(`{"x":1}`)}
	if err := h(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	want := []string{"out 42", "out e mails; rm", "out ", "out 3", "out handed on", "out 1", "out a b", "out 1"}
	if got := p.all(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if v, ok := os.LookupEnv(inside); ok {
		t.Errorf("%s=%s: children would be guards", inside, v)
	}
}

func TestChildNeedNotReadItsInput(t *testing.T) {
	t.Parallel()
	payload := []byte(`"` + strings.Repeat("x", 1<<20) + `"`)
	for _, script := range []string{"exit 0", "exec <&-; echo closed; exit 0", "head -c 10 >/dev/null"} {
		if err := sh(script, &printed{})(t.Context(), &queue.Job{ID: 1, Payload: payload}); err != nil {
			t.Errorf("%s: %v", script, err)
		}
	}
}

// Node.js and others fail on a standard stream that does not block.
func TestStandardStreamsBlock(t *testing.T) {
	t.Parallel()
	tool(t, "python3")
	var p printed
	h := Handler([]string{"python3", "-c", "import os; print([os.get_blocking(fd) for fd in (0, 1, 2)])"}, Options{Output: p.add})
	if err := h(t.Context(), &queue.Job{ID: 1}); err != nil {
		t.Fatal(err)
	}
	if got := p.all(); !slices.Equal(got, []string{"out [True, True, True]"}) {
		t.Errorf("%q", got)
	}
}

func TestProgramIsLookedUpBefore(t *testing.T) {
	t.Parallel()
	path, err := LookUp("sh")
	if err != nil || !filepath.IsAbs(path) {
		t.Errorf("sh is %q, %v", path, err)
	}
	for _, c := range []struct {
		program string
		want    error
	}{
		{"no-such-program-anywhere", nil},
		{filepath.Join(t.TempDir(), "missing"), fs.ErrNotExist},
		{script(t, "#!/bin/sh\n", 0o644), fs.ErrPermission},
		{t.TempDir(), nil},
		{"", nil},
	} {
		if path, err := LookUp(c.program); err == nil || !strings.Contains(err.Error(), c.program) || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%q is %q, %v", c.program, path, err)
		}
		if err := restless([]string{c.program})(t.Context(), &queue.Job{ID: 1}); !givenBack(err) {
			t.Errorf("a handler of %q: %v, want the job given back", c.program, err)
		}
	}
	if err := restless(nil)(t.Context(), &queue.Job{ID: 1}); !givenBack(err) {
		t.Errorf("a handler of nothing: %v", err)
	}
}
