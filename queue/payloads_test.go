package queue_test

import (
	"runtime"
	"testing"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

func TestPayloadsAreVerbatim(t *testing.T) {
	t.Parallel()
	q, err := queue.Open(t.Context(), testdb.New(t), queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	added, err := q.Enqueue(t.Context(),
		queue.NewJob{Queue: "emails", Payload: []byte(`{"n": 1970670598291982290, "tiny": 1e-400}`)},
		queue.NewJob{Queue: "emails"})
	if err != nil {
		t.Fatal(err)
	}
	found, err := q.Payloads(t.Context(), added[0].ID, added[1].ID, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 || string(found[added[1].ID]) != "{}" {
		t.Errorf("payloads are %v, want those of both jobs and no other", found)
	}
	got, err := q.Get(t.Context(), added[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if string(found[added[0].ID]) != string(got.Payload) {
		t.Errorf("payload is %s, Get says %s", found[added[0].ID], got.Payload)
	}
}

// TestAPayloadIsCopiedOnce runs by itself: it counts what the whole process allocates.
func TestAPayloadIsCopiedOnce(t *testing.T) {
	const size = 16 << 20
	q, err := queue.Open(t.Context(), testdb.New(t), queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	if _, err := q.Pool().Exec(t.Context(), "INSERT INTO leasetop.jobs (queue, payload) VALUES ('q', to_jsonb(repeat('x', $1)))", size-1000); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	found, err := q.Payloads(t.Context(), 1)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; err != nil || len(found[1]) < size-1000 || took > size*5/2 {
		t.Errorf("%d bytes were allocated for %d: %v", took, len(found[1]), err)
	}
}
