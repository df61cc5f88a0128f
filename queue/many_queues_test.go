package queue

import "testing"

// CASES "10,000 queues": a claim reads no more of the indexes for them.
func TestClaimCostsTheSameAmongTenThousandQueues(t *testing.T) {
	t.Parallel()
	cost := func(queues int) (read int) {
		q := open(t)
		exec(t, q, "alter table leasetop.jobs set (autovacuum_enabled = off)")
		exec(t, q, "insert into leasetop.jobs (queue) select 'q' || n % $1 from generate_series(1, 20000) n", queues)
		exec(t, q, "vacuum analyze leasetop.jobs")
		tx := begin(t, q)
		claimed := must[any](t)(tx.Exec(t.Context(), q.Schema().Query("claim"), "q0", owner(), 30, 1, "-infinity", 0, none))
		ok(t, tx.QueryRow(t.Context(), `select sum(pg_stat_get_xact_tuples_returned(indexrelid))
			from pg_stat_user_indexes where relid = 'leasetop.jobs'::regclass`).Scan(&read))
		if read == 0 {
			t.Errorf("%v read nothing", claimed)
		}
		return read
	}
	if one, many := cost(1), cost(10_000); many > one {
		t.Errorf("a claim reads %d entries of indexes where there is one queue, and %d where there are 10,000", one, many)
	}
}
