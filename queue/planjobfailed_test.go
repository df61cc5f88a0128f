package queue

import "testing"

// A job that is no dead letter any more, or whose key is in use, is an answer. One that was
// locked or refused is a failure.
func TestPlanTellsFailuresFromAnswers(t *testing.T) {
	t.Parallel()
	for reason, failed := range map[string]bool{
		"not a dead letter: completed": false, "already discarded": false, changed: false, NoSuchJob: false,
		"idempotency key in use by #4": false, "idempotency key was in use a moment ago": false,
		"locked by pid 7 (psql, ann, idle in transaction)": true, "locked by another transaction": true,
		"the server refuses it: not this one": true, "a trigger or a row policy of the table leaves the row as it was": true,
	} {
		if got := (PlanJob{State: "skipped", Reason: reason}).Failed(); got != failed {
			t.Errorf("%s: failed %v", reason, got)
		}
	}
	for reason, failed := range map[string]bool{"": false, "claimed since": false, "died again": false, "gone": false, "locked by pid 7 (psql, ann, 3 s)": true, "the server refuses it: not this one": true} {
		if got := (PlanJob{State: "redriven", Reason: reason}).Failed(); got != failed {
			t.Errorf("not taken back, %s: failed %v", reason, got)
		}
	}
	if (PlanJob{State: "left", Reason: "claimed"}).Failed() {
		t.Error("left in an undo")
	}
}
