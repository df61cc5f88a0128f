package alert

import (
	"time"

	"github.com/leasetop/leasetop/queue/watch"
)

// old is how old a figure may be that passes for the present. Where it is polled the time
// until the next reading comes to it.
const old = 3 * time.Second

// Read takes the figures of all queues together out of the live feed, at a moment of this
// machine's clock. What the feed does not know, or knew a while ago, is not known.
func Read(s *watch.State, local time.Time) Figures {
	f := Figures{}
	if why := nothing(s); why != "" {
		for _, m := range Measures {
			f[m] = Figure{Unknown: why}
		}
		return f
	}
	f.depths(s, local)
	f.deaths(s, local)
	f.leases(s, local)
	return f
}

// nothing says why nothing at all is known; "" when that is not so.
func nothing(s *watch.State) string {
	switch {
	case s.Version == 0:
		return "nothing is connected yet"
	case s.Server.SchemaMissing:
		return "there is no queue here yet"
	case s.Server.SchemaOld:
		return "this queue is of an older release"
	}
	return ""
}

// gone says why a figure does not pass for the present; "" when it does.
func gone(source watch.Source, known time.Time, every time.Duration, local time.Time) string {
	if source == watch.Unknown || known.IsZero() {
		return "it has not been read yet"
	}
	most := old
	if source != watch.FromWAL {
		most += every
	}
	if age := local.Sub(known); age > most {
		return "it was last known " + span(age) + " ago"
	}
	return ""
}

// depths takes what the counts tell.
func (f Figures) depths(s *watch.State, local time.Time) {
	if why := gone(s.Depths.Source, s.Depths.Read, s.Every, local); why != "" {
		f[Dead], f[Age] = Figure{Unknown: why}, Figure{Unknown: why}
		return
	}
	var dead, oldest Figure
	for i := range s.Depths.Queues {
		q := &s.Depths.Queues[i]
		dead.Value += float64(q.Failed + q.Dead)
		dead.AtLeast = dead.AtLeast || q.AtLeast.Failed || q.AtLeast.Dead
		if age := q.OldestReady.Seconds(); q.Ready > 0 && (age > oldest.Value || oldest.Of == "") {
			oldest.Value, oldest.Of = max(age, 0), q.Queue
			if pause, paused := s.Pauses.Of(q.Queue); paused {
				oldest.Of += ", paused by " + pause.By
			}
		}
	}
	f[Dead], f[Age] = dead, oldest
}

// deaths takes how many jobs became dead letters: as the stream counted them, else as the
// newest dead letters tell, of which a redriven one is none any more.
func (f Figures) deaths(s *watch.State, local time.Time) {
	if s.Traffic.Source == watch.FromWAL {
		// The counts of the stream are of one moment.
		if why := gone(s.Depths.Source, s.Depths.Read, s.Every, local); why != "" {
			f[DeadRate], f[ExpiredRate] = Figure{Unknown: why}, Figure{Unknown: why}
			return
		}
		f[DeadRate] = Figure{Value: s.Traffic.DeadPerMinute}
		// Over a minute at least: one in the first second is not sixty a minute.
		f[ExpiredRate] = Figure{Value: float64(s.Traffic.Expired) / max(s.Traffic.Window.Minutes(), 1)}
		return
	}
	f[ExpiredRate] = Figure{Unknown: "that needs the WAL stream"}
	if why := gone(s.Dead.Source, deadKnown(s, local), s.Every, local); why != "" {
		f[DeadRate] = Figure{Unknown: why}
		return
	}
	from, died := s.Clock.Now(local).Add(-Window), 0
	for i := range s.Dead.Latest {
		if at := s.Dead.Latest[i].DiedAt; at != nil && at.After(from) {
			died++
		}
	}
	all := died == len(s.Dead.Latest) && int64(died) < s.Dead.Total
	f[DeadRate] = Figure{Value: float64(died) / Window.Minutes(), AtLeast: all || died == len(s.Dead.Latest) && s.Dead.Capped}
}

// deadKnown is up to when the dead letters are known to be as read. As long as
// notifications arrive and none asks for another reading, nothing has changed.
func deadKnown(s *watch.State, local time.Time) time.Time {
	switch {
	case s.Dead.Source != watch.Notice:
		return s.Dead.Read
	case !s.Dead.Owed.IsZero():
		return s.Dead.Owed
	case s.Notify.OK:
		return local
	}
	return s.Dead.Read
}

// leases takes how many ran out and were not taken back.
func (f Figures) leases(s *watch.State, local time.Time) {
	if why := gone(s.Leases.Source, s.Leases.Read, s.Every, local); why != "" {
		f[Expired] = Figure{Unknown: why}
		return
	}
	from, expired := s.Clock.Now(local).Add(-Grace), 0
	for i := range s.Leases.List { // earliest expiry first
		if s.Leases.List[i].ExpiresAt.After(from) {
			break
		}
		expired++
	}
	more := expired == len(s.Leases.List) && (expired < s.Leases.Total || s.Leases.Capped)
	f[Expired] = Figure{Value: float64(expired), AtLeast: more}
}
