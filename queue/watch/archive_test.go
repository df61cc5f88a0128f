package watch

import (
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

func TestStreamTellsDiscardsAndRestoresWithWho(t *testing.T) {
	t.Parallel()
	f, q, psql := streams(t)
	var ids []int64
	for range 3 {
		enqueue(t, q, queue.NewJob{})
		job := claim(t, q, time.Minute)
		do(t, q.Bury(t.Context(), job.Lease(), "bad"))
		ids = append(ids, job.ID)
	}
	s := await(t, f, "three dead letters", func(s *State) bool { return s.Depths.Source == FromWAL && sum(s).Dead == 3 })
	if _, err := q.Discard(t.Context(), "ann", "no use", ids[:2]...); err != nil {
		t.Fatal(err)
	}
	s = tells(t, f, s, "discarded emails by ann", "discarded emails by ann")
	if sum(s).Dead != 1 {
		t.Errorf("%+v", sum(s))
	}
	if _, err := q.Restore(t.Context(), "bob", ids[0]); err != nil {
		t.Fatal(err)
	}
	s = tells(t, f, s, "restored emails as dead")
	if e := s.Events[len(s.Events)-1]; e.JobID != ids[0] || sum(s).Dead != 2 {
		t.Errorf("%+v", e)
	}
	// By hand, in another order, and what is only deleted.
	exec(t, psql, "DELETE FROM leasetop.jobs WHERE id = $1", ids[2])
	s = tells(t, f, s, "deleted emails")
	exec(t, psql, `WITH moved AS (INSERT INTO leasetop.jobs_archive (id, queue, payload, status, attempts, max_attempts, run_at, created_at, updated_at, kind, errors, archived_by)
		SELECT id, queue, payload, status, attempts, max_attempts, run_at, created_at, updated_at, kind, errors, 'psql' FROM leasetop.jobs WHERE id = $1 RETURNING id)
		SELECT FROM moved`, ids[0])
	exec(t, psql, "DELETE FROM leasetop.jobs WHERE id = $1", ids[0])
	tells(t, f, s, "deleted emails")
}

func TestTakenOverLeaseIsToldAsLost(t *testing.T) {
	t.Parallel()
	f, q, psql := streams(t)
	s := f.State()
	enqueue(t, q, queue.NewJob{})
	job := claim(t, q, time.Minute)
	exec(t, psql, "UPDATE leasetop.jobs SET locked_by = 'other', locked_at = now(), attempts = 2, updated_at = now() WHERE id = $1", job.ID)
	s = tells(t, f, s, "enqueued emails", "claimed emails attempt 1 of 5", "lost emails taken over", "claimed emails attempt 2 of 5, taken from "+job.LockedBy)
	if e := s.Events[len(s.Events)-2]; e.Owner != job.LockedBy || e.JobID != job.ID || e.Routine() {
		t.Errorf("%+v", e)
	}
	await(t, f, "the traffic", func(s *State) bool {
		return s.Traffic.Source == FromWAL && s.Traffic.Expired == 1 && s.Traffic.Pickup.Count == 1
	})
}

func TestRatesOfEveryKindComeFromTheStream(t *testing.T) {
	t.Parallel()
	f, q, _ := streams(t)
	for i := range 4 {
		enqueue(t, q, queue.NewJob{MaxAttempts: 2})
		job := claim(t, q, []time.Duration{time.Minute, time.Microsecond}[i/3])
		switch i {
		case 0:
			do(t, q.Complete(t.Context(), job.Lease()))
		case 1:
			_, err := q.Retry(t.Context(), job.Lease(), "timeout", time.Hour)
			do(t, err)
		case 2:
			do(t, q.Bury(t.Context(), job.Lease(), "bad"))
		case 3:
			_, err := q.Reclaim(t.Context(), 10)
			do(t, err)
		}
	}
	s := await(t, f, "the rates", func(s *State) bool {
		return len(s.Depths.Queues) == 1 && s.Depths.Queues[0].Rate.Reclaimed > 0
	})
	d := s.Depths.Queues[0]
	unit := d.Rate.Reclaimed // of one job
	want := Rate{In: 4 * unit, Out: 2 * unit, Failed: 2 * unit, Reclaimed: unit, Dead: unit}
	if d.Rate != want || d.Rates != FromWAL || d.Finished != 1 {
		t.Errorf("%+v, want %+v", d.Rate, want)
	}
	if s.Traffic.Rate.In == 0 || s.Traffic.DeadPerMinute != 1 || s.Traffic.Changes == 0 {
		t.Errorf("%+v", s.Traffic)
	}
}
