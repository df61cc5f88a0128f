package child

import (
	"bufio"
	"io"
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
	_, _ = up.Write([]byte("r"))
	_ = up.Close()
	for group := range living(told) {
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
}

// living reads which groups begin and end until nobody can tell any more, and
// returns those that are left.
func living(told io.Reader) map[int]bool {
	groups := map[int]bool{}
	for lines := bufio.NewReader(told); ; {
		line, err := lines.ReadString('\n')
		if err != nil { // a line without its end is no line
			return groups
		}
		group, err := strconv.Atoi(strings.TrimSuffix(line[1:], "\n"))
		switch {
		case err != nil || group <= 1: // 1 and 0 would be everybody, and ourselves
		case line[0] == '+':
			groups[group] = true
		case line[0] == '-':
			delete(groups, group)
		}
	}
}
