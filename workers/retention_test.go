package workers

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// Dead letters are somebody's to look at: nothing but a person or a script ends them.
func TestRetentionRemovesOldCompletedJobsAndNoDeadLetter(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	exec(t, q, `INSERT INTO leasetop.jobs (queue, status, last_error, updated_at)
		SELECT 'q', CASE n % 2 WHEN 0 THEN 'dead' ELSE 'failed' END, 'boom', now() - interval '10 years' FROM generate_series(1, 15000) n`)
	exec(t, q, `INSERT INTO leasetop.jobs (queue, status, updated_at)
		SELECT 'q', 'completed', now() - n * interval '1 min' FROM generate_series(1, 119) n`)
	exec(t, q, "INSERT INTO leasetop.jobs (queue, run_at, updated_at) VALUES ('other', now() - interval '10 years', now() - interval '10 years')")
	p := newPool(t, q, on(nothing), Options{Retention: time.Hour})
	retained := p.signals.retained.listen()
	start(t, p)
	if !receive(t, "the chore", retained) {
		t.Fatal("nobody else is there, and yet it is not its turn")
	}
	if e := waitFor(t, p, Purged); e.Text != "60 jobs that completed more than 1h0m0s ago removed" {
		t.Errorf("told as %q", e.Text)
	}
	for status, want := range map[queue.Status]int{queue.Dead: 7500, queue.Failed: 7500, queue.Completed: 59, queue.Pending: 1} {
		if n := count(t, q, "SELECT count(*) FROM leasetop.jobs WHERE status = $1", status); n != want {
			t.Errorf("%d are %s, want %d", n, status, want)
		}
	}
	if n := count(t, q, "SELECT count(*) FROM leasetop.jobs_archive"); n != 0 {
		t.Errorf("%d were discarded", n)
	}
}

func TestRetentionIsOneProcessesTurn(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	for _, want := range []bool{true, false, false} {
		p := newPool(t, q, on(nothing), Options{Retention: time.Hour})
		retained := p.signals.retained.listen()
		start(t, p)
		if mine := receive(t, "the chore", retained); mine != want {
			t.Errorf("its turn: %v, want %v", mine, want)
		}
		if has(p, Purged) || has(p, DBTrouble) {
			t.Error("it tells that nothing was removed")
		}
	}
}

// A round that takes longer than its interval is not joined by another process. Here
// each batch takes so long, as far as the table of chores can tell.
func TestRetentionKeepsItsTurnForAsLongAsItTakes(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	exec(t, q, `INSERT INTO leasetop.jobs (queue, status, updated_at)
		SELECT 'q', 'completed', now() - interval '1 day' FROM generate_series(1, 5000)`)
	exec(t, q, `CREATE FUNCTION take_long() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		UPDATE leasetop.chores SET due_at = now() - interval '1 second'; RETURN NULL; END $$`)
	exec(t, q, "CREATE TRIGGER take_long AFTER DELETE ON leasetop.jobs FOR EACH STATEMENT EXECUTE FUNCTION take_long()")
	p := newPool(t, q, on(nothing), Options{Retention: time.Hour})
	retained := p.signals.retained.listen()
	start(t, p)
	if !receive(t, "the chore", retained) || count(t, q, "SELECT count(*) FROM leasetop.jobs") != 0 {
		t.Fatal("it was not its turn")
	}
	for _, every := range []time.Duration{retentionEvery(time.Hour), time.Hour} {
		if mine, err := q.TakeChore(t.Context(), retentionChore, every); err != nil || mine {
			t.Errorf("another takes it: %v, %v", mine, err)
		}
	}
}

// What took a turn and was held up for too long ends it: another may have the next.
func TestRetentionThatWasHeldUpAsksAgain(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	exec(t, q, `INSERT INTO leasetop.jobs (queue, status, updated_at)
		SELECT 'q', 'completed', now() - interval '1 day' FROM generate_series(1, 5000)`)
	p := newPool(t, q, on(nothing), Options{Retention: time.Hour})
	r := round{every: retentionEvery(time.Hour), until: p.clock()}
	if _, err := p.purge(context.Background(), &r); !errors.Is(err, errStalled) {
		t.Errorf("the round ended with %v", err)
	}
	if n := count(t, q, "SELECT count(*) FROM leasetop.jobs"); n != 3000 {
		t.Errorf("%d jobs are left, want all but one batch", n)
	}
	if n := count(t, q, "SELECT count(*) FROM leasetop.chores"); n != 0 {
		t.Error("it kept what was not its own any more")
	}
}

func TestRetentionComesAgain(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	p := newPool(t, q, on(nothing), Options{Retention: 100 * time.Millisecond})
	retained := p.signals.retained.listen()
	start(t, p)
	spawn(t, p, 1, "q")
	for range 3 {
		receive(t, "a round", retained)
	}
	exec(t, q, "CREATE TABLE later AS SELECT now() AS than")
	enqueue(t, q, queue.NewJob{})
	waitFor(t, p, Purged, func(e Event) bool { return strings.HasPrefix(e.Text, "1 job that completed") })
	if n := count(t, q, "SELECT count(*) FROM leasetop.jobs"); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
	if n := count(t, q, "SELECT count(*) FROM leasetop.chores, later WHERE name = 'retention' AND due_at > than"); n != 1 {
		t.Error("it took its turn without asking for it")
	}
}

// A round that failed is not given to the next that is due, perhaps in an hour.
func TestRetentionThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	exec(t, q, `INSERT INTO leasetop.jobs (queue, status, updated_at) VALUES ('q', 'completed', now() - interval '1 day');
		CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$;
		CREATE TRIGGER refuse BEFORE DELETE ON leasetop.jobs FOR EACH STATEMENT EXECUTE FUNCTION refuse()`)
	p := newPool(t, q, on(nothing), Options{Retention: time.Hour})
	start(t, p)
	if e := waitFor(t, p, DBTrouble); !strings.Contains(e.Text, "retention fail: purge completed: ") || !strings.Contains(e.Text, "not now") {
		t.Errorf("told as %q", e.Text)
	}
	exec(t, q, "DROP TRIGGER refuse ON leasetop.jobs")
	waitFor(t, p, Purged)
	waitFor(t, p, DBTrouble, func(e Event) bool { return strings.HasSuffix(e.Text, "work again") })
}

func TestRetentionIsATenthOfTheAgeWithinReason(t *testing.T) {
	t.Parallel()
	for age, want := range map[time.Duration]time.Duration{
		365 * 24 * time.Hour: time.Hour,
		5 * time.Hour:        30 * time.Minute,
		5 * time.Minute:      time.Minute,
		time.Second:          time.Second,
	} {
		if got := retentionEvery(age); got != want {
			t.Errorf("jobs older than %v are removed every %v, want %v", age, got, want)
		}
	}
	if _, err := New(anywhere(t, 4), on(nothing), Options{Retention: -1}); err == nil || !strings.Contains(err.Error(), "must not be negative") {
		t.Errorf("a negative retention: %v", err)
	}
}
