package ui

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue/alert"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/term"
)

// watchingFor has the dashboard watch limits.
func watchingFor(limits alert.Limits) stageOption {
	return func(c *Config) { c.Alerts.Limits = limits }
}

// dead sets how many dead letters emails has; images has two.
func (w *world) dead(n int64) {
	w.state.Depths.Queues[0].Failed, w.state.Depths.Queues[0].Dead = 0, n
}

// goOn lets time pass in which the figures are read again.
func (s *stage) goOn(d time.Duration) {
	s.now = s.now.Add(d)
	s.state.Depths.Read, s.state.Leases.Read = s.now, s.now
	s.pull()
}

func TestAlertsAreDrawn(t *testing.T) {
	t.Parallel()
	all := alert.Limits{alert.Dead: 10, alert.DeadRate: 0.1, alert.Age: 300, alert.Expired: 0, alert.ExpiredRate: 5}
	for _, size := range [][2]int{{120, 36}, {80, 24}, {60, 20}} {
		for _, c := range []struct {
			name   string
			limits alert.Limits
			then   func(s *stage)
		}{
			{"one", alert.Limits{alert.Dead: 10}, nil},
			{"kept", alert.Limits{alert.Dead: 100}, nil},
			{"many", all, nil},
			{"kept again", alert.Limits{alert.Dead: 10, alert.Age: 300}, func(s *stage) {
				s.dead(3)
				s.goOn(time.Second)
			}},
			{"cannot tell", all, func(s *stage) {
				polled(s.state, noStream)
				s.state.Depths.Read, s.state.Leases.Read = s.now, s.now
				s.pull()
				s.pass(alert.Patience)
			}},
			{"help", all, func(s *stage) {
				s.press("?")
				s.screen()
				s.press("G")
			}},
		} {
			t.Run(fmt.Sprintf("%s %dx%d", c.name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				s := newStage(t, newWorld(), size[0], size[1], watchingFor(c.limits))
				if c.then != nil {
					c.then(s)
				}
				term.Golden(t, s.screen())
			})
		}
	}
}

// A bell for each alert, once: not for one that goes on, nor for one that swings.
func TestTheBellRingsOnceForEachAlert(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.dead(0)
	s := newStage(t, w, 80, 24, watchingFor(alert.Limits{alert.Dead: 10, alert.Age: 3600}))
	s.goOn(time.Second)
	if s.sent != "" {
		t.Fatalf("sent %q while all is well", s.sent)
	}
	for range 5 {
		w.dead(9) // and two of images
		s.goOn(time.Second)
		w.dead(8)
		s.goOn(time.Second)
	}
	if s.sent != "\a" {
		t.Errorf("sent %q for one alert", s.sent)
	}
	s.goOn(alert.Hold)
	s.seesNot("alert ", "10 dead letters")
	w.dead(30)
	w.state.Depths.Queues[1].OldestReady = 2 * time.Hour
	s.goOn(time.Second)
	s.sees("! 2 alerts", "dead 32 > 10", "oldest 2h in images > 1h")
	if s.sent != "\a\a" {
		t.Errorf("sent %q for two more at once", s.sent)
	}
}

func TestNoBellAndNoNotificationUnlessWanted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		alerts Alerts
		want   string
	}{
		{Alerts{Silent: true}, ""},
		{Alerts{}, "\a"},
		{Alerts{Notify: OSC9}, "\a\x1b]9;leasetop · shop: 42 dead letters, more than 10\x1b\\"},
		{Alerts{Silent: true, Notify: OSC777}, "\x1b]777;notify;leasetop · shop;42 dead letters, more than 10\x1b\\"},
	} {
		c.alerts.Limits = alert.Limits{alert.Dead: 10}
		w := newWorld()
		w.dead(40)
		s := newStage(t, w, 80, 24, func(cfg *Config) { cfg.Alerts = c.alerts })
		if s.sent != c.want {
			t.Errorf("%+v: sent %q, want %q", c.alerts, s.sent, c.want)
		}
	}
}

