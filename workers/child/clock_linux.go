package child

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootClock is the same for every process, and goes on while the machine sleeps.
func bootClock() (now time.Duration, ok bool) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}
