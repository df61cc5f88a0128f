package faults

import (
	"testing"

	"github.com/leasetop/leasetop/queue"
)

func TestPinnedVacuumRemovesNothingUntilItIsReleased(t *testing.T) {
	t.Parallel()
	q, _ := open(t)
	enqueue(t, q, make([]queue.NewJob, 100)...)
	release, err := PinVacuum(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = release() })
	run(t, q, "DELETE FROM leasetop.jobs")
	// What vacuum could not remove still has its line pointer, and is visible to nobody new.
	run(t, q, "CREATE EXTENSION IF NOT EXISTS pageinspect")
	const kept = "SELECT count(*) FILTER (WHERE lp_flags = 1)::int FROM generate_series(0, pg_relation_size('leasetop.jobs') / current_setting('block_size')::int - 1) AS b, heap_page_items(get_raw_page('leasetop.jobs', b::int))"
	run(t, q, "VACUUM leasetop.jobs")
	if n := value[int](t, q, kept); n != 100 {
		t.Errorf("%d of 100 dead rows are kept", n)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	if err := release(); err != nil {
		t.Errorf("released again: %v", err)
	}
	run(t, q, "VACUUM leasetop.jobs")
	if n := value[int](t, q, "SELECT (pg_relation_size('leasetop.jobs') / current_setting('block_size')::int)::int"); n != 0 {
		if n := value[int](t, q, kept); n != 0 {
			t.Errorf("%d dead rows are kept after the release", n)
		}
	}
	until(t, q, "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'leasetop long transaction'")
}
