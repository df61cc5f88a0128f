package child

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// As process 1 of a container has it.
func TestOrphansOfAJobAreReapedByAWorkerThatIsTheirInit(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("nobody else becomes the parent of orphans by asking")
	}
	o := startOuter(t, asInit+"=1")
	up := filepath.Join(t.TempDir(), "up")
	pids := o.run(t, "sleep 1000 & echo $!; sh -c 'sleep 1000 & echo $!; echo >"+up+"; wait' & echo $!; until [ -e "+up+" ]; do :; done", 3)
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		left := childrenOf(t, o.Process.Pid)
		if len(left) == 1 && strings.HasPrefix(left[0], guardsName) {
			break // which it always is when the job has ended
		}
		if time.Now().After(end) {
			t.Fatalf("the worker still has the children %q", left)
		}
	}
	for _, pid := range pids {
		dies(t, "an orphan", pid)
	}
}

// childrenOf are the name and state of each.
func childrenOf(t *testing.T, parent int) (children []string) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stats {
		text, _ := os.ReadFile(path)
		before, after, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(after)
		if _, name, ok := strings.Cut(before, "("); ok && len(fields) > 1 && fields[1] == fmt.Sprint(parent) {
			children = append(children, name+" "+fields[0])
		}
	}
	return children
}
