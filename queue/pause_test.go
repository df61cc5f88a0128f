package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/sql/local"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

func pause(t testing.TB, q *Queue, queues ...string) []string {
	t.Helper()
	return must[[]string](t)(q.Pause(t.Context(), "ann", "the mail server is down", queues...))
}

func resume(t testing.TB, q *Queue, queues ...string) []string {
	t.Helper()
	return must[[]string](t)(q.Resume(t.Context(), queues...))
}

// What is paused is not claimed, by any process; what is running goes on and ends as
// it would; other queues do not notice.
func TestPauseStopsClaimsAlone(t *testing.T) {
	t.Parallel()
	q := open(t)
	another := must[*Queue](t)(Open(t.Context(), q.Pool().Config().ConnString(), Options{MaxConns: 2}))
	defer another.Close()
	var running []Lease
	for range 5 {
		running = append(running, claimed(t, q, NewJob{}, time.Minute))
	}
	waiting := enqueue(t, q, NewJob{})
	enqueue(t, q, NewJob{Queue: "reports"})

	if got := pause(t, q, "emails"); !slices.Equal(got, []string{"emails"}) {
		t.Errorf("paused %v", got)
	}
	for _, process := range []*Queue{q, another} {
		if jobs := take(t, process, "emails", 10); len(jobs) != 0 {
			t.Errorf("claimed %v", jobs)
		}
	}
	claimFrom(t, another, "reports", time.Minute)
	late := enqueue(t, q, NewJob{}) // new jobs are taken in

	if beat := must[Beat](t)(q.Heartbeat(t.Context(), []Renewal{{Lease: running[0], For: time.Minute}})); len(beat.Renewed) != 1 {
		t.Errorf("beat %+v", beat)
	}
	ok(t, q.Complete(t.Context(), running[0]))
	must[Status](t)(q.Retry(t.Context(), running[1], "503", 0))
	ok(t, q.Bury(t.Context(), running[2], "poison"))
	must[Done](t)(q.Redrive(t.Context(), "ann", running[2].ID))
	must[Status](t)(q.Release(t.Context(), running[3]))
	expire(t, q, running[4].ID)
	if taken := must[[]Reclaimed](t)(q.Reclaim(t.Context(), 10)); len(taken) != 1 || taken[0].Status != Pending {
		t.Errorf("reclaimed %+v", taken)
	}
	if jobs := take(t, q, "emails", 10); len(jobs) != 0 {
		t.Errorf("claimed %v", jobs)
	}

	// All of them at once, also those that came to stand before the mark meanwhile.
	if got := resume(t, q, "emails"); !slices.Equal(got, []string{"emails"}) {
		t.Errorf("resumed %v", got)
	}
	var got []int64
	for _, job := range take(t, q, "emails", 10) {
		got = append(got, job.ID)
	}
	want := []int64{running[1].ID, running[2].ID, running[3].ID, running[4].ID, waiting, late}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("resumed, claimed %v, want %v", got, want)
	}
}

// A pause says since when, by whom and why; a second one changes nothing of it.
func TestPauseKeepsTheFirst(t *testing.T) {
	t.Parallel()
	q, set := openAt(t)
	pause(t, q, "b", "a", "b")
	first := must[[]Pause](t)(q.Pauses(t.Context()))
	if len(first) != 2 || first[0].Queue != "a" || first[1].Queue != "b" || first[0].By != "ann" || first[0].Why != "the mail server is down" || !about(time.Since(first[0].Since), 0) {
		t.Fatalf("paused %+v", first)
	}
	set(time.Hour)
	if got := must[[]string](t)(q.Pause(t.Context(), "bob", "no idea", "c", "b", "a")); !slices.Equal(got, []string{"c"}) {
		t.Errorf("paused %v, only c was not", got)
	}
	second := must[[]Pause](t)(q.Pauses(t.Context()))
	if len(second) != 3 || second[0] != first[0] || second[1] != first[1] || second[2].By != "bob" || !about(second[2].Since.Sub(first[0].Since), time.Hour) {
		t.Errorf("paused %+v", second)
	}

	if got := resume(t, q, "d", "b", "c", "b"); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("resumed %v", got)
	}
	if got := resume(t, q, "b"); got != nil {
		t.Errorf("resumed %v again", got)
	}
	must[[]string](t)(q.Pause(t.Context(), "bob", "", "b"))
	if got := must[[]Pause](t)(q.Pauses(t.Context())); len(got) != 2 || got[0] != first[0] || got[1].By != "bob" || got[1].Why != "" || !about(got[1].Since.Sub(first[0].Since), time.Hour) {
		t.Errorf("paused anew %+v", got)
	}
}

