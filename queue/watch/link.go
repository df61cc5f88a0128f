package watch

import (
	"errors"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// linkNames are the connections in an operator's words.
var linkNames = map[Source]string{FromWAL: "WAL stream", Notice: "LISTEN connection", Polled: "poll"}

func (f *Feed) link(of Source) *Link {
	switch of {
	case FromWAL:
		return &f.draft.WAL
	case Notice:
		return &f.draft.Notify
	}
	return &f.draft.Polling
}

// up says that a connection works, and how far behind it is. It reports whether it
// did not before.
func (f *Feed) up(of Source, lag time.Duration) (turned bool) {
	now := time.Now()
	f.change(func() {
		l := f.link(of)
		turned = !l.OK
		if turned && f.told[of] != "" {
			note := "works again, after " + inWords(now.Sub(l.Since))
			if of == FromWAL {
				note += "; of what happened meanwhile only what polls showed is told"
			}
			f.health(of, note)
		}
		if turned {
			*l = Link{OK: true, Since: now}
			delete(f.told, of)
		}
		l.Heard, l.Lag = now, lag
	})
	return turned
}

// heard notes a sign of life.
func (f *Feed) heard(of Source, lag time.Duration) {
	f.note(func() {
		l := f.link(of)
		l.Heard, l.Lag = time.Now(), lag
	})
}

// down says that a connection does not work, and why. Each new reason is one event.
func (f *Feed) down(of Source, reason string) {
	f.change(func() {
		l := f.link(of)
		if l.OK {
			l.OK, l.Since = false, time.Now()
		}
		if f.told[of] != reason {
			f.health(of, reason)
			f.told[of] = reason
		}
		l.Reason, l.Attaching = reason, false
	})
}

// health appends an event about the feed itself. Call it within change.
func (f *Feed) health(of Source, note string) {
	f.happened(Event{
		At: f.skew.clock().Now(time.Now()), Source: of, What: Health,
		Note: linkNames[of] + ": " + note,
	})
}

// pause is how long to wait after so many failures in a row: a quarter of a second,
// doubling up to a limit, and a random part of it more, so that many dashboards do
// not come back in step.
func pause(failures int, limit time.Duration) time.Duration {
	d := min(250*time.Millisecond<<min(max(failures-1, 0), 12), limit)
	return d + time.Duration(rand.Int64N(int64(d)/4+1))
}

// say puts an error into one line without what a screen does not need.
func say(err error) string {
	var server *pgconn.PgError
	if errors.As(err, &server) {
		return server.Message + " (" + server.Code + ")"
	}
	var op *net.OpError
	if errors.As(err, &op) {
		at := ""
		if op.Addr != nil {
			at = " " + op.Addr.String()
		}
		return op.Op + at + ": " + op.Err.Error()
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}
