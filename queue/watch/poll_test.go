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

// A reading that waits, here for a lock, is as old as its beginning.
func TestSlowReadingIsNotTakenForAFreshOne(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	f := start(t, open(t, url), Options{Poll: -1, NoWAL: true})
	first := await(t, f, "a reading", func(s *State) bool { return listening(s) && s.Dead.Source != Unknown })
	somebody, psql := client(t, url), client(t, url)
	exec(t, somebody, "begin")
	exec(t, somebody, "lock table leasetop.jobs")
	poke(f.pollNow)
	giveUp := time.Now().Add(time.Minute)
	for number(t, psql, `select count(*)::int from pg_stat_activity
		where datname = current_database() and application_name = 'leasetop feed poll' and wait_event_type = 'Lock'`) == 0 {
		if time.Now().After(giveUp) {
			t.Fatal("no reading waits")
		}
	}
	waiting := time.Now()
	exec(t, somebody, "commit")
	s := await(t, f, "the next reading", func(s *State) bool { return s.Depths.Read.After(first.Depths.Read) })
	if late := s.Depths.Read.Sub(waiting); late > 0 {
		t.Errorf("the depths of a reading that waited are said to be read %v later", late)
	}
	if late := s.Leases.Read.Sub(waiting); late > 0 {
		t.Errorf("its leases are said to be read %v later", late)
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
