package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/child"
)

// outcomes are one of each kind, as the pool tells them.
func outcomes() map[string]workers.Settled {
	job := &queue.Job{ID: 42, Queue: "e\x1bmails", Kind: "send", Attempts: 2, MaxAttempts: 5}
	hostile := errors.New("exit status 1: \x1b]0;pwned\x07 " + strings.Repeat("é", 1000) + "\nsecond line")
	done := func(status queue.Status, gaveBack bool, err error) workers.Settled {
		s := workers.Settled{Worker: "w1", Job: job, Status: status, GaveBack: gaveBack, Err: err, Took: 1234 * time.Millisecond}
		if status == queue.Pending && err != workers.ErrDrained { //nolint:errorlint // as it is given below
			s.Delay = 113456 * time.Millisecond
		}
		return s
	}
	return map[string]workers.Settled{
		"completed": done(queue.Completed, false, nil),
		"retried":   done(queue.Pending, false, hostile),
		"released":  done(queue.Pending, true, workers.ErrDrained),
		"snoozed":   done(queue.Pending, true, queue.Snooze(time.Hour)),
		"failed":    done(queue.Failed, false, hostile),
		"dead":      done(queue.Dead, false, hostile),
	}
}

func TestEachOutcomeOfWorkIsOneHarmlessLine(t *testing.T) {
	t.Parallel()
	for event, settled := range outcomes() {
		var out, lines bytes.Buffer
		l := testLog(t, Printer{Out: &out, Err: &lines})
		l.settled(settled)
		word := map[string]string{
			"completed": "completed in 1.234s",
			"retried":   "to be retried in 1m53s, ran for 1.234s",
			"snoozed":   "snoozed for 1m53s, ran for 1.234s",
		}[event]
		if word == "" {
			word = event + ", ran for 1.234s"
		}
		line := lines.String()
		if !strings.Contains(line, "Z work  42 e␛mails/send w1 "+word+", attempt 2 of 5") || strings.Count(line, "\n") != 1 || strings.Contains(line, "\x1b") || out.Len() > 0 {
			t.Errorf("%s: %q", event, line)
		}
		if withError := strings.Contains(line, "exit status 1"); withError != (settled.Err != nil && !settled.GaveBack) || len([]rune(line)) > 450 {
			t.Errorf("%s: %d letters: %q", event, len([]rune(line)), line)
		}
	}
}

func TestEachOutcomeOfWorkIsOneObjectWithTheTrueText(t *testing.T) {
	t.Parallel()
	for event, settled := range outcomes() {
		var out, lines bytes.Buffer
		l := testLog(t, Printer{Out: &out, Err: &lines, Format: JSON})
		l.settled(settled)
		var got struct {
			At                         time.Time
			Event, Queue, Kind, Worker string
			ID                         int64
			Attempt                    int
			MaxAttempts                int `json:"max_attempts"`
			Seconds                    float64
			DelaySeconds               float64 `json:"delay_seconds"`
			Error                      string
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v: %q", event, err, out.String())
		}
		if got.DelaySeconds != settled.Delay.Seconds() {
			t.Errorf("%s: a delay of %v", event, got.DelaySeconds)
		}
		want := ""
		if settled.Err != nil && !settled.GaveBack {
			want = settled.Err.Error()
		}
		if got.Event != event || got.ID != 42 || got.Queue != "e\x1bmails" || got.Kind != "send" || got.Worker != "w1" || got.Attempt != 2 ||
			got.MaxAttempts != 5 || got.Seconds != 1.234 || got.Error != want || got.At.IsZero() || lines.Len() > 0 {
			t.Errorf("%s: %+v", event, got)
		}
	}
}

func TestEventsOfWorkAreLinesAndTheDrainIsToldOnce(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	l := testLog(t, Printer{Err: &lines})
	for _, e := range []workers.Event{
		{What: workers.Spawned, Worker: "w1", Text: "1 slot"},
		{What: workers.LeaseLost, Worker: "w1", JobID: 7, Queue: "q", Text: "lease of job 7 lost: now owned by x\x1b[2J"},
		{What: workers.ReapedBack, JobID: 8, Queue: "q", Late: 12 * time.Millisecond, Text: "back to pending"},
		{What: workers.DBTrouble, Text: "claims fail:\n\tno route"},
		{What: workers.DrainBegun, Worker: "w1"},
		{What: workers.DrainBegun, Worker: "w2"},
		{What: workers.WorkerEnded, Worker: "w1"},
	} {
		l.event(e)
	}
	l.output(&queue.Job{ID: 9}, child.Stderr, "one\ttwo\x1b[31m")
	l.unable(errors.New("cannot start \x1b[2J: no memory"))
	var got []string
	for line := range strings.Lines(lines.String()) {
		_, rest, _ := strings.Cut(line, " ")
		got = append(got, strings.TrimSuffix(rest, "\n"))
	}
	want := []string{
		"work  7 q w1 lease lost: lease of job 7 lost: now owned by x␛[2J",
		"reap  8 q reclaimed, 12ms after the lease ran out: back to pending",
		"work  database: claims fail: no route",
		"work  draining: no new jobs; a second signal forces",
		"err   9 one two␛[31m",
		"work  cannot start ␛[2J: no memory; the jobs are given back, and the slots rest, up to 30s, before each try",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// testLog is the log of work that goes on.
func testLog(t *testing.T, p Printer) *workLog {
	l := newWorkLog(p, nil, func() { t.Error("the work was stopped") })
	t.Cleanup(l.stop)
	return l
}

type closed struct{}

func (closed) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}
}

// Somebody who reads the JSON lines has had enough: that ends the work, and is told
// as a failure. Once the work ends anyway it is as with any other command.
func TestWorkEndsWhenNobodyReadsItsJSON(t *testing.T) {
	t.Parallel()
	for _, ending := range []bool{false, true} {
		stopped, hurry := 0, make(chan struct{})
		if ending {
			close(hurry)
		}
		l := newWorkLog(Printer{Out: closed{}, Err: closed{}, Format: JSON}, hurry, func() { stopped++ })
		l.settled(outcomes()["completed"])
		l.settled(outcomes()["dead"])
		l.stop()
		if err := l.broken(); stopped != 1 || err == nil || errors.Is(err, syscall.EPIPE) != ending {
			t.Errorf("ending %v: stopped %d times, error %v", ending, stopped, err)
		}
	}
}

// Nobody need read the lines for people.
func TestWorkGoesOnWhenNobodyReadsItsLines(t *testing.T) {
	t.Parallel()
	l := testLog(t, Printer{Out: closed{}, Err: closed{}})
	l.settled(outcomes()["completed"])
	if l.broken() != nil {
		t.Errorf("error %v", l.broken())
	}
}

// What `dead list` masks, the line of the outcome masks too. JSON is for programs, and has all of it.
func TestOutcomesOfWorkShowNoSecrets(t *testing.T) {
	t.Parallel()
	settled := outcomes()["dead"]
	settled.Err = errors.New("dial https://app:hunter2@db.example.com: token=s3cretvalue refused\nmore")
	for _, format := range []Format{Table, JSON} {
		var out, lines bytes.Buffer
		l := testLog(t, Printer{Out: &out, Err: &lines, Format: format})
		l.settled(settled)
		l.event(workers.Event{What: workers.Panicked, Text: "password=hunter2 was refused"})
		if said := out.String() + lines.String(); strings.Contains(said, "hunter2") != (format == JSON) || strings.Contains(said, "s3cretvalue") != (format == JSON) {
			t.Errorf("as %s: %s", format, said)
		}
	}
}
