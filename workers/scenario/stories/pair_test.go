package stories

import "testing"

// What was completed before the standby took over was so on the primary, and the rest on it.
func TestPairCountsWhatEachServerDid(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		name              string
		pair              *pair
		primary, standby  float64
		primaryIs, thenIs string
		dead              bool
	}{
		{"both run", &pair{all: 70}, 70, 0, "takes writes", "copies the primary, takes no writes", false},
		{"the primary is dead", &pair{all: 70, dead: true}, 70, 0, "dead", "copies the primary, takes no writes", true},
		{"the standby has taken over", &pair{dead: true, promoted: true, before: 60, all: 70}, 60, 10, "dead", "the primary now: takes writes", true},
	} {
		bars := one.pair.bars()
		if bars[0].Value != one.primary || bars[1].Value != one.standby {
			t.Errorf("%s: %v and %v jobs", one.name, bars[0].Value, bars[1].Value)
		}
		if bars[0].Note != one.primaryIs || bars[1].Note != one.thenIs || bars[0].Bad != one.dead || bars[1].Bad {
			t.Errorf("%s: %+v", one.name, bars)
		}
	}
}
