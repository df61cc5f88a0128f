package languages

import (
	"fmt"
	"testing"

	"github.com/leasetop/leasetop/queue"
)

// A row that the server refuses to change, with an error or without one, holds up no other.
func TestRefusedRowHoldsUpNoOther(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		q, url := open(t)
		conn := connect(t, url)
		raised := enqueue(t, q, queue.NewJob{}, "nothing")
		skipped := enqueue(t, q, queue.NewJob{}, "nothing")
		expired := enqueue(t, q, queue.NewJob{}, "nothing")
		do(t, conn, `update leasetop.jobs set status = 'processing', locked_by = 'gone', lease_expires_at = now() - interval '1 minute' where id in ($1, $2)`, skipped, expired)
		do(t, conn, `create function app_rule() returns trigger language plpgsql as $$begin if new.locked_by is null then return null; end if; raise exception 'frozen by the app'; end$$`)
		do(t, conn, fmt.Sprintf(`create trigger app_rule before update on leasetop.jobs for each row when (new.id in (%d, %d)) execute function app_rule()`, raised, skipped))
		good := enqueue(t, q, queue.NewJob{}, "nothing")
		p := start(t, l, options{URL: url, Slots: 2})
		until(t, q, good, queue.Completed)
		until(t, q, expired, queue.Completed)
		p.says(fmt.Sprintf("job %d: the server refuses to change it, it is passed over for 1 s: frozen by the app.*", raised))
		p.says(fmt.Sprintf("job %d: the server refuses to change it, it is passed over for 1 s: a trigger leaves the row as it was", skipped))
		if job := until(t, q, raised, queue.Pending); job.Attempts != 0 {
			t.Errorf("it is %+v", job)
		}
	})
}
