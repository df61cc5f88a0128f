package queue

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

// CASES "PgBouncer, transaction mode": it is noticed with the first connection, and every
// operation works, whoever used the session before.
func TestEveryOperationBehindAPooler(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"transaction", "session"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			plain := open(t)
			through := testdb.PgBouncer(t, plain.Pool().Config().ConnString(), mode)
			for range 2 { // each prepares what the other has prepared
				q := must[*Queue](t)(Open(t.Context(), through, Options{}))
				t.Cleanup(q.Close)
				for operation := range every(nil, Lease{}, 0) {
					lease, dead := claimed(t, plain, NewJob{Queue: "emails"}, time.Minute), buried(t, plain, NewJob{Queue: "emails"})
					if err := every(q, lease, dead)[operation](t.Context()); err != nil {
						t.Errorf("%s: %v", operation, err)
					}
					exec(t, plain, "truncate leasetop.jobs, leasetop.queues, leasetop.jobs_archive, leasetop.once")
					plain.Forget("emails")
				}
			}
		})
	}
}

func TestNothingIsPreparedWhereAPoolerMayStandBetween(t *testing.T) {
	t.Parallel()
	plain := must[*Queue](t)(Open(t.Context(), testdb.New(t), Options{}))
	t.Cleanup(plain.Close)
	mode := func(q *Queue) pgx.QueryExecMode {
		return must[*pgx.ConnConfig](t)(q.DialConfig(t.Context())).DefaultQueryExecMode
	}
	if got := mode(plain); got != pgx.QueryExecModeCacheDescribe {
		t.Errorf("before it is known: %v", got)
	}
	ok(t, plain.Ping(t.Context()))
	if got := mode(plain); got != pgx.QueryExecModeCacheStatement {
		t.Errorf("once it is known that there is none: %v", got)
	}
	url := plain.Pool().Config().ConnString()
	through := must[*Queue](t)(Open(t.Context(), testdb.PgBouncer(t, url, "transaction"), Options{}))
	t.Cleanup(through.Close)
	ok(t, through.Ping(t.Context()))
	if got := mode(through); got != pgx.QueryExecModeCacheDescribe {
		t.Errorf("once there is one: %v", got)
	}
	chosen := must[*Queue](t)(Open(t.Context(), url+"&default_query_exec_mode=exec", Options{}))
	t.Cleanup(chosen.Close)
	if got := mode(chosen); got != pgx.QueryExecModeExec {
		t.Errorf("chosen by the connection string: %v", got)
	}
}