// CASES "After a gap": a pause survives restarts and is seen everywhere.
func TestPauseSurvivesARestart(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t)
	q := must[*Queue](t)(Open(t.Context(), testdb.On(t, server), Options{}))
	t.Cleanup(q.Close)
	enqueue(t, q, NewJob{})
	pause(t, q, "emails")
	ok(t, server.Restart(t.Context(), local.Fast))
	q.Pool().Reset()
	if jobs := take(t, q, "emails", 10); len(jobs) != 0 {
		t.Errorf("claimed %v", jobs)
	}
	if got := must[[]Pause](t)(q.Pauses(t.Context())); len(got) != 1 || got[0].By != "ann" {
		t.Errorf("paused %+v", got)
	}
	resume(t, q, "emails")
	claim(t, q, time.Minute)
}

// The time until work is due does not count work that nobody may take.
func TestNextDueLeavesPausedQueuesOut(t *testing.T) {
	t.Parallel()
	q := open(t)
	enqueue(t, q, NewJob{Queue: "a"})
	enqueue(t, q, NewJob{Queue: "b", Delay: time.Hour})
	next := func() string {
		in, found, err := q.NextDue(t.Context(), []string{"a", "b", "c"})
		ok(t, err)
		switch {
		case !found:
			return "nothing"
		case in <= 0:
			return "now"
		}
		return in.Round(time.Hour).String()
	}
	for _, step := range []struct {
		do   func(testing.TB, *Queue, ...string) []string
		what []string
		want string
	}{{resume, []string{"a"}, "now"}, {pause, []string{"a"}, "1h0m0s"}, {pause, []string{"b", "c"}, "nothing"}, {resume, []string{"b"}, "1h0m0s"}, {resume, []string{"a"}, "now"}} {
		step.do(t, q, step.what...)
		if got := next(); got != step.want {
			t.Errorf("after %v: due in %s, want %s", step.what, got, step.want)
		}
	}
}

// Workers hear of every change, whoever makes it, and of nothing else.
func TestPausesAreNotified(t *testing.T) {
	t.Parallel()
	q := open(t)
	ears := listen(t, q, q.Schema().ControlChannel())
	pause(t, q, "a", "b")
	ears.hears(t, "queue a", "queue b")
	pause(t, q, "a")
	resume(t, q, "c")
	ears.hears(t)
	resume(t, q, "a", "c")
	ears.hears(t, "queue a")
	exec(t, q, "delete from leasetop.queues where queue = 'b'")
	ears.hears(t, "queue b")
	exec(t, q, "insert into leasetop.queues (queue, paused_at, paused_by) values ('by hand', now(), 'psql')")
	ears.hears(t, "queue by hand")
	if got := must[[]Pause](t)(q.Pauses(t.Context())); len(got) != 1 || got[0].Queue != "by hand" || got[0].Why != "" {
		t.Errorf("paused %+v", got)
	}
	exec(t, q, "update leasetop.queues set queue = 'renamed' where queue = 'by hand'")
	ears.hears(t, "queue by hand", "queue renamed")
}

