//go:build !linux

package watch

import "time"

func doze(d time.Duration) { time.Sleep(d) }
