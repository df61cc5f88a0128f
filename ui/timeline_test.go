package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/term"
)

// trace is an error with a stack of so many frames.
func trace(first string, frames int) string {
	var b strings.Builder
	b.WriteString("panic: runtime error: " + first + "\n")
	for i := range frames {
		fmt.Fprintf(&b, "\ngoroutine %d\n\t/srv/app/handler.go:%d", i, 40+i)
	}
	return b.String()
}

// storied is a job to which everything happened that can.
func storied(id int64) *queue.Job {
	j := sampleJob(id)
	at := func(ago time.Duration) time.Time { return noon.Add(-ago) }
	j.Errors = []queue.Attempt{
		{Attempt: 1, At: at(9 * time.Hour), Worker: owner("w1", 2), Outcome: "retry", Error: "connect to 10.1.4.7:443 with token=s3cret: connection refused"},
		{Attempt: 2, At: at(8 * time.Hour), Worker: owner("w2", 2), Outcome: "failed", Error: "connect to 10.1.4.8:443 with token=s3cret: connection refused"},
		{Attempt: 2, At: at(7 * time.Hour), Worker: "ann@shop1", Outcome: "redriven"},
		{Attempt: 0, At: at(6 * time.Hour), Worker: "ann@shop1", Outcome: "taken back"},
		{Attempt: 0, At: at(5 * time.Hour), Worker: "bob@ops2", Outcome: "edited"},
		{Attempt: 0, At: at(4 * time.Hour), Worker: "bob@ops2", Outcome: "redriven"},
		{Attempt: 1, At: at(10 * time.Minute), Worker: owner("w1", 8), Outcome: "retry", Error: trace("index out of range [3] with length 3", 12)},
		{Attempt: 2, At: at(4 * time.Second), Worker: owner("w3", 11), Outcome: "buried", Error: trace("index out of range [4] with length 3", 12)},
	}
	j.LastError = j.Errors[7].Error
	return j
}

// atJob opens the page of a job.
func atJob(t *testing.T, w *world, j *queue.Job, width, height int) *stage {
	t.Helper()
	w.has(j)
	s := newStage(t, w, width, height)
	s.app.openJob(j.ID)
	s.send(wakeMsg{})
	return s
}

func TestJobsPageIsDrawn(t *testing.T) {
	t.Parallel()
	waits := sampleJob(90210)
	waits.Status, waits.DiedAt, waits.LastError, waits.Errors, waits.Attempts = queue.Pending, nil, "", nil, 0
	waits.RunAt = queue.At(noon.Add(-3 * time.Minute))
	for _, size := range [][2]int{{120, 36}, {80, 24}} {
		for _, c := range []struct {
			name    string
			job     *queue.Job
			prepare func(*world)
			keys    []string
			plain   bool
		}{
			{name: "a long history", job: storied(88007)},
			{name: "without colour", job: storied(88007), plain: true},
			{name: "a trace opened", job: storied(88007), keys: []string{"enter"}},
			{name: "payload folded", job: sampleJob(88007), keys: []string{"tab", "z"}},
			{name: "revealed", job: sampleJob(88007), keys: []string{"tab", "X"}},
			{name: "key in use", job: sampleJob(88007), prepare: func(w *world) { w.keyHolder = 90311 }},
			{name: "waiting", job: waits, prepare: func(w *world) {
				w.pause(emailsPaused)
				w.waiting = queue.Waiting{Paused: &emailsPaused, Ahead: 1204, Running: 4}
			}},
			{name: "refused", job: waits, prepare: func(w *world) {
				w.refused = map[int64]*queue.Refused{waits.ID: {Refusal: badRow(waits.ID), Queue: "emails", First: noon.Add(-3 * time.Minute), Last: noon.Add(-20 * time.Second), Times: 8}}
			}},
			{name: "copy", job: sampleJob(88007), keys: []string{"Y"}},
			{name: "discard", job: sampleJob(88007), keys: []string{"D"}},
		} {
			t.Run(fmt.Sprintf("%s %dx%d", c.name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				w := newWorld()
				if c.prepare != nil {
					c.prepare(w)
				}
				s := atJob(t, w, c.job, size[0], size[1])
				if c.plain {
					s.send(tea.ColorProfileMsg{Profile: colorprofile.ASCII})
				}
				for _, k := range c.keys {
					s.screen()
					s.press(k)
				}
				term.Golden(t, s.screen())
			})
		}
	}
}

