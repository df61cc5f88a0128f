package watch

import (
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

func TestSlowPollIsNotFollowedByALongRest(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]time.Duration{
		0:                      0,
		20 * time.Millisecond:  200 * time.Millisecond,
		200 * time.Millisecond: 2 * time.Second,
		time.Second:            2 * time.Second,
		3 * time.Second:        3 * time.Second,
	} {
		if got := restAfter(took); got != want {
			t.Errorf("after %v it rests %v, want %v", took, got, want)
		}
	}
}

// Where many jobs wait, compiling the count takes far longer than counting, and a plan
// that does not know the cap reads the table once for each queue.
func TestReadingsArePlannedForWhatTheyRead(t *testing.T) {
	t.Parallel()
	f := start(t, open(t, testdb.New(t)), Options{Poll: -1, NoWAL: true})
	await(t, f, "a reading", func(s *State) bool { return s.Polling.OK })
	for setting, want := range map[string]string{"jit": "off", "plan_cache_mode": "force_custom_plan", "statement_timeout": "5s"} {
		var got string
		do(t, f.reader.Pool().QueryRow(t.Context(), "select current_setting($1)", setting).Scan(&got))
		if got != want {
			t.Errorf("%s is %s, want %s", setting, got, want)
		}
	}
}

func TestPausedQueueOfALargeTableIsNotSaidToHaveNoCompleted(t *testing.T) {
	t.Parallel()
	paused := []queue.Pause{{Queue: "small"}}
	for _, exact := range []bool{true, false} {
		queues := withPaused([]QueueDepth{{QueueDepth: queue.QueueDepth{Queue: "bulk", CompletedExact: exact}}}, paused)
		if got := queues[1]; got.Queue != "small" || got.CompletedExact != exact {
			t.Errorf("beside counts that are exact (%v): %+v", exact, got)
		}
	}
}
