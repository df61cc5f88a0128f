package queue

import (
	"testing"
	"time"
)

func TestKeyIsHeldByTheLiveJobOfItsQueueAlone(t *testing.T) {
	t.Parallel()
	q := open(t)
	holds := func(name, key string) int64 {
		t.Helper()
		return must[int64](t)(q.KeyHolder(t.Context(), name, key))
	}
	id := enqueue(t, q, NewJob{IdempotencyKey: "k"})
	enqueue(t, q, NewJob{})
	for _, c := range []struct {
		queue, key string
		want       int64
	}{{"emails", "k", id}, {"emails", "other", 0}, {"reports", "k", 0}, {"emails", "", 0}} {
		if got := holds(c.queue, c.key); got != c.want {
			t.Errorf("%q of %q is held by %d, want %d", c.key, c.queue, got, c.want)
		}
	}
	running := claim(t, q, time.Minute)
	if got := holds("emails", "k"); got != running.ID || running.ID != id {
		t.Errorf("while it runs, the key is held by %d, want %d", got, id)
	}
	if err := q.Bury(t.Context(), running.Lease(), "no"); err != nil {
		t.Fatal(err)
	}
	if got := holds("emails", "k"); got != 0 {
		t.Errorf("a dead letter holds its key: %d", got)
	}
}
