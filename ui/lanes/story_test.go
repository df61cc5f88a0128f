package lanes

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// noon is when the stories begin.
var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// story feeds a Recorder four times a second with what a test says of the world.
type story struct {
	Recorder
	t       *testing.T
	now     time.Time
	lease   time.Duration
	held    map[int64]Held
	workers []Worker
	runs    []Run
	hung    map[string]bool // workers that renew nothing
}

func tell(t *testing.T, names ...string) *story {
	s := &story{t: t, now: noon, lease: 6 * time.Second, held: map[int64]Held{}, hung: map[string]bool{}}
	for _, name := range names {
		s.workers = append(s.workers, Worker{Name: name, State: "idle", Slots: 1})
	}
	s.see()
	return s
}

// see is one observation. Leases are renewed when a third of them is over.
func (s *story) see() {
	var held []Held
	for id, h := range s.held {
		if !s.hung[h.Worker] && h.Expires.Sub(s.now) <= s.lease*2/3 {
			h.Expires = s.now.Add(s.lease)
			s.held[id] = h
		}
		held = append(held, h)
	}
	s.Ran(s.now, s.runs)
	s.See(s.now, held, s.workers)
}

// pass lets seconds pass.
func (s *story) pass(seconds float64) *story {
	for until := s.now.Add(time.Duration(seconds * float64(time.Second))); s.now.Before(until); s.see() {
		s.now = s.now.Add(time.Second / 4)
	}
	return s
}

func (s *story) claim(job int64, worker string, attempt int) *story {
	s.held[job] = Held{Job: job, Worker: worker, Attempt: attempt, Queue: "emails", Kind: "send", Since: s.now, Expires: s.now.Add(s.lease), Renews: true}
	s.see()
	return s
}

func (s *story) finish(job int64) *story {
	delete(s.held, job)
	s.see()
	return s
}

func (s *story) turn(worker, state string) *story {
	for i := range s.workers {
		if s.workers[i].Name == worker {
			s.workers[i].State = state
		}
	}
	s.hung[worker] = state != "busy" && state != "idle" && state != "draining"
	s.see()
	return s
}

// draws compares the picture of the last seconds, a cell each.
func (s *story) draws(want string) {
	s.t.Helper()
	s.drawn(30*time.Second, 30, 20, want)
}

func (s *story) drawn(span time.Duration, width, height int, want string) {
	s.t.Helper()
	if got, want := s.picture(span, width, height), strings.Trim(strings.ReplaceAll(want, "\t", ""), "\n"); got != want {
		s.t.Errorf("drawn\n%s\n\nnot\n%s", got, want)
	}
}

func (s *story) picture(span time.Duration, width, height int) string {
	var lines []string
	for _, row := range s.Draw(s.now, span, width, height).Rows {
		line := row.Worker + " "
		for _, c := range row.Cells {
			line += string(c.Glyph)
		}
		lines = append(lines, line+"|")
	}
	return strings.Join(lines, "\n")
}

// explains compares the legend of the last half minute.
func (s *story) explains(want ...string) {
	s.t.Helper()
	var got []string
	for _, e := range s.Draw(s.now, 30*time.Second, 30, 20).Legend {
		got = append(got, e.Text())
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("the legend says %q, not %q", got, want)
	}
}
