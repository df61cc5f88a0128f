package ui

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/term"
)

var sizes = [][2]int{{120, 36}, {80, 24}, {100, 30}, {60, 20}, {59, 19}, {200, 50}}

// TestScreens compares every screen with its drawing, at the sizes where the
// layout changes.
func TestScreens(t *testing.T) {
	t.Parallel()
	for _, size := range sizes {
		for _, c := range []struct {
			name string
			keys []string
		}{
			{"overview", nil},
			{"overview, leases", []string{"tab", "j"}},
			{"overview, events", []string{"shift+tab"}},
			{"dead letters", []string{"3", "j", "space", "space"}},
			{"dead letters, list", []string{"3", "tab", "j", "space", "space"}},
			{"job", []string{"3", "tab", "enter"}},
			{"workers", []string{"4"}},
			{"redrive", []string{"3", "tab", "space", "space", "j", "r"}},
			{"kill", []string{"4", "K"}},
			{"spawn", []string{"4", "n"}},
			{"help", []string{"?"}},
		} {
			t.Run(fmt.Sprintf("%s %dx%d", c.name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				s := newStage(t, newWorld(), size[0], size[1])
				s.press(c.keys...)
				term.Golden(t, s.screen())
			})
		}
	}
}

func TestOtherStates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		prepare func(*world)
		options []stageOption
		keys    []string
	}{
		{"connecting", func(w *world) { w.state, w.crew = &watch.State{}, nil }, nil, nil},
		{"no schema", func(w *world) { w.state.Server.SchemaMissing = true }, nil, nil},
		{"empty", func(w *world) {
			w.crew = nil
			w.state.Depths.Queues, w.state.Leases.List, w.state.Leases.Total, w.state.Events = nil, nil, 0, nil
			w.state.Dead.Latest, w.state.Dead.Total = nil, 0
		}, []stageOption{noDemo}, nil},
		{"watching only", func(*world) {}, []stageOption{watchingOnly}, []string{"4"}},
		{"read only, no WAL", func(w *world) {
			w.state.Server.ReadOnly = true
			w.state.WAL = watch.Link{Reason: "wal_level is replica: set wal_level = logical and restart; events come from polling"}
		}, nil, []string{"3"}},
		{"old schema", func(w *world) { w.state.Server.SchemaOld = true }, nil, nil},
		{"dead letters never read", func(w *world) {
			w.down = errors.New("list dead letters: permission denied for table jobs: run GRANT SELECT ON leasetop.jobs TO app, or ask somebody who may")
		}, nil, []string{"3"}},
		{"unreachable", func(w *world) {
			w.state.Polling = watch.Link{Reason: "connection refused; trying again in 4s"}
			w.state.Notify.OK, w.state.WAL.OK = false, false
			w.state.Depths.Read = noon.Add(-42 * time.Second)
			w.state.Leases.Read = noon.Add(-42 * time.Second)
		}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			c.prepare(w)
			s := newStage(t, w, 100, 30, c.options...)
			s.press(c.keys...)
			term.Golden(t, s.screen())
		})
	}
}
