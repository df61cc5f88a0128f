package workers

import (
	"context"
	"testing"
	"time"
)

// The job's lease is 30 s with a margin of 3 s, its claim was sent at 100 s.
func TestTimeWithoutAWordEndsBetweenTrustAndLease(t *testing.T) {
	t.Parallel()
	now := 100 * time.Second
	p := &Pool{o: Options{Lease: 30 * time.Second}, clock: func() time.Duration { return now }}
	r := &run{worker: &worker{pool: p}, length: 30 * time.Second}
	ctx := context.WithValue(t.Context(), runKey{}, r)
	expect := func(want time.Duration) {
		t.Helper()
		if left, ok := TrustedFor(ctx); left != want || !ok {
			t.Errorf("at %v: %v, %v, want %v", now, left, ok, want)
		}
	}
	r.grant(30*time.Second, now, now)
	expect(28500 * time.Millisecond)
	now += 10 * time.Second
	expect(18500 * time.Millisecond)
	r.grant(30*time.Second, now, now) // a heartbeat
	expect(28500 * time.Millisecond)
	now += time.Minute
	expect(-31500 * time.Millisecond)
	if left, ok := TrustedFor(t.Context()); left != 0 || ok {
		t.Errorf("outside of a handler: %v, %v", left, ok)
	}
}
