package watch

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestADayOfEventsTakesNoMoreThanTwoHours runs by itself: it measures the whole process.
func TestADayOfEventsTakesNoMoreThanTwoHours(t *testing.T) {
	l := eventLog{kept: 20_000}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var early uint64
	for hour := range 24 {
		for n := range 25_000 {
			now := &row{id: int64(n), queue: "emails", owner: fmt.Sprintf("host:1:abcdef/w1#%d", n)}
			if n == 0 {
				now.owner = strings.Repeat("x", 8000)
			}
			e := event(Completed, now, now.owner, fmt.Sprintf("attempt %d of 3", n))
			e.Seq, e.At = uint64(hour*25_000+n+1), time.Now()
			l.add(e)
		}
		switch now := heap(); {
		case hour == 1:
			early = now
		case hour > 1 && now > early+1<<20:
			t.Fatalf("%d bytes after %d hours, %d after two", now, hour+1, early)
		}
		if len(l.list) > 25_000 || hour > 0 && len(l.after(0)) < l.kept {
			t.Fatalf("%d events are kept", len(l.list))
		}
	}
}
