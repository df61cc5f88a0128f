package watch

import (
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

func TestStreamTellsACancelOnceWithWho(t *testing.T) {
	t.Parallel()
	f, q, _ := streams(t)
	ctx := t.Context()
	s := f.State()
	waiting := enqueue(t, q, queue.NewJob{Delay: time.Hour})
	s = await(t, f, "the job", func(now *State) bool { return len(story(s, now)) == 1 })
	if _, err := q.Cancel(ctx, "ann", waiting); err != nil {
		t.Fatal(err)
	}
	s = tells(t, f, s, "cancelled emails by ann")

	cancelled := func(lease time.Duration) queue.Job {
		enqueue(t, q, queue.NewJob{MaxAttempts: 2})
		job := claim(t, q, lease)
		if _, err := q.Cancel(ctx, "ann", job.ID); err != nil {
			t.Fatal(err)
		}
		s = tells(t, f, s, "enqueued emails", "claimed emails attempt 1 of 2", "cancel asked emails by ann")
		if l := s.Leases.List; len(l) != 1 || l[0].CancelledBy != "ann" || s.Events[len(s.Events)-1].Owner != job.LockedBy {
			t.Errorf("leases %+v, events %+v", l, s.Events)
		}
		return job
	}
	job := cancelled(time.Minute)
	if _, err := q.Heartbeat(ctx, []queue.Renewal{{Lease: job.Lease(), For: time.Hour}}); err != nil {
		t.Fatal(err)
	}
	s = await(t, f, "the heartbeat", func(s *State) bool { return s.Leases.Renewals == 1 })
	if l := s.Leases.List; len(l) != 1 || l[0].CancelledBy != "ann" {
		t.Errorf("after a heartbeat the leases are %+v", l)
	}
	if _, err := q.Cancel(ctx, "bob", job.ID); err != nil {
		t.Fatal(err)
	}
	s = tells(t, f, s, "cancel asked emails again")
	if _, err := q.Retry(ctx, job.Lease(), "job cancelled", 0); err != nil {
		t.Fatal(err)
	}
	s = tells(t, f, s, "cancelled emails by ann")
	if _, err := q.Redrive(ctx, "ann", job.ID); err != nil {
		t.Fatal(err)
	}
	job = claim(t, q, time.Minute)
	s = tells(t, f, s, "redriven emails", "claimed emails attempt 1 of 2")
	if l := s.Leases.List; len(l) != 1 || l[0].CancelledBy != "" {
		t.Errorf("after a redrive the leases are %+v", l)
	}
	do(t, q.Complete(ctx, job.Lease()))
	s = tells(t, f, s, "completed emails attempt 1 of 2")

	job = cancelled(time.Minute) // it completes all the same
	do(t, q.Complete(ctx, job.Lease()))
	s = tells(t, f, s, "completed emails attempt 1 of 2, too late to cancel")
	if e := s.Events[len(s.Events)-1]; e.Routine() {
		t.Errorf("%+v passes for routine", e)
	}

	cancelled(time.Microsecond)
	if _, err := q.Reclaim(ctx, 10); err != nil {
		t.Fatal(err)
	}
	tells(t, f, s, "cancelled emails by ann, worker lost")
}

// Where the publication is older than the column, the stream cannot know who cancelled,
// but what became of the job it does.
func TestPublicationWithoutCancelsTellsThemAsEditsAndBurials(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t))
	q := open(t, url)
	psql := client(t, url)
	if number(t, psql, "SELECT current_setting('server_version_num')::int") < 150000 {
		t.Skip("this server publishes whole rows")
	}
	exec(t, psql, "ALTER PUBLICATION leasetop_jobs SET TABLE leasetop.jobs ("+strings.Join(published, ", ")+")")
	f := start(t, q, Options{})
	s := await(t, f, "every connection up", attached)
	enqueue(t, q, queue.NewJob{})
	job := claim(t, q, time.Minute)
	if _, err := q.Cancel(t.Context(), "ann", job.ID); err != nil {
		t.Fatal(err)
	}
	s = tells(t, f, s, "enqueued emails", "claimed emails attempt 1 of 5", "edited emails")
	do(t, given(q.Release(t.Context(), job.Lease())))
	s = tells(t, f, s, "buried emails attempt 1 of 5")
	if d := s.Depths.Queues[0]; d.Dead != 1 || d.Processing != 0 || s.Leases.Total != 0 {
		t.Errorf("%+v %+v", d, s.Leases)
	}
}

func TestPolledDifferencesTellCancels(t *testing.T) {
	t.Parallel()
	q := open(t, testdb.New(t))
	f := start(t, q, Options{Poll: -1, NoWAL: true})
	s := await(t, f, "the connections up", listening)
	enqueue(t, q, queue.NewJob{})
	job := claim(t, q, time.Hour)
	f.Refresh()
	s = await(t, f, "the claim", func(now *State) bool { return len(story(s, now)) == 1 })
	if _, err := q.Cancel(t.Context(), "ann", job.ID); err != nil {
		t.Fatal(err)
	}
	f.Refresh()
	s = await(t, f, "the request", func(now *State) bool { return len(story(s, now)) == 1 })
	if got := story(&State{}, s); got[len(got)-1] != "cancel asked emails by ann" {
		t.Errorf("told %q", got)
	}
	do(t, given(q.Release(t.Context(), job.Lease())))
	f.Refresh()
	end := await(t, f, "the end", func(now *State) bool { return len(story(s, now)) == 1 })
	if got := story(&State{}, end); got[len(got)-1] != "cancelled emails by ann" {
		t.Errorf("told %q", got)
	}
}
