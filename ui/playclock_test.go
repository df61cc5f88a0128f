package ui

import (
	"testing"
	"time"
)

// What happened before a wait and after it stands side by side, however long it was, and
// nothing that was drawn moves.
func TestClockOfAPlayStandsStillWhileItWaits(t *testing.T) {
	t.Parallel()
	var c playClock
	at := func(s float64) time.Time { return noon.Add(time.Duration(s * float64(time.Second))) }
	is := func(when string, world, play float64) {
		t.Helper()
		if got := c.Of(at(world)); !got.Equal(at(play)) {
			t.Errorf("%s: second %v of the world is %v of the play, not %v", when, world, got.Sub(noon), play)
		}
	}
	c.Tick(at(0), false)
	c.Tick(at(2), true)
	is("as a wait begins", 2, 2)
	shown := waitShown.Seconds()
	c.Tick(at(2+shown/2), true)
	is("a moment later", 2+shown/2, 2+shown/2)
	if !c.Settling(at(2+shown/2)) || c.Settling(at(2+shown)) {
		t.Error("it comes to a stand sooner or later than it says")
	}
	for s := 3.0; s <= 62; s += 0.5 {
		c.Tick(at(s), true)
		is("while it waits", s, 2+shown)
		is("while it waits", s+2, 4+shown) // a lease that ends in two seconds
		is("while it waits", 1, 1)
	}
	c.Tick(at(62.1), false)
	is("as it goes on", 62.1, 2.1+shown)
	is("as it goes on", 30, 2+shown)
	c.Tick(at(64), true)
	c.Tick(at(70), true)
	is("in the next wait", 64, 4+shown)
	is("in the next wait", 70, 4+2*shown)
	is("in the next wait", 62.1, 2.1+shown)
	c.Tick(at(70.1), false)
	c.Tick(at(71), false)
	is("after it", 71, 5+2*shown)
}
