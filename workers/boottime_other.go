//go:build !linux

package workers

import "time"

// bootClock is the monotonic clock here. On macOS and Windows Go's own stops, or
// may stop, while the machine sleeps; the first heartbeat afterwards tells which
// leases were lost.
func bootClock() time.Duration { return monotonic() }
