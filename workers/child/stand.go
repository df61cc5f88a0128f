package child

import (
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// stand is the guard's whole life.
func stand(told *os.File, up io.WriteCloser) {
	// What ends the worker must not end its guard. A service manager, for one, sends
	// its signals to every process there is.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGPIPE)
	callItself(guardsName)
	workers, _ := syscall.Getpgid(os.Getppid())
	_, _ = up.Write([]byte("r"))
	_ = up.Close()
	r := remains{groups: map[int]time.Duration{}, starting: map[string]bool{}, kill: func(group int) { _ = syscall.Kill(-group, syscall.SIGKILL) }}
	r.listen(told, func(most time.Duration) bool { return readable(told, most) })
	for group := range r.groups {
		r.kill(group)
	}
	if len(r.starting) > 0 {
		killHolders(r.starting, workers)
	}
}

// remains are what must be killed when the worker ends: groups, each with the time by
// which it must have ended in any case (0 if there is none), and children that were
// about to start, each by the numbers of its pipes.
type remains struct {
	groups   map[int]time.Duration
	starting map[string]bool
	kill     func(group int)
}

// listen heeds what is told until nobody can tell any more. ready waits, up to most,
// for something to read.
func (r *remains) listen(told io.Reader, ready func(most time.Duration) bool) {
	var begun string
	chunk := make([]byte, 4096)
	for {
		// Whoever is overdue is killed only when all that was told until then has been read,
		// so the clock is read first: who was prolonged in time lives, and a group that was
		// released may be somebody else's, once all numbers have gone round.
		now, _ := bootClock()
		if !ready(r.untilOverdue(now)) {
			r.killOverdue(now)
			continue
		}
		n, err := told.Read(chunk)
		begun += string(chunk[:n])
		for {
			line, rest, whole := strings.Cut(begun, "\n")
			if !whole {
				break // a line without its end is no line
			}
			r.heed(line)
			begun = rest
		}
		if err != nil {
			return
		}
	}
}

// heed takes in one line.
func (r *remains) heed(line string) {
	if line == "" {
		return
	}
	what, name := line[0], line[1:]
	switch what {
	case '?':
		r.starting[name] = true
	case '!':
		delete(r.starting, name)
	case '+':
		number, end, _ := strings.Cut(name, " ")
		until, _ := strconv.ParseInt(end, 10, 64)
		if group, err := strconv.Atoi(number); err == nil && group > 1 { // 1 and 0 would be everybody, and ourselves
			r.groups[group] = time.Duration(until)
		}
	case '-':
		group, _ := strconv.Atoi(name)
		delete(r.groups, group)
	}
}

// look is the longest time between two looks at the clock, while there is a reason
// to: waiting stands still while the machine sleeps.
const look = time.Second

// untilOverdue is how long until the next group is overdue, or it is time to look; an
// hour if none will be.
func (r *remains) untilOverdue(now time.Duration) time.Duration {
	most := time.Hour
	for _, until := range r.groups {
		if until != 0 {
			most = min(most, look, max(until-now, 0))
		}
	}
	return most
}

func (r *remains) killOverdue(now time.Duration) {
	for group, until := range r.groups {
		if until != 0 && until <= now {
			r.kill(group)
			r.groups[group] = 0 // until the worker is heard of, or ends
		}
	}
}

// readable waits until there is something to read, or the end.
func readable(told *os.File, most time.Duration) bool {
	for {
		// Rounded up, so that what is due then is due.
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(told.Fd()), Events: unix.POLLIN}}, int((most+time.Millisecond-1)/time.Millisecond))
		if err != unix.EINTR {
			return n != 0 || err != nil
		}
	}
}
