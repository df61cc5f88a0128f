package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/editor"
	"github.com/leasetop/leasetop/workers"
)

// hostile are texts that would act on the terminal, or bend what stands beside
// them, if they were printed as they are.
var hostile = []string{
	"\x1b]52;c;cm0gLXJmIC8=\x07",
	"\x1b]0;owned\x07",
	"\x1b[6n",
	"\x1bc",
	"\x1b[2J\x1b[H",
	"unfinished \x1b]",
	"c1 \u009b31m red",
	"\b\b\b\b\b\b",
	"over\rwritten",
	"two\nlines\r\n\tand a tab",
	"\u202egnp.exe",
	"zero\u200bwidth\u2066\u2069",
	"tags \U000e0041\U000e0042",
	"👩🏾‍💻 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇨🇭",
	"你好世界你好世界你好世界",
	"ｶﾞｷﾞｸﾞ",
	"z" + strings.Repeat("\u0301", 500),
	"\xff\xfe broken",
	strings.Repeat("long ", 800),
}

// poison puts a text wherever the database or a stranger can put one.
func (w *world) poison(text string) {
	s := w.state
	s.Server.User, s.Server.Host, s.Server.Database, s.Server.Version = text, text, text, text
	s.WAL.OK, s.WAL.Reason = false, text
	for i := range s.Depths.Queues {
		s.Depths.Queues[i].Queue = text + fmt.Sprint(i)
	}
	s.Pauses.List = nil
	for i := range s.Depths.Queues {
		s.Pauses.List = append(s.Pauses.List, queue.Pause{Queue: text + fmt.Sprint(i), Since: noon, By: text, Why: text})
	}
	s.Health = troubled()
	s.Health.Reason, s.Health.Drift.Reason = text, text
	for i := range s.Health.Open {
		o := &s.Health.Open[i]
		o.Name, o.User, o.Database, o.State = text, text, text, text
	}
	for i := range s.Health.Parts {
		s.Health.Parts[i].Name, s.Health.Parts[i].Made, s.Health.Parts[i].Lacks = text, text, text
	}
	for i := range s.Health.Slots {
		s.Health.Slots[i].Name = text
	}
	for i := range s.Leases.List {
		l := &s.Leases.List[i]
		l.Queue, l.Kind, l.CancelledBy = text, text, text
		l.Owner = text
		if i%2 == 0 {
			l.Owner = text + ":1:x/" + text + "#3"
		}
	}
	for i := range s.Dead.Latest {
		j := &s.Dead.Latest[i]
		j.Queue, j.Kind, j.LastError = text, text, text
	}
	for i := range w.jobs {
		j := &w.jobs[i]
		j.Queue, j.Kind, j.LastError, j.CancelledBy = text, text, text, text
		if j.Status == queue.Processing {
			j.LockedBy = text
			if i%2 == 0 {
				j.CancelledBy = ""
			}
		}
	}
	for i := range s.Events {
		e := &s.Events[i]
		e.Queue, e.Kind, e.Note, e.Owner = text, text, text, text
	}
	for i := range w.entries {
		a := &w.entries[i]
		a.By, a.Role, a.What, a.Filter, a.Reason = text, text, text, text, text
		if a.Error != "" {
			a.Error = text
		}
	}
	for i := range w.crew {
		c := &w.crew[i]
		c.Queues, c.LastError = []string{text, text}, text
		for k := range c.Running {
			c.Running[k].Queue, c.Running[k].Kind = text, text
		}
	}
}

// poisonInTurn gives every row another hostile text, of a length that a name may have.
func (w *world) poisonInTurn() {
	text := func(i int) string { return hostile[i%len(hostile)][:min(len(hostile[i%len(hostile)]), 255)] }
	s := w.state
	for i := range s.Depths.Queues {
		s.Depths.Queues[i].Queue = text(i)
	}
	for i := range s.Leases.List {
		l := &s.Leases.List[i]
		l.Queue, l.Kind, l.Owner = text(i), text(i+1), text(i+2)
	}
	for i := range s.Dead.Latest {
		j := &s.Dead.Latest[i]
		j.Queue, j.Kind, j.LastError = text(i), text(i+1), strings.Repeat(text(i+2), 8)
	}
}

// TestHostileTextDoesNothing shows every screen with each hostile text in every
// place: no control character reaches the terminal, every line is exactly as wide
// as the window, and borders stand where they stand with harmless text.
func TestHostileTextDoesNothing(t *testing.T) {
	t.Parallel()
	for _, text := range hostile {
		t.Run(fmt.Sprintf("%.12q", text), func(t *testing.T) {
			t.Parallel()
			for _, size := range [][2]int{{120, 36}, {80, 24}} {
				w := newWorld()
				w.poison(text)
				s := newStage(t, w, size[0], size[1])
				s.app.clustered = true
				for _, keys := range [][]string{{"1"}, {"P"}, {"esc", "tab"}, {"C"}, {"esc", "2"}, {"s"}, {"]"}, {"Q"}, {"esc", "/"}, {"esc", "3"}, {"r"}, {"esc", "D"}, {"esc", "space"}, {"/"}, {"esc", "esc", "enter"}, {"v", "j"}, {"esc", "*"}, {"r"}, {"esc", "esc", "4"}, {"K"}, {"esc", "n"}, {"esc", "?"}, {"esc", "h"}, {"G"}, {"esc", "L"}, {"G"}, {"enter"}, {"esc", "esc"}} {
					for _, k := range keys {
						s.later(k)
					}
					harmless(t, s)
				}
				s.later("esc")
				s.send(orderedMsg{done: text})
				harmless(t, s)
				s.send(orderedMsg{err: fmt.Errorf("%s", text)})
				harmless(t, s)
			}
		})
	}
}

