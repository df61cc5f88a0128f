package faults

import (
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

func TestPollingStormAsksWhetherOrNotThereIsWorkAndEndsItsSessions(t *testing.T) {
	t.Parallel()
	q, _ := open(t)
	const n = 5
	storm, err := PollingStorm(q, "q", "storm-", n, 5*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(storm.Stop)
	until(t, q, "SELECT count(*) = $1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'leasetop polling storm'", n)
	reaches(t, "polls of an empty queue", storm.Polls, 10*n)
	if storm.Connections() != n {
		t.Errorf("%d of %d are connected", storm.Connections(), n)
	}
	enqueue(t, q, make([]queue.NewJob, 20)...)
	until(t, q, "SELECT count(*) = 20 FROM leasetop.jobs WHERE status = 'completed' AND attempts = 1")
	ended := value[[]int32](t, q, "SELECT array_agg(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'leasetop polling storm'")
	run(t, q, "SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid", ended)
	until(t, q, "SELECT count(*) = $1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'leasetop polling storm' AND pid <> ALL ($2)", n, ended)
	storm.Stop()
	until(t, q, "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'leasetop polling storm'")
	if storm.Connections() != 0 {
		t.Errorf("after its end %d are connected", storm.Connections())
	}
}

// reaches waits until a counter has come that far.
func reaches(t *testing.T, what string, counter func() uint64, far uint64) {
	t.Helper()
	for deadline := time.Now().Add(patience); counter() < far; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d %s, want %d", counter(), what, far)
		}
	}
}

func TestPollingStormOfNobodyIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := PollingStorm(nil, "q", "w", 0, time.Second); err == nil {
		t.Error("no workers")
	}
	if _, err := PollingStorm(nil, "q", "w", 1, 0); err == nil {
		t.Error("no pause")
	}
}