// A queue's name is nearly any text of up to 255 bytes, with or without jobs.
func TestPauseTakesAnyName(t *testing.T) {
	t.Parallel()
	q := open(t)
	ears := listen(t, q, q.Schema().ControlChannel())
	for _, name := range []string{
		`'); drop table leasetop.jobs; --`, "a\nb\r\x1b]52;c;aGk=\x07", "queue a", "%s %d", "a b", "\u202e\u200b", `{"a,b"}`, "NULL", "e mails", strings.Repeat("é", 127) + "q",
	} {
		enqueue(t, q, NewJob{Queue: name})
		enqueue(t, q, NewJob{Queue: "emails"})
		if got := pause(t, q, name); !slices.Equal(got, []string{name}) {
			t.Errorf("paused %q", got)
		}
		ears.hears(t, "queue "+name)
		if jobs := take(t, q, name, 10); len(jobs) != 0 {
			t.Errorf("%q: claimed %v", name, jobs)
		}
		claim(t, q, time.Minute) // of emails, which is another queue
		if got := resume(t, q, name); !slices.Equal(got, []string{name}) {
			t.Errorf("resumed %q", got)
		}
		ears.hears(t, "queue "+name)
		claimFrom(t, q, name, time.Minute)
	}
	for name, want := range map[string]string{
		"": "no name", "a\x00b": "without NUL", "\xff": "UTF-8", strings.Repeat("q", 256): "queue of 256 bytes",
	} {
		_, pauseErr := q.Pause(t.Context(), "ann", "", "emails", name)
		_, resumeErr := q.Resume(t.Context(), "emails", name)
		for operation, err := range map[string]error{"pause: ": pauseErr, "resume: ": resumeErr} {
			if err == nil || !strings.HasPrefix(err.Error(), operation) || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: error %v, want one with %q", name, err, want)
			}
		}
	}
	for _, err := range []error{second(q.Pause(t.Context(), "ann", "")), second(q.Resume(t.Context()))} {
		if err == nil || !strings.Contains(err.Error(), "name at least one") {
			t.Errorf("no queue: %v", err)
		}
	}
	if got := must[[]Pause](t)(q.Pauses(t.Context())); len(got) != 0 {
		t.Errorf("paused %+v", got)
	}
	must[[]string](t)(q.Pause(t.Context(), "\x00", strings.Repeat("\xff", ErrorTextLimit), "emails"))
	if got := must[[]Pause](t)(q.Pauses(t.Context())); len(got) != 1 || got[0].By != "\uFFFD" || !strings.HasPrefix(got[0].Why, "\uFFFD") {
		t.Errorf("paused %+v", got)
	}
}

func second[T any](_ T, err error) error { return err }

// Workers that do not use this package go on claiming, as is said.
func TestPauseDoesNotStopAnArticleWorker(t *testing.T) {
	t.Parallel()
	q := open(t)
	a := readArticle(t, q)
	a.run("insert")
	pause(t, q, "emails")
	if job := a.claim("emails", articleWorker); job == nil {
		t.Error("the article's claim was stopped: the comment of Pause is wrong")
	}
}

// The pause of one queue among ten thousand costs the claims of another nothing: what
// they read is found by its key.
func TestPausesAreFoundByName(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, "insert into leasetop.queues select 'q' || n, now(), 'ann', '' from generate_series(1, 10000) n; analyze leasetop.queues")
	for _, statement := range []struct{ name, args string }{{"claim", "'q7', 'o', 30, 1, '-infinity', 0, '{}'"}, {"next_due", "array['q7', 'emails'], '{}'"}} {
		for _, mode := range []string{"custom", "generic"} {
			for _, node := range planOf(t, q, statement.name, statement.args, mode, "") {
				if node.Type == "Seq Scan" && node.Relation == "queues" {
					t.Errorf("%s, %s plan: reads every pause", statement.name, mode)
				}
			}
		}
	}
	enqueue(t, q, NewJob{})
	claim(t, q, time.Minute)
	if n := len(must[[]Pause](t)(q.Pauses(t.Context()))); n != 10000 {
		t.Errorf("%d pauses", n)
	}
	if got := resume(t, q, "q7", fmt.Sprint("q", 10000), "emails"); len(got) != 2 {
		t.Errorf("resumed %v", got)
	}
}
