//go:build !linux

package child

import "time"

// bootClock does not exist here: there is no clock that both processes read, that
// nobody sets, and that goes on while the machine sleeps.
func bootClock() (now time.Duration, ok bool) { return 0, false }