// TestHostileJobDoesNothing does the same for the detail of one job.
func TestHostileJobDoesNothing(t *testing.T) {
	t.Parallel()
	for _, text := range hostile {
		for _, size := range [][2]int{{120, 36}, {80, 24}} {
			s := newStage(t, newWorld(), size[0], size[1])
			s.app.clustered = true
			s.press("3", "tab", "enter")
			j := sampleJob(s.detail().id)
			j.Queue, j.Kind, j.LastError, j.IdempotencyKey, j.CancelledBy = text, text, text, text, text
			quoted, _ := json.Marshal(text)
			j.Payload = json.RawMessage(`{"` + text + `": ` + string(quoted) + `, "raw": "` + text)
			for i := range j.Errors {
				j.Errors[i] = queue.Attempt{Attempt: i, At: noon, Worker: text, Outcome: text, Error: text}
			}
			s.detail().Took(jobMsg{id: j.ID, job: j, length: len(j.Payload)})
			s.send(tea.ResumeMsg{})
			harmless(t, s)
			for _, keys := range [][]string{{"enter"}, {"tab"}, {"G"}, {"z"}, {"Y"}, {"esc", "D"}, {"esc", "r"}, {"esc"}} {
				for _, k := range keys {
					s.later(k)
				}
				harmless(t, s)
			}
			s.send(originalsMsg{id: j.ID, originals: []queue.Original{{At: noon, By: text, Reason: text, Payload: j.Payload}}})
			harmless(t, s)
			e := &edit{id: j.ID, status: j.Status, was: j.Payload, text: "{\n" + text + "\n}", editor: editor.Editor{Name: text}, draft: &editor.Draft{Path: text}}
			for _, came := range []string{`{"` + text, string(quoted), text} {
				s.send(reviewMsg{edit: e, text: came, ended: errors.New(text), problem: editor.Check(came)})
				s.pass(swallow)
				harmless(t, s)
				s.app.dialogs.Pop()
			}
			s.app.edited(editedMsg{edit: e, err: fmt.Errorf("%s: %w", text, queue.ErrEdited)})
			s.pass(swallow)
			harmless(t, s)
			s.later("enter")

			pause := queue.Pause{Queue: text, Since: noon, By: text, Why: text}
			j.Status, j.DiedAt = queue.Pending, nil
			s.detail().Took(jobMsg{id: j.ID, job: j, length: len(j.Payload), waiting: &queue.Waiting{Paused: &pause}})
			s.send(tea.ResumeMsg{})
			harmless(t, s)
			j.Status, j.LockedBy = queue.Processing, text
			s.detail().Took(jobMsg{id: j.ID, job: j, length: len(j.Payload)})
			s.send(tea.ResumeMsg{})
			s.later("T")
			harmless(t, s)
		}
	}
}

func harmless(t *testing.T, s *stage) {
	t.Helper()
	view := s.app.View()
	for _, r := range view.WindowTitle {
		if unicode.IsControl(r) {
			t.Fatalf("control character %U in the window's title", r)
		}
	}
	lines := strings.Split(view.Content, "\n")
	if len(lines) != s.app.h {
		t.Fatalf("%d lines in a window of %d", len(lines), s.app.h)
	}
	for i, line := range lines {
		if n := ansi.StringWidth(line); n != s.app.w {
			t.Fatalf("line %d is %d cells wide in a window of %d: %q", i, n, s.app.w, ansi.Strip(line))
		}
		// Colours are all that may remain of escape sequences.
		rest := line
		for {
			at := strings.IndexByte(rest, '\x1b')
			if at < 0 {
				break
			}
			end := strings.IndexByte(rest[at:], 'm')
			if !strings.HasPrefix(rest[at:], "\x1b[") || end < 0 || strings.Trim(rest[at+2:at+end], "0123456789;") != "" {
				t.Fatalf("an escape sequence in line %d: %q", i, rest[at:])
			}
			rest = rest[at+end+1:]
		}
		for _, r := range ansi.Strip(line) {
			if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control) {
				t.Fatalf("%U in line %d: %q", r, i, line)
			}
		}
	}
	f := s.screen()
	if s.app.w < wideWidth || len(s.app.dialogs.open) > 0 {
		return
	}
	for y := 3; y < f.Height-3; y++ {
		left, right := f.Cell(0, y).Content, f.Cell(f.Width-1, y).Content
		if !strings.Contains("│╭╰", left) || !strings.Contains("│╮╯", right) {
			t.Fatalf("the border is bent in line %d:\n%s", y, f.Text())
		}
	}
}

func TestWorkersOfOthersAreNamedByTheirHost(t *testing.T) {
	t.Parallel()
	p := picture{workers: []workers.Snapshot{{Name: "w1", Owner: "here:1:aa/w1", State: workers.Crashed}}}
	for owner, want := range map[string]string{
		"here:1:aa/w1#7":  "w1",
		"there:1:aa/w1#7": "w1@there",
		"node-17":         "node-17",
	} {
		if got := p.holder(owner).name; got != want {
			t.Errorf("%q is shown as %q, want %q", owner, got, want)
		}
	}
	if p.holder("here:1:aa/w1#7").gone() != "crashed" || p.holder("there:1:aa/w1#7").gone() != "" {
		t.Error("the crash is told of the wrong worker")
	}
}
