package without

import (
	"context"
	"testing"
)

func TestContextLacksWhatWasTakenOutAndNothingElse(t *testing.T) {
	t.Parallel()
	all := t.Context()
	one := With(all, Fencing)
	three := With(one, Trust, Mark)
	for _, of := range []struct {
		name  string
		ctx   context.Context
		lacks map[Protection]bool
	}{
		{"all", all, nil},
		{"one", one, map[Protection]bool{Fencing: true}},
		{"three", three, map[Protection]bool{Fencing: true, Trust: true, Mark: true}},
		{"three, without its end", context.WithoutCancel(three), map[Protection]bool{Fencing: true, Trust: true, Mark: true}},
	} {
		for _, p := range []Protection{Fencing, Reclaim, Trust, SkipLocked, Backoff, Mark, Canary} {
			if got := Lacks(of.ctx, p); got != of.lacks[p] {
				t.Errorf("%s: lacks %s: %v, want %v", of.name, p, got, of.lacks[p])
			}
		}
	}
}
