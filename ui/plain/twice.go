package plain

import (
	"slices"
	"time"

	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/workers"
)

// nearly is how far apart the feed and the workers may date the same thing.
const nearly = 5 * time.Second

// kept is how many tellings wait for the other's.
const kept = 1000

// twice knows what both the feed and the workers of this process tell, and lets pass
// whichever tells it first.
type twice struct {
	once []telling // of late, by one of the two
}

// telling is that a job was reclaimed, or asked to be cancelled: it is no worker's own
// outcome, so both may have seen it.
type telling struct {
	job    int64
	what   string
	at     time.Time
	byFeed bool
}

// again reports whether the other of the two has told it already. Each telling
// answers one of the other's, so a job reclaimed twice is told twice.
func (t *twice) again(one telling) bool {
	if one.what == "" {
		return false
	}
	best, apart := -1, nearly
	for i, other := range t.once {
		if d := other.at.Sub(one.at).Abs(); other.job == one.job && other.what == one.what && other.byFeed != one.byFeed && d < apart {
			best, apart = i, d
		}
	}
	if best >= 0 {
		t.once = slices.Delete(t.once, best, best+1)
		return true
	}
	t.once = append(t.once, one)
	if len(t.once) > kept { // the other never told these
		t.once = t.once[len(t.once)-kept/2:]
	}
	return false
}

// ofFeed is what an event of the feed tells that the workers may tell too.
func ofFeed(e watch.Event) string {
	switch {
	case e.What == watch.Reclaimed, e.What == watch.Buried && e.OwnerLost(), e.What == watch.Cancelled && e.OwnerLost():
		return "reclaimed"
	case e.What == watch.CancelAsked:
		return "cancel asked"
	}
	return ""
}

// ofCrew is what an event of the workers tells that the feed may tell too.
func ofCrew(e workers.Event) string {
	switch e.What {
	case workers.ReapedBack, workers.ReapedDead:
		return "reclaimed"
	case workers.Cancelled:
		return "cancel asked"
	}
	return ""
}
