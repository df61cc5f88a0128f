package child

import (
	"bufio"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"
)

// outer is a worker process of the test's, whose children's lines can be read.
type outer struct {
	*exec.Cmd
	scripts io.Writer
	lines   chan string
}

func startOuter(t *testing.T, env ...string) *outer {
	t.Helper()
	o := &outer{Cmd: exec.Command(os.Args[0]), lines: make(chan string, 100)}
	o.Env = append(append(os.Environ(), asWorker+"=1"), env...)
	o.Stderr = os.Stderr
	in, err := o.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	o.scripts = in
	out, err := o.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for s := bufio.NewScanner(out); s.Scan(); {
			o.lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		_ = o.Process.Kill()
		<-read
		_ = o.Wait()
	})
	return o
}

// run starts a child and returns the first process ids that it prints.
func (o *outer) run(t *testing.T, script string, n int) (pids []int) {
	t.Helper()
	if _, err := io.WriteString(o.scripts, script+"\n"); err != nil {
		t.Fatal(err)
	}
	for len(pids) < n {
		pids = append(pids, number(t, receive(t, "a process id", o.lines)))
	}
	return pids
}

// guard finds the living guard of the worker, other than one that is no more.
func (o *outer) guard(t *testing.T, gone int) (pid int) {
	t.Helper()
	if _, err := exec.LookPath("ps"); err != nil {
		t.Skip("there is no ps here")
	}
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=,args=").Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			fields := strings.Fields(line)
			if len(fields) > 2 && fields[1] == strconv.Itoa(o.Process.Pid) && strings.HasSuffix(fields[2], "-guard") {
				if pid = number(t, fields[0]); pid != gone {
					return pid
				}
			}
		}
		if time.Now().After(end) {
			t.Fatal("there is no guard")
		}
	}
}

func (o *outer) kill(t *testing.T) {
	t.Helper()
	if err := o.Process.Kill(); err != nil {
		t.Fatal(err)
	}
}

// family prints the ids of a child and of two grandchildren, and ignores what can be ignored.
const family = `trap '' TERM HUP INT; sleep 1000 & echo $!; sh -c 'echo $$; exec sleep 1000' & echo $$; wait`

func TestNoChildOutlivesAWorkerThatIsKilled(t *testing.T) {
	t.Parallel()
	o := startOuter(t)
	pids := append(o.run(t, family, 3), o.run(t, family, 3)...)
	o.run(t, "exit 0", 0)
	o.kill(t)
	for _, pid := range pids {
		dies(t, "a child", pid)
	}
}

// The guard does not know their groups yet, but it knows their pipes.
func TestNoChildOutlivesAWorkerThatIsKilledWhileItStartsThem(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere nobody can tell who holds a pipe")
	}
	o := startOuter(t, dieEarly+"=1")
	// Its worker waits before it tells the group, and reads no output yet.
	file := filepath.Join(t.TempDir(), "pids")
	o.run(t, "exec >"+file+"; "+family, 0)
	var pids []int
	for end := time.Now().Add(patience); len(pids) < 3; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the child does not start")
		}
		pids = pids[:0]
		text, _ := os.ReadFile(file)
		for line := range strings.Lines(string(text)) {
			if strings.HasSuffix(line, "\n") {
				pids = append(pids, number(t, line))
			}
		}
	}
	o.kill(t)
	for _, pid := range pids {
		dies(t, "a child", pid)
	}
}

// killall and pkill go by that name.
func TestGuardIsNotCalledAsItsWorkerIs(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere it is")
	}
	o := startOuter(t)
	o.run(t, family, 3)
	comm := func(pid int) string {
		name, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(name))
	}
	if worker, guard := comm(o.Process.Pid), comm(o.guard(t, 0)); guard != guardsName || strings.Contains(guard, worker) {
		t.Errorf("the worker is called %q, its guard %q", worker, guard)
	}
}

// A service manager sends its signals to every process of a service.
func TestGuardStaysUntilItsWorkerHasEnded(t *testing.T) {
	t.Parallel()
	o := startOuter(t)
	pids := o.run(t, family, 3)
	guard := o.guard(t, 0)
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		if err := syscall.Kill(guard, s); err != nil {
			t.Fatal(err)
		}
	}
	o.kill(t)
	for _, pid := range append(pids, guard) {
		dies(t, "a child, or the guard,", pid)
	}
}

func TestGuardThatWasKilledIsReplacedAtOnce(t *testing.T) {
	t.Parallel()
	o := startOuter(t)
	pids := o.run(t, family, 3)
	guard := o.guard(t, 0)
	if err := syscall.Kill(guard, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	o.guard(t, guard)
	pids = append(pids, o.run(t, family, 3)...)
	for _, pid := range pids {
		if !alive(pid) {
			t.Fatal("the end of the guard ended a child")
		}
	}
	o.kill(t)
	for _, pid := range pids {
		dies(t, "a child", pid)
	}
}

func TestGuardKnowsWhichGroupsLive(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		told string
		want []int
	}{
		{"", nil},
		{"+17\n+18\n-17\n", []int{18}},
		{"+17\n-17\n+17\n", []int{17}},
		{"+17\n+1", []int{17}},
		{"+0\n+1\n+-5\nnonsense\n\n+\n", nil},
		{"-17\n+2\n+23", []int{2}},
		{"?7,8,9\n+17\n!7,8,9\n", []int{17}},
	} {
		for _, told := range []io.Reader{strings.NewReader(c.told), iotest.OneByteReader(strings.NewReader(c.told))} {
			r := remains{groups: map[int]time.Duration{}, starting: map[string]bool{}}
			r.listen(told, func(time.Duration) bool { return true })
			if got := slices.Sorted(maps.Keys(r.groups)); !slices.Equal(got, c.want) || len(r.starting) != 0 {
				t.Errorf("%q: %v, want %v; starting %v", c.told, got, c.want, r.starting)
			}
		}
	}
}
