package queue

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// claimable is a job that could be claimed, and the version of its row.
type claimable struct {
	id      int64
	version string
}

// claimablesRead is how many jobs are looked at, at least, when one of them is refused.
const claimablesRead = 100

// claimApart claims what Claim would if there were not some rows that the server refuses to
// change. It finds them, passes them over from now on, and claims the others. What it has
// claimed it returns, also when it fails later: those jobs are leased.
func (q *Queue) claimApart(ctx context.Context, conn *pgxpool.Conn, r *ClaimRequest) (jobs []Job, err error) {
	var refused []note
	defer func() {
		q.note(refused...)
		for _, n := range refused {
			if r.Refused != nil {
				r.Refused(n.Refusal)
			}
		}
	}()
	for {
		pass, _ := q.passedClaims.ids(r.Queue)
		found, err := q.claimable(ctx, conn, r, pass)
		if err != nil || len(found) == 0 {
			return nil, err
		}
		var full *Refusal // one more than can be passed over
		refuse := func(c claimable, refusal *Refusal) {
			var over bool
			if refusal.For, over = q.passedClaims.pass(c.id, r.Queue, c.version); over {
				full = refusal
				return
			}
			refused = append(refused, note{refusal, r.Owner, c.version})
			if refusal.SQLSTATE == queryCanceled {
				q.passedClaims.late(r.Queue, refusal.For)
			}
		}
		before := len(refused)
		for some := range slices.Chunk(found, r.Limit) {
			var got []Job
			got, err = q.claimThese(ctx, conn, r, some, refuse)
			jobs = append(jobs, got...)
			if err != nil || full != nil || len(jobs) > 0 {
				break
			}
		}
		switch {
		case len(jobs) > 0:
			return jobs, nil
		case err != nil:
			return nil, err
		case full != nil:
			return nil, full
		case len(refused) == before: // others have them by now
			return nil, nil
		}
	}
}

// claimable reads which jobs a claim would take now.
func (q *Queue) claimable(ctx context.Context, conn *pgxpool.Conn, r *ClaimRequest, pass []int64) (found []claimable, err error) {
	err = q.writeOn(ctx, conn.Conn(), "claimable", []any{r.Queue, max(r.Limit, claimablesRead), pass}, func(row pgx.CollectableRow) error {
		var c claimable
		err := row.Scan(&c.id, &c.version)
		found = append(found, c)
		return err
	})
	return found, err
}

// claimThese claims those of some jobs that the server lets be changed, and passes the others to refuse.
func (q *Queue) claimThese(ctx context.Context, conn *pgxpool.Conn, r *ClaimRequest, some []claimable, refuse func(claimable, *Refusal)) (jobs []Job, err error) {
	var patience []string
	if q.passedClaims.singly(r.Queue) {
		patience = []string{"claim_patience"}
	}
	err = sift(some, func(part []claimable) error {
		ids := make([]int64, len(part))
		byID := make(map[int64]claimable, len(part))
		for i, c := range part {
			ids[i], byID[c.id] = c.id, c
		}
		var claimed []Job
		var alone []claimable
		err := q.transaction(ctx, conn.Conn(), patience, "claim_these", []any{r.Queue, r.Owner, r.Lease.Seconds(), ids}, func(row pgx.CollectableRow) error {
			var id int64
			if row.RawValues()[1] == nil {
				err := row.Scan(append([]any{&id}, make([]any, len(row.FieldDescriptions())-1)...)...)
				alone = append(alone, byID[id])
				return err
			}
			claimed = append(claimed, Job{})
			return scanClaimed(row, &claimed[len(claimed)-1], &id)
		})
		if err != nil {
			return slow(err)
		}
		jobs = append(jobs, claimed...)
		for _, c := range alone {
			refuse(c, leftAlone(c.id, "claim"))
		}
		return nil
	}, func(c claimable, err error) {
		if refusal, ok := refusalOf(c.id, "claim", err); ok {
			refuse(c, refusal)
		}
	})
	return jobs, err
}
