package watch

import (
	"syscall"
	"time"
)

// doze is time.Sleep, of which the shortest is a millisecond and more on Linux.
func doze(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&t, nil) // a signal may end it sooner
}
