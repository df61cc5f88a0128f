package languages

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// language is one that a worker is written in.
type language struct {
	name, worker, handlers string
	find                   func() installed
}

// installed is what runs a language's programs; why says what is missing.
type installed struct{ interpreter, modules, why string }

var languages = []language{
	{"node", "worker.mjs", "handlers.mjs", sync.OnceValue(findNode)},
	{"python", "worker.py", "handlers.py", sync.OnceValue(findPython)},
}

// each runs a test for every language, and skips those that are not installed.
func each(t *testing.T, test func(*testing.T, language)) {
	t.Parallel()
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			l.skip(t)
			test(t, l)
		})
	}
}

func (l language) skip(t *testing.T) {
	t.Helper()
	if why := l.find().why; why != "" {
		t.Skip(why)
	}
}

// findNode finds node, and a folder with its package pg: LEASETOP_NODE_PG names one,
// or node resolves it from here.
func findNode() installed {
	node, err := exec.LookPath("node")
	if err != nil {
		return installed{why: "node is not installed"}
	}
	if folder := os.Getenv("LEASETOP_NODE_PG"); folder != "" {
		folder, _ = filepath.Abs(folder) // a wrong one is told by node
		return installed{interpreter: node, modules: filepath.Join(folder, "node_modules")}
	}
	out, err := exec.Command(node, "-p", `require.resolve("pg/package.json")`).Output()
	if err != nil {
		return installed{why: "node finds no package pg: npm install --prefix FOLDER pg, and LEASETOP_NODE_PG=FOLDER"}
	}
	return installed{interpreter: node, modules: filepath.Dir(filepath.Dir(strings.TrimSpace(string(out))))}
}

// findPython finds a Python that has psycopg: the system's may be another than PATH's.
func findPython() installed {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import psycopg, sys; sys.exit(sys.version_info < (3, 9))").Run() == nil {
			return installed{interpreter: name}
		}
	}
	return installed{why: "no python3 has psycopg 3: on Debian it is the package python3-psycopg"}
}

// process is a worker in a process of its own.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser

	mu      sync.Mutex
	lines   []string      // what it said, on standard output and standard error
	changed chan struct{} // closed and replaced when it says more, closed for good at its end
	over    bool
}

// options are what the tests' programs give their workers; zero is the worker's default.
type options struct {
	URL    string   `json:"url"`
	Queues []string `json:"queues"`
	Slots  int      `json:"slots,omitempty"`
	Lease  float64  `json:"lease,omitempty"` // seconds
	Grace  float64  `json:"grace,omitempty"`
}

// start runs a language's worker with the handler of the tests.
func start(t *testing.T, l language, o options) *process {
	t.Helper()
	if o.Queues == nil {
		o.Queues = []string{"emails"}
	}
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return launch(t, l, []string{l.handlers}, "OPTIONS="+string(text))
}

// launch runs a language's program in a folder of its own, where its worker stands as a
// user would have copied it.
func launch(t *testing.T, l language, argv []string, env ...string) *process {
	t.Helper()
	dir, found := t.TempDir(), l.find()
	for _, from := range []string{l.worker, filepath.Join("testdata", l.handlers)} {
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(from)), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if found.modules != "" {
		if err := os.Symlink(found.modules, filepath.Join(dir, "node_modules")); err != nil {
			t.Fatal(err)
		}
	}
	p := &process{t: t, cmd: exec.Command(found.interpreter, argv...), changed: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = dir, append(append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1"), env...)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = p.cmd.Stdout
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.follow(out)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		<-ended
		for _, line := range p.lines {
			if strings.Contains(line, "Warning") || strings.HasPrefix(line, "Traceback") {
				t.Errorf("the %s worker said %q", l.name, line)
			}
		}
		if t.Failed() {
			t.Logf("the %s worker said:\n  %s", l.name, strings.Join(p.lines, "\n  "))
		}
	})
	return p
}

// follow reads what the process says, to its end.
func (p *process) follow(out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		p.mu.Lock()
		p.lines = append(p.lines, lines.Text())
		close(p.changed)
		p.changed = make(chan struct{})
		p.mu.Unlock()
	}
	_ = p.cmd.Wait() // its exit status is asked for by exit
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	close(p.changed)
}

// patience is for a process that does not do what it should.
const patience = 60 * time.Second

// says waits for a line that matches and returns what its groups matched.
func (p *process) says(pattern string) []string {
	p.t.Helper()
	re := regexp.MustCompile("^" + pattern + "$")
	late := time.After(patience)
	for next := 0; ; {
		p.mu.Lock()
		lines, changed, over := p.lines[next:], p.changed, p.over
		next = len(p.lines)
		p.mu.Unlock()
		for _, line := range lines {
			if found := re.FindStringSubmatch(line); found != nil {
				return found[1:]
			}
		}
		if over {
			p.t.Fatalf("it ended without saying %s", pattern)
		}
		select {
		case <-changed:
		case <-late:
			p.t.Fatalf("it does not say %s", pattern)
		}
	}
}

// count is how many lines so far match.
func (p *process) count(pattern string) (n int) {
	re := regexp.MustCompile("^" + pattern + "$")
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.lines {
		if re.MatchString(line) {
			n++
		}
	}
	return n
}

func (p *process) tell(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// exit waits for the end and returns the exit status; -1 is a signal.
func (p *process) exit() int {
	p.t.Helper()
	late := time.After(patience)
	for {
		p.mu.Lock()
		changed, over := p.changed, p.over
		p.mu.Unlock()
		if over {
			return p.cmd.ProcessState.ExitCode()
		}
		select {
		case <-changed:
		case <-late:
			p.t.Fatal("it does not end")
		}
	}
}
