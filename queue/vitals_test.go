package queue

import (
	"testing"
	"time"
)

func TestVitalsAreFiguresOfOneQueueOrAll(t *testing.T) {
	t.Parallel()
	q := open(t)
	if v := must[Vitals](t)(q.Vitals(t.Context(), VitalsOf{})); v.Dead+v.Died+v.Expired != 0 || v.OldestQueue != "" || v.At.IsZero() {
		t.Errorf("empty: %+v", v)
	}
	exec(t, q, `insert into leasetop.jobs (queue, status, run_at, updated_at) select queue, status, now() - due, now() - due
		from (values ('a','pending','90 s'::interval,3), ('a','pending','-1 h',2), ('a','completed','1 h',5), ('a','failed','9 min',6), ('a','dead','11 min',7),
			('b','pending','20 min',1), ('b','dead','1 s',2), ('c','completed','1 h',2)) as v(queue, status, due, n), generate_series(1, n)`)
	exec(t, q, "insert into leasetop.jobs (queue, status, run_at) values ('always', 'pending', '-infinity')") // is not old
	exec(t, q, `insert into leasetop.jobs (queue, status, locked_by, lease_expires_at) select queue, 'processing', 'w', now() + left_
		from (values ('a', interval '1 min', 3), ('a', '-3 s', 2), ('a', '-1 min', 4), ('b', '-1 h', 1)) as v(queue, left_, n), generate_series(1, n)`)
	for _, c := range []struct {
		of   VitalsOf
		want Vitals
	}{
		{VitalsOf{}, Vitals{Dead: 15, Died: 8, Window: 10 * time.Minute, OldestReady: 20 * time.Minute, OldestQueue: "b", Expired: 7}},
		{VitalsOf{Queue: "a", Window: time.Hour, Late: 10 * time.Second}, Vitals{Dead: 13, Died: 13, Window: time.Hour, OldestReady: 90 * time.Second, OldestQueue: "a", Expired: 4, Late: 10 * time.Second}},
		{VitalsOf{Queue: "b", Late: -1}, Vitals{Dead: 2, Died: 2, Window: 10 * time.Minute, OldestReady: 20 * time.Minute, OldestQueue: "b", Expired: 1}},
		{VitalsOf{Queue: "c"}, Vitals{Window: 10 * time.Minute}},
		{VitalsOf{Queue: "always"}, Vitals{Window: 10 * time.Minute}},
		{VitalsOf{Queue: "nobody's"}, Vitals{Window: 10 * time.Minute}},
		{VitalsOf{Cap: 8, Late: 10 * time.Second}, Vitals{
			Dead: 8, Died: 8, Window: 10 * time.Minute, OldestReady: 20 * time.Minute, OldestQueue: "b", Expired: 4, Late: 10 * time.Second,
			DeadAtLeast: true, DiedAtLeast: true, ExpiredAtLeast: true,
		}},
	} {
		got := must[Vitals](t)(q.Vitals(t.Context(), c.of))
		if got.OldestReady < c.want.OldestReady || !about(got.OldestReady, c.want.OldestReady) {
			t.Errorf("%+v: oldest ready %v, want %v and a little", c.of, got.OldestReady, c.want.OldestReady)
		}
		got.At, got.OldestReady = time.Time{}, c.want.OldestReady
		if c.of.Cap > 0 { // which leases it came upon is not said
			got.Expired = c.want.Expired
		}
		if got != c.want {
			t.Errorf("%+v:\n%+v, want\n%+v", c.of, got, c.want)
		}
	}
}
