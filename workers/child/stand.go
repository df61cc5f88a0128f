package child

import (
	"bufio"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
)

// stand is the guard's whole life.
func stand(told io.Reader, up io.WriteCloser) {
	// What ends the worker must not end its guard. A service manager, for one, sends
	// its signals to every process there is.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGPIPE)
	workers, _ := syscall.Getpgid(os.Getppid())
	_, _ = up.Write([]byte("r"))
	_ = up.Close()
	left := listen(told)
	for group := range left.groups {
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
	if len(left.starting) > 0 {
		killHolders(left.starting, workers)
	}
}

// remains are what must be killed: groups, and children that were about to start,
// each by the numbers of its pipes.
type remains struct {
	groups   map[int]bool
	starting map[string]bool
}

// listen reads what begins and ends until nobody can tell any more, and returns
// what is left.
func listen(told io.Reader) remains {
	f := remains{groups: map[int]bool{}, starting: map[string]bool{}}
	for lines := bufio.NewReader(told); ; {
		line, err := lines.ReadString('\n')
		if err != nil { // a line without its end is no line
			return f
		}
		what, name := line[0], strings.TrimSuffix(line[1:], "\n")
		switch what {
		case '?':
			f.starting[name] = true
		case '!':
			delete(f.starting, name)
		case '+':
			if group, err := strconv.Atoi(name); err == nil && group > 1 { // 1 and 0 would be everybody, and ourselves
				f.groups[group] = true
			}
		case '-':
			group, _ := strconv.Atoi(name)
			delete(f.groups, group)
		}
	}
}