// Whatever a queue is called: the request for a notification ends where it should.
func TestNotificationsAreOneRequestWhateverTheyHold(t *testing.T) {
	t.Parallel()
	for _, text := range append(hostile, "4;3;50", ";;;", "a;b", "x\x9cy", "x\u009cy") {
		for _, n := range []Notification{OSC9, OSC777} {
			w := newWorld()
			w.poison(text)
			w.state.Depths.Queues[0].OldestReady = time.Hour * 9
			s := newStage(t, w, 80, 24, func(c *Config) {
				c.Alerts = Alerts{Limits: alert.Limits{alert.Age: 60}, Silent: true, Notify: n}
			})
			fields := map[Notification]int{OSC9: 1, OSC777: 3}[n]
			rest, begins := strings.CutPrefix(s.sent, "\x1b]")
			rest, ends := strings.CutSuffix(rest, "\x1b\\")
			if !begins || !ends || strings.Count(rest, ";") != fields || strings.ContainsFunc(rest, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
				t.Errorf("%.20q: sent %q", text, s.sent)
			}
			if strings.HasPrefix(s.sent, "\x1b]9;") && !strings.HasPrefix(s.sent, "\x1b]9;leasetop") {
				t.Errorf("%.20q: another request than a notification: %q", text, s.sent)
			}
			harmless(t, s)
		}
	}
}

// While nothing is known nobody is called, and what is not known is not well.
func TestStaleFiguresRaiseNoAlertAndAreNotWell(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.dead(0)
	s := newStage(t, w, 120, 36, watchingFor(alert.Limits{alert.Dead: 10}))
	s.sees("alerts ✓")
	w.dead(40)
	w.state.Depths.Read = noon.Add(-time.Minute)
	s.pull()
	s.pass(alert.Patience)
	s.sees("alerts ?", "? cannot tell dead letters: it was last known 1m5s ago")
	if s.sent != "" {
		t.Errorf("sent %q", s.sent)
	}
	w.state.Depths.Read = s.now
	s.pull()
	s.sees("! 1 alert", "42 dead letters, more than 10")
}

// The picture may be frozen; the queue is not.
func TestAlertsAreRaisedWhileThePictureIsFrozen(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.dead(0)
	s := newStage(t, w, 120, 36, watchingFor(alert.Limits{alert.Dead: 10}))
	s.press("p")
	later := *w.state
	later.Version++
	later.Depths.Queues = append([]watch.QueueDepth(nil), later.Depths.Queues...)
	w.state = &later
	w.dead(40)
	s.goOn(time.Second)
	s.sees("FROZEN", "! 1 alert", "42 dead letters, more than 10")
	if s.sent != "\a" {
		t.Errorf("sent %q", s.sent)
	}
}

func TestWithoutLimitsNothingIsSaidOfAlerts(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 200, 50)
	s.seesNot("alert")
	s.press("?", "G")
	s.seesNot("Alerts")
}

// What does not fit on the line is counted, and never lost.
func TestAlertsThatHaveNoRoomAreCounted(t *testing.T) {
	t.Parallel()
	limits := alert.Limits{alert.Dead: 1, alert.DeadRate: 0.1, alert.Age: 1, alert.Expired: 0, alert.ExpiredRate: 0.1}
	w := newWorld()
	w.state.Leases.List[0].ExpiresAt = noon.Add(-time.Minute)
	s := newStage(t, w, 60, 24, watchingFor(limits))
	for width := 60; width <= 300; width += 3 {
		s.send(tea.WindowSizeMsg{Width: width, Height: 24})
		line := strings.Split(s.screen().Text(), "\n")[2]
		shown := strings.Count(line, "! ")
		more := 0
		if counted := regexp.MustCompile(`and (\d+) more`).FindStringSubmatch(line); counted != nil {
			more, _ = strconv.Atoi(counted[1])
		}
		if shown < 1 || shown+more != 5 {
			t.Fatalf("%d alerts and %d more at %d: %q", shown, more, width, line)
		}
	}
	s.send(tea.WindowSizeMsg{Width: 120, Height: 60})
	s.press("?")
	s.screen()
	s.press("G")
	s.sees("Alerts", "deaths a minute, at most 0.1: 0.4 deaths a minute, more than 0.1")
}
