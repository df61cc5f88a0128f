package queue

import (
	"testing"
	"time"
)

func TestDepthCountsByQueueAndStatus(t *testing.T) {
	t.Parallel()
	q := open(t)
	if d := must[Depths](t)(q.Depth(t.Context(), 0)); len(d.Queues) != 0 || d.At.IsZero() {
		t.Errorf("empty: %+v", d)
	}
	exec(t, q, `insert into leasetop.jobs (queue, status, run_at, locked_by, lease_expires_at)
		select queue, status, now() + due, case status when 'processing' then 'x' end, case status when 'processing' then now() end
		from (values ('a','pending','-90 s'::interval,3), ('a','pending','1 h',2), ('a','processing','0',4), ('a','completed','0',5), ('a','failed','0',6), ('a','dead','0',7),
			('b','pending','1 h',1), ('c','completed','0',2), ('d','processing','0',1), ('e','dead','0',1), ('é''"','failed','0',1)) as v(queue, status, due, n), generate_series(1, n)`)
	want := []QueueDepth{
		{Queue: "a", Ready: 3, Scheduled: 2, Processing: 4, Completed: 5, Failed: 6, Dead: 7, OldestReady: 90 * time.Second},
		{Queue: "b", Scheduled: 1},
		{Queue: "c", Completed: 2},
		{Queue: "d", Processing: 1},
		{Queue: "e", Dead: 1},
		{Queue: `é'"`, Failed: 1},
	}
	for _, cap := range []int{0, 1000} {
		d := must[Depths](t)(q.Depth(t.Context(), cap))
		if len(d.Queues) != len(want) {
			t.Fatalf("cap %d: %+v", cap, d.Queues)
		}
		for i, got := range d.Queues {
			if !about(got.OldestReady, want[i].OldestReady) || got.OldestReady < want[i].OldestReady {
				t.Errorf("%s: oldest ready %v, want %v and a little", got.Queue, got.OldestReady, want[i].OldestReady)
			}
			got.OldestReady = want[i].OldestReady
			w := want[i]
			w.CompletedExact = true
			if got != w {
				t.Errorf("cap %d: %+v, want %+v", cap, got, w)
			}
		}
	}
}

func TestDepthIsCapped(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, `insert into leasetop.jobs (queue, status, run_at) select 'ready', 'pending', now() from generate_series(1, 50)
		union all select 'scheduled', 'pending', now() + interval '1 h' from generate_series(1, 50)
		union all select 'dead', case n % 2 when 0 then 'dead' else 'failed' end, now() from generate_series(1, 50) n
		union all select 'few', 'pending', now() from generate_series(1, 9)`)
	exec(t, q, "insert into leasetop.jobs (queue, status, locked_by, lease_expires_at) select 'busy', 'processing', 'w', now() from generate_series(1, 50)")
	for _, d := range must[Depths](t)(q.Depth(t.Context(), 10)).Queues {
		want := map[string]QueueDepth{
			"ready":     {Ready: 10, AtLeast: AtLeast{Ready: true}},
			"scheduled": {Scheduled: 10, AtLeast: AtLeast{Scheduled: true}},
			"busy":      {Processing: 10, AtLeast: AtLeast{Processing: true}},
			"dead":      {Failed: 5, Dead: 5, AtLeast: AtLeast{Failed: true, Dead: true}},
			"few":       {Ready: 9},
		}[d.Queue]
		got := QueueDepth{Ready: d.Ready, Scheduled: d.Scheduled, Processing: d.Processing, Failed: d.Failed, Dead: d.Dead, AtLeast: d.AtLeast}
		if got != want {
			t.Errorf("%s: %+v, want %+v", d.Queue, got, want)
		}
	}
	for _, d := range must[Depths](t)(q.Depth(t.Context(), 50)).Queues {
		if d.Ready+d.Scheduled+d.Processing+d.Failed+d.Dead != 50 && d.Queue != "few" {
			t.Errorf("%+v", d)
		}
	}
}

// A cap bounds what is looked at, not what is found: among many dead no failed are sought
// to the end, whatever the statistics say.
func TestDepthLooksNoFurtherThanItsCap(t *testing.T) {
	t.Parallel()
	for _, analyzed := range []bool{false, true} {
		q := open(t)
		exec(t, q, "alter table leasetop.jobs set (autovacuum_enabled = off)")
		exec(t, q, "analyze leasetop.jobs")
		exec(t, q, `insert into leasetop.jobs (queue, status, run_at) select 'dead', 'dead', now() from generate_series(1, 20000)
			union all select 'due', 'pending', now() from generate_series(1, 20000)
			union all select 'later', 'pending', now() + interval '1 h' from generate_series(1, 20000)`)
		if analyzed {
			exec(t, q, "vacuum analyze leasetop.jobs")
		}
		tx := begin(t, q)
		must[any](t)(tx.Exec(t.Context(), q.Schema().Query("depth_plan")))
		must[any](t)(tx.Exec(t.Context(), q.Schema().Query("depth"), 100, 0.1))
		var read int
		ok(t, tx.QueryRow(t.Context(), `select sum(pg_stat_get_xact_tuples_returned(indexrelid))
			from pg_stat_user_indexes where relid = 'leasetop.jobs'::regclass`).Scan(&read))
		if read < 3*100 || read > 3*100+50 {
			t.Errorf("analyzed %v: %d entries of indexes were read to count three queues to 100", analyzed, read)
		}
	}
}

// The completed of a large table are estimated, and said to be.
func TestDepthEstimatesCompletedFromASample(t *testing.T) {
	t.Parallel()
	q := open(t)
	const jobs = 60000
	exec(t, q, "insert into leasetop.jobs (queue, status) select 'q' || n % 2, 'completed' from generate_series(1, $1) n", jobs)
	exact, sample := must[Depths](t)(q.Depth(t.Context(), 0)), must[Depths](t)(q.Depth(t.Context(), 10000))
	if len(exact.Queues) != 2 || len(sample.Queues) != 2 || !exact.CompletedExact || sample.CompletedExact {
		t.Fatalf("%+v %+v", exact, sample)
	}
	for i := range exact.Queues {
		e, s := exact.Queues[i], sample.Queues[i]
		if !e.CompletedExact || e.Completed != jobs/2 {
			t.Errorf("counted to the end: %+v", e)
		}
		if s.CompletedExact || s.Completed < jobs/2*7/10 || s.Completed > jobs/2*13/10 {
			t.Errorf("sampled: %+v", s)
		}
	}
}

// Ten thousand queues are skipped from one to the next, not counted row by row.
func TestDepthOfManyQueues(t *testing.T) {
	t.Parallel()
	q := open(t)
	const queues = 2000
	exec(t, q, "insert into leasetop.jobs (queue, status) select 'q' || n % $1, case when n < $1 then 'dead' else 'pending' end from generate_series(0, 3 * $1 - 1) n", queues)
	d := must[Depths](t)(q.Depth(t.Context(), 100))
	if len(d.Queues) != queues {
		t.Fatalf("%d queues", len(d.Queues))
	}
	for _, d := range d.Queues {
		if d.Ready != 2 || d.Dead != 1 {
			t.Fatalf("%+v", d)
		}
	}
}
