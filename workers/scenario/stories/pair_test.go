package stories

import "testing"

// The dead primary's count stands; the standby goes on from there.
func TestPairTellsWhatEachServerHas(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		name              string
		pair              *pair
		primary, standby  float64
		primaryIs, thenIs string
		dead              bool
	}{
		{"both run", &pair{first: 70, second: 69}, 70, 69, "takes writes", "copies each commit, takes no writes itself", false},
		{"the primary is dead", &pair{first: 70, second: 70, dead: true}, 70, 70, "dead", "copies each commit, takes no writes itself", true},
		{"the standby has taken over", &pair{first: 70, second: 90, dead: true, promoted: true}, 70, 90, "dead", "the primary now: takes writes", true},
	} {
		bars := one.pair.bars()
		if bars[0].Value != one.primary || bars[1].Value != one.standby {
			t.Errorf("%s: %v and %v jobs", one.name, bars[0].Value, bars[1].Value)
		}
		if bars[0].Note != one.primaryIs || bars[1].Note != one.thenIs || bars[0].Bad != one.dead || bars[1].Bad || bars[0].Over {
			t.Errorf("%s: %+v", one.name, bars)
		}
	}
}
