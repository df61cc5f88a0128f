package scenario

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestShortSoakKeepsEveryPromise(t *testing.T) {
	if testing.Short() {
		t.Skip("breaks things for 20 s")
	}
	t.Parallel()
	play := Start(t.Context(), Soak(20*time.Second), ground(t), Options{Seed: 1, Patience: 3})
	r := play.Result()
	t.Logf("%+v", r)
	for _, bar := range play.Picture().Bars {
		t.Logf("%s: %.0f", bar.Name, bar.Value)
	}
	if !r.OK {
		t.Error(r.Err)
	}
}

// However much is broken when a soak is stopped, nothing of it is left.
func TestStoppedSoakLeavesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	t.Parallel()
	g := ground(t)
	play := Start(t.Context(), Soak(time.Hour), g, Options{Seed: 2})
	await(t, play, "something breaks", func(p Picture) bool { return len(p.Bars) >= 3 })
	play.Stop()
	if r := play.Result(); !errors.Is(r.Err, ErrCancelled) || strings.Contains(r.Err.Error(), "clean up") {
		t.Errorf("it ended with %v", r.Err)
	}
	if left, _ := filepath.Glob(filepath.Join(g.Dir, serverPrefix+"soak-*")); len(left) > 0 {
		t.Errorf("it leaves %q", left)
	}
}
