package alert

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
)

// shop is a State at noon, on a database whose clock is an hour ahead.
func shop() *watch.State {
	return &watch.State{
		Version: 1, Every: time.Second, Clock: watch.Clock{Skew: time.Hour, Known: true}, Notify: watch.Link{OK: true},
		Depths: watch.Depths{Source: watch.FromWAL, Read: noon, Queues: []watch.QueueDepth{
			{QueueDepth: queue.QueueDepth{Queue: "emails", Ready: 3, Failed: 7, Dead: 31, OldestReady: 134 * time.Second}},
			{QueueDepth: queue.QueueDepth{Queue: "images", Ready: 1, Dead: 3, OldestReady: 10 * time.Minute}},
		}},
		Traffic: watch.Traffic{Source: watch.FromWAL, Window: 10 * time.Minute, DeadPerMinute: 0.4, Expired: 5},
		Leases: watch.Leases{Source: watch.FromWAL, Read: noon, Total: 3, List: []watch.Lease{
			{ExpiresAt: noon.Add(time.Hour - Grace)}, {ExpiresAt: noon.Add(time.Hour - time.Second)}, {ExpiresAt: noon.Add(2 * time.Hour)},
		}},
		Dead: watch.Dead{Source: watch.Notice, Read: noon.Add(-time.Hour)},
	}
}

func TestFiguresAreThoseOfAllQueues(t *testing.T) {
	t.Parallel()
	want := Figures{Dead: {Value: 41}, DeadRate: {Value: 0.4}, Age: {Value: 600, Of: "images"}, Expired: {Value: 1}, ExpiredRate: {Value: 0.5}}
	if got := Read(shop(), noon); !maps.Equal(got, want) || len(got) != len(Measures) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestAPausedQueueIsNamedAsOne(t *testing.T) {
	t.Parallel()
	s := shop()
	s.Pauses.List = []queue.Pause{{Queue: "images", By: "ann"}}
	if got := Read(s, noon)[Age].Says(Age); got != "the oldest ready job has waited 10m in images, paused by ann" {
		t.Errorf("said %q", got)
	}
}

func TestNoReadyJobIsNoAge(t *testing.T) {
	t.Parallel()
	s := shop()
	s.Depths.Queues = nil
	if got := Read(s, noon)[Age]; got != (Figure{}) || got.Says(Age) != "no job is ready" {
		t.Errorf("%+v", got)
	}
}

// A figure of the past, or of nobody, is none.
func TestStaleFiguresAreNotKnown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(*watch.State)
		unknown map[Measure]string
	}{
		"nothing yet": {func(s *watch.State) { *s = watch.State{} }, map[Measure]string{
			Dead: "nothing is connected yet", DeadRate: "nothing is connected yet", Age: "nothing is connected yet", Expired: "nothing is connected yet", ExpiredRate: "nothing is connected yet",
		}},
		"no schema": {func(s *watch.State) { s.Server.SchemaMissing = true }, map[Measure]string{
			Dead: "there is no queue here yet", DeadRate: "there is no queue here yet", Age: "there is no queue here yet", Expired: "there is no queue here yet", ExpiredRate: "there is no queue here yet",
		}},
		"counts stand still": {func(s *watch.State) { s.Depths.Read = noon.Add(-4 * time.Second) }, map[Measure]string{
			Dead: "it was last known 4s ago", DeadRate: "it was last known 4s ago", Age: "it was last known 4s ago", ExpiredRate: "it was last known 4s ago",
		}},
		"leases stand still": {func(s *watch.State) { s.Leases.Read = noon.Add(-time.Minute) }, map[Measure]string{Expired: "it was last known 1m ago"}},
		"no stream":          {func(s *watch.State) { s.Traffic = watch.Traffic{} }, map[Measure]string{ExpiredRate: "that needs the WAL stream"}},
		"no stream, dead letters not read": {func(s *watch.State) { s.Traffic, s.Dead = watch.Traffic{}, watch.Dead{} }, map[Measure]string{
			ExpiredRate: "that needs the WAL stream", DeadRate: "it has not been read yet",
		}},
		"no stream, a reading of dead letters owed": {func(s *watch.State) { s.Traffic, s.Dead.Owed = watch.Traffic{}, noon.Add(-20*time.Second) }, map[Measure]string{
			ExpiredRate: "that needs the WAL stream", DeadRate: "it was last known 20s ago",
		}},
	} {
		s := shop()
		c.change(s)
		got := Read(s, noon)
		for _, m := range Measures {
			if got[m].Unknown != c.unknown[m] {
				t.Errorf("%s: %s is not known for %q, want %q", name, m, got[m].Unknown, c.unknown[m])
			}
		}
	}
}

func TestASlowPollIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := shop()
	s.Depths.Source, s.Every, s.Depths.Read = watch.Polled, 20*time.Second, noon.Add(-22*time.Second)
	if got := Read(s, noon)[Dead]; got.Unknown != "" || got.Value != 41 {
		t.Errorf("%+v", got)
	}
	if got := Read(s, noon.Add(2*time.Second))[Dead]; !strings.Contains(got.Unknown, "24s ago") {
		t.Errorf("%+v", got)
	}
}

func TestCappedCountsAreLowerBounds(t *testing.T) {
	t.Parallel()
	s := shop()
	s.Depths.Queues[1].AtLeast.Dead = true
	s.Leases.List, s.Leases.Total = s.Leases.List[:1], 500
	got := Read(s, noon)
	if want := (Figure{Value: 41, AtLeast: true}); got[Dead] != want {
		t.Errorf("%+v", got[Dead])
	}
	if want := (Figure{Value: 1, AtLeast: true}); got[Expired] != want {
		t.Errorf("%+v", got[Expired])
	}
}

// Without a stream the newest dead letters tell how many there were of late.
func TestDeathsAreCountedAmongTheNewestDeadLetters(t *testing.T) {
	t.Parallel()
	s := shop()
	s.Traffic = watch.Traffic{}
	database := noon.Add(time.Hour)
	for _, ago := range []time.Duration{time.Second, Window - time.Second, Window + time.Second, 24 * time.Hour} {
		at := database.Add(-ago)
		s.Dead.Latest = append(s.Dead.Latest, queue.Job{DiedAt: &at})
	}
	s.Dead.Total = 41
	if got, want := Read(s, noon)[DeadRate], (Figure{Value: 0.2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	s.Dead.Latest = s.Dead.Latest[:2] // there may be more of them than were read
	if got, want := Read(s, noon)[DeadRate], (Figure{Value: 0.2, AtLeast: true}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	s.Dead.Total = 2
	if got, want := Read(s, noon)[DeadRate], (Figure{Value: 0.2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
