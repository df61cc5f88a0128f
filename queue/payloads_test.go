package queue_test

import (
	"fmt"
	"iter"
	"runtime"
	"testing"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// inOrder returns the payloads that are read, each as its id and its text.
func inOrder(t *testing.T, payloads iter.Seq2[queue.Payload, error]) (found []string) {
	t.Helper()
	for p, err := range payloads {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, fmt.Sprintf("%d %s", p.ID, p.JSON))
	}
	return found
}

func TestPayloadsAreVerbatim(t *testing.T) {
	t.Parallel()
	q, err := queue.Open(t.Context(), testdb.New(t), queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	if _, err := q.Enqueue(t.Context(),
		queue.NewJob{Queue: "emails", Payload: []byte(`{"n": 1970670598291982290, "tiny": 1e-400}`)},
		queue.NewJob{Queue: "emails"}); err != nil {
		t.Fatal(err)
	}
	got, err := q.Get(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint([]string{"2 {}", "1 " + string(got.Payload), "2 {}"})
	if found := fmt.Sprint(inOrder(t, q.Payloads(t.Context(), 0, 2, 1<<40, 1, -1, 2, 3))); found != want {
		t.Errorf("payloads are %s, want %s", found, want)
	}
	if found := fmt.Sprint(inOrder(t, q.Payloads(t.Context(), 4, 1, 2))); found != `[1 {"n" 2 {}]` {
		t.Errorf("payloads of four characters are %s", found)
	}
}

// TestAPayloadIsCopiedOnce runs by itself: it counts what the whole process allocates.
func TestAPayloadIsCopiedOnce(t *testing.T) {
	const size = 16 << 20
	q := withLargePayloads(t, 1, size-1024) // the protocol reads into the next power of two
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := 0
	for p, err := range q.Payloads(t.Context(), 0, 1) {
		if err != nil {
			t.Fatal(err)
		}
		got = len(p.JSON)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; got < size-1024 || took > size*5/2 {
		t.Errorf("%d bytes were allocated for %d", took, got)
	}
}

// TestPayloadsAreReadOneAfterTheOther runs by itself: it measures what the whole process keeps.
func TestPayloadsAreReadOneAfterTheOther(t *testing.T) {
	const jobs, size = 6, 8 << 20
	q := withLargePayloads(t, jobs, size-1024)
	ids := []int64{1, 2, 3, 4, 5, 6}
	for most, bound := range map[int]uint64{0: 3 * size, 100: size / 2} {
		var before, now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		read := 0
		for _, err := range q.Payloads(t.Context(), most, ids...) {
			if err != nil {
				t.Fatal(err)
			}
			read++
			runtime.GC()
			runtime.ReadMemStats(&now)
			if kept := int64(now.HeapAlloc) - int64(before.HeapAlloc); kept > int64(bound) {
				t.Errorf("%d bytes are kept at payload %d of %d bytes, of which %d characters are asked for", kept, read, size, most)
			}
		}
		if read != jobs {
			t.Errorf("%d payloads of %d were read", read, jobs)
		}
	}
}

// withLargePayloads is a queue with jobs whose payloads are so large, and cannot be compressed.
func withLargePayloads(t *testing.T, jobs, size int) *queue.Queue {
	t.Helper()
	q, err := queue.Open(t.Context(), testdb.New(t), queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	if _, err := q.Pool().Exec(t.Context(), `
		INSERT INTO leasetop.jobs (queue, payload)
		SELECT 'q', to_jsonb((SELECT string_agg(md5(j * 100000 + i || ''), '') FROM generate_series(1, $2 / 32) AS i))
		FROM generate_series(1, $1) AS j`, jobs, size); err != nil {
		t.Fatal(err)
	}
	return q
}
