package workers

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootClock goes on while the machine is suspended, which Go's monotonic clock
// (CLOCK_MONOTONIC) does not: a lease runs out in sleep too.
func bootClock() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return monotonic()
	}
	return time.Duration(t.Nano())
}