// badRow is what the server says of a row that breaks somebody's rule.
func badRow(id int64) queue.Refusal {
	return queue.Refusal{
		JobID: id, Act: "claim", SQLSTATE: "23514", Reason: `new row for relation "jobs" violates check constraint "app_rule"`,
		Detail: "Failing row contains (90210, emails, {\"to\": \"ann@example.com\", \"api_key\": \"s3cret\"}, processing, 1, 5).",
	}
}

func TestNewestErrorComesFirstWithWhatIsNewInIt(t *testing.T) {
	t.Parallel()
	past, secrets := endings(storied(1).Errors, false)
	if secrets != 2 {
		t.Errorf("%d secrets are masked, want 2", secrets)
	}
	if past[0].Outcome != "buried" || past[0].since.words != 1 {
		t.Errorf("the first is %q with %d new words", past[0].Outcome, past[0].since.words)
	}
	for _, one := range past {
		if strings.Contains(one.text, "s3cret") {
			t.Errorf("a secret is shown: %s", one.text)
		}
		if deeds[one.Outcome] && one.differs() != "" {
			t.Errorf("what somebody did differs: %s", one.differs())
		}
	}
	if past[1].since.whole != true { // compared with the last error, not with the deeds between
		t.Errorf("the trace is compared with %+v", past[1].since)
	}
}

func TestLongErrorOpensAndFolds(t *testing.T) {
	t.Parallel()
	s := atJob(t, newWorld(), storied(88007), 120, 50)
	s.sees("▸ 23 lines more")
	s.seesNot("▾ fold")
	s.press("enter")
	s.sees("▾ fold 23 lines", "handler.go:51")
	s.press("enter")
	s.seesNot("▾ fold")
}

func TestKeyThatOpensNothingSaysSo(t *testing.T) {
	t.Parallel()
	s := atJob(t, newWorld(), sampleJob(88007), 120, 36)
	s.press("enter")
	s.sees("nothing opens or folds where the cursor is")
}

// An error of many lines is one line in a list, marked, and its page counts the others exactly.
func TestErrorOfManyLinesIsMarkedAndCounted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"alpha":                                 "alpha",
		"alpha\n":                               "alpha",
		"alpha\nbravo":                          "alpha …",
		"\n\nalpha \r\nbravo":                   "alpha …",
		"\n \n":                                 "an error of blank lines",
		"":                                      "",
		strings.Repeat("é", 600) + " token=x\n": strings.Repeat("é", 500) + " …",
	} {
		if got := briefly(text); got != want {
			t.Errorf("briefly(%.20q) = %q, want %q", text, got, want)
		}
	}
	job := storied(88007)
	job.LastError = strings.Repeat("line\n", 9_999) + "line"
	job.Errors = []queue.Attempt{{Attempt: 1, Outcome: "failed", Error: job.LastError}}
	s := atJob(t, newWorld(), job, 120, 50)
	s.sees("… 9,994 lines more", "▸ 9,996 lines more")
	past, _ := endings(job.Errors, false)
	lines, hidden := past[0].lines(newTheme(true, true), 50, true)
	if last := lines[len(lines)-1]; hidden != 9_996 || len(lines) != maxLines+1 || !strings.Contains(last, "8,000 lines more than are shown") {
		t.Errorf("open, it has %d lines, of %d beyond the first; it ends in %q", len(lines), hidden, last)
	}
}
