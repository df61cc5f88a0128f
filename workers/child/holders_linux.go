package child

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// looks bounds how often killHolders looks for what was started while it looked.
const looks = 100

// killHolders kills the groups of all processes that hold one of these pipes. In
// the group of the worker, which is not only its own, it kills only the process: a
// child that has not come to a group of its own yet.
func killHolders(children map[string]bool, workers int) {
	pipes := map[string]bool{}
	for child := range children {
		for _, number := range strings.Split(child, ",") {
			pipes["pipe:["+number+"]"] = true
		}
	}
	for range looks {
		found := false
		links, _ := filepath.Glob("/proc/[0-9]*/fd/*")
		for _, link := range links {
			to, err := os.Readlink(link)
			if err != nil || !pipes[to] {
				continue
			}
			pid, err := strconv.Atoi(strings.Split(link, "/")[2])
			if err != nil || pid == os.Getpid() {
				continue
			}
			found = true
			if group, err := syscall.Getpgid(pid); err == nil && group > 1 && group != workers {
				_ = syscall.Kill(-group, syscall.SIGKILL)
			} else {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if !found {
			return
		}
	}
}
