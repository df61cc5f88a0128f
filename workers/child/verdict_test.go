package child

import (
	"strings"
	"testing"

	"github.com/leasetop/leasetop/queue"
)

func TestEndOfTheChildDecides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script, want string
		permanent          bool
	}{
		{"success", "echo fine >&2", "", false},
		{"temporary failure", "echo try later >&2; exit 75", "exit status 75: try later", false},
		{"bad data", "echo bad input >&2; exit 65", "exit status 65: bad input", true},
		{"a status that was named", "exit 7", "exit status 7", true},
		{"a script that fails", "echo no route >&2; exit 1", "exit status 1: no route", false},
		{"a program that is not found", "no-such-program", "exit status 127: ", false},
		{"nothing said", "echo on the wrong stream; exit 64", "exit status 64", false},
		{"several lines", "printf 'one\\r\\ntwo\\n\\n' >&2; exit 2", "exit status 2: two\n\none\ntwo", false},
		{"a signal", "echo last words >&2; kill -SEGV $$", "killed by SIGSEGV", false},
		{"kill -9", "kill -KILL $$", "killed by SIGKILL", false},
		{"a service manager's SIGTERM", "kill -TERM $$", "killed by SIGTERM", false},
		{"Ctrl-C", "kill -INT $$", "killed by SIGINT", false},
		{"a shell's child that was killed", "sh -c 'kill -KILL $$'; exit $?", "exit status 137", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			do := Handler([]string{"sh", "-c", c.script}, Options{Output: (&printed{}).add, Poison: []int{7}})
			err := do(t.Context(), &queue.Job{ID: 1})
			if c.want == "" {
				if err != nil {
					t.Errorf("%v", err)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || queue.IsPermanent(err) != c.permanent {
				t.Errorf("%q, permanent %v; want %q, permanent %v", err, queue.IsPermanent(err), c.want, c.permanent)
			}
		})
	}
}

// Dead letters are grouped by the first line of their errors.
func TestTheLineThatTellsMostComesFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ said, head string }{
		"one line": {"bad input", "bad input"},
		"Python":   {"Traceback (most recent call last):\n  File \"p.py\", line 3, in <module>\n    raise ValueError(\"bad\")\nValueError: bad", "ValueError: bad"},
		"Node.js": {
			"file:///n.mjs:3\nif (x) throw new Error('bad');\n             ^\n\nError: bad\n    at file:///n.mjs:3:23\n\nNode.js v20.20.2", "Error: bad",
		},
		"Java":         {"Exception in thread \"main\" java.lang.RuntimeException: outer\n\tat A.main(A.java:3)\nCaused by: java.io.IOException: inner\n\t... 1 more", "Caused by: java.io.IOException: inner"},
		"Ruby":         {"j.rb:1:in 'f': bad (RuntimeError)\n\tfrom j.rb:2:in 'main'", "j.rb:1:in 'f': bad (RuntimeError)"},
		"a log":        {"INFO begin\nINFO half way\nERROR disk full", "ERROR disk full"},
		"all indented": {"  a\n  b", "  a"},
		"a long line":  {"x\n" + strings.Repeat("é", 1000), strings.Repeat("é", headKept/2) + "…"},
	} {
		got := headed(c.said)
		if head, _, _ := strings.Cut(got, "\n"); head != c.head || !strings.HasSuffix(got, c.said) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
