package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leasetop/leasetop/ui/term"
)

// A server that hangs, as on a disk that is gone, holds up the end of the program for
// a few seconds and no longer; it stops by itself when it goes on.
func TestQuitsWhileTheServerHangs(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("it reads /proc to find the server's processes")
	}
	s := start(t, 100, 30)
	pids := s.server()
	signal := func(sig syscall.Signal) {
		for _, pid := range pids {
			_ = syscall.Kill(pid, sig)
		}
	}
	signal(syscall.SIGSTOP)
	defer signal(syscall.SIGCONT)
	s.Press("q")
	if _, err := s.Term.Exit(time.Minute); err != nil { // without bounds it took 90 s
		t.Fatal(err)
	}
	signal(syscall.SIGCONT)
	for end := time.Now().Add(term.Patience); ; time.Sleep(20 * time.Millisecond) {
		if err := syscall.Kill(pids[0], 0); err != nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the server goes on, though the last dashboard told it to stop")
		}
	}
}

// server is the process ids of the session's private server, the postmaster's first.
func (s *session) server() []int {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.home, "main", "data", "postmaster.pid"))
	if err != nil {
		s.t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	children, err := os.ReadFile(fmt.Sprintf("/proc/%s/task/%s/children", first, first))
	if err != nil {
		s.t.Skip(err)
	}
	var pids []int
	for _, field := range strings.Fields(first + " " + string(children)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			s.t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}
