package scenario

import (
	"testing"
	"time"
)

func TestShortSoakKeepsEveryPromise(t *testing.T) {
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
