package queue

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

// A row whose trigger takes as long as it likes is passed over as one that is refused, by a
// role with a statement_timeout, and by one whose claim was given up.
func TestRowWhoseTriggerTakesLongStopsNoOther(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]string{"statement_timeout": "&options=-cstatement_timeout%3D500", "given up": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := testdb.New(t)
			q := must[*Queue](t)(Open(t.Context(), url+options, Options{}))
			t.Cleanup(q.Close)
			slow, free := enqueue(t, q, NewJob{Queue: "q", Kind: "slow"}), enqueue(t, q, NewJob{Queue: "q"})
			exec(t, q, `create function app_slow() returns trigger language plpgsql as $$ begin perform pg_sleep(600); return new; end $$;
				create trigger app_slow before update on leasetop.jobs for each row when (old.kind = 'slow') execute function app_slow()`)
			var refused []*Refusal
			claim := func(ctx context.Context) ([]Job, error) {
				return q.Claim(ctx, ClaimRequest{Queue: "q", Owner: owner(), Lease: time.Minute, Limit: 2, Refused: func(r *Refusal) { refused = append(refused, r) }})
			}
			if options == "" {
				for !q.passedClaims.singly("q") { // it may end before it has begun
					ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
					if jobs, err := claim(ctx); !errors.Is(err, context.DeadlineExceeded) {
						t.Fatal(jobs, err)
					}
					cancel()
				}
			}
			var got []Job
			for end := time.Now().Add(time.Minute); (len(got) == 0 || len(refused) == 0) && time.Now().Before(end); { // the first claim may still be ending
				got = append(got, must[[]Job](t)(claim(t.Context()))...)
			}
			if len(got) != 1 || got[0].ID != free {
				t.Errorf("claimed %+v", got)
			}
			if len(refused) != 1 || refused[0].JobID != slow || refused[0].SQLSTATE != queryCanceled || !strings.Contains(refused[0].Detail, "app_slow()") {
				t.Errorf("refused %+v", refused)
			}
			if again := must[[]Job](t)(claim(t.Context())); len(again) > 0 {
				t.Errorf("claimed %+v", again)
			}
		})
	}
}
