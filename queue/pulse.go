package queue

import (
	"context"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"
)

// pulse is one heartbeat on its way.
type pulse struct {
	q       *Queue
	on      Executor
	conn    *pgx.Conn // nil in a transaction of the caller's
	renewed map[Lease]bool
	refused map[Lease]*Refusal
	beat    Beat
}

// renew renews the leases in one statement. If the server refuses one of the rows, the
// leases are renewed in groups, and those of a refused group one by one: each time all in
// one round trip, since the trust in the others does not wait.
func (p *pulse) renew(ctx context.Context, renewals []Renewal) error {
	if p.conn == nil {
		return p.renewWithin(ctx, renewals)
	}
	var seen []Cancellation
	err := p.q.writeOn(ctx, p.conn, "heartbeat", beatColumns(renewals), collect(&seen))
	if err == nil {
		p.take(seen)
		return nil
	}
	if refusesRow(err) == nil || len(renewals) == 0 {
		return err
	}
	p.refused = map[Lease]*Refusal{}
	groups := slices.Collect(slices.Chunk(renewals, int(math.Ceil(math.Sqrt(float64(len(renewals)))))))
	suspects, err := p.renewApart(ctx, groups)
	if err != nil || len(suspects) == 0 {
		return err
	}
	_, err = p.renewApart(ctx, slices.Collect(slices.Chunk(suspects, 1)))
	return err
}

// renewWithin renews in the caller's transaction.
func (p *pulse) renewWithin(ctx context.Context, renewals []Renewal) error {
	rows, err := p.on.Query(ctx, p.q.schema.Query("heartbeat"), beatColumns(renewals)...)
	if err != nil {
		return err
	}
	var seen []Cancellation
	defer rows.Close()
	for rows.Next() {
		if err := collect(&seen)(rows); err != nil {
			return err
		}
	}
	p.take(seen)
	return rows.Err()
}

// renewApart renews each group by itself, and returns the leases of groups that the server
// refused. A refused group of one is a refused lease.
func (p *pulse) renewApart(ctx context.Context, groups [][]Renewal) (suspects []Renewal, err error) {
	lists := make([][]any, len(groups))
	for i, group := range groups {
		lists[i] = beatColumns(group)
	}
	seen := make([][]Cancellation, len(groups))
	errs, err := p.q.apart(ctx, p.conn, "heartbeat", lists, func(i int, row pgx.CollectableRow) error { return collect(&seen[i])(row) })
	if err != nil {
		return nil, err
	}
	for i, group := range groups {
		switch err := errs[i]; {
		case err == nil:
			p.take(seen[i])
		case refusesRow(err) == nil:
			return nil, err
		case len(group) > 1:
			suspects = append(suspects, group...)
		default:
			p.refused[group[0].Lease], _ = refusalOf(group[0].ID, "renew", err)
		}
	}
	return suspects, nil
}

// readRest reads what is the matter with the leases that were not renewed.
func (p *pulse) readRest(ctx context.Context, renewals []Renewal) error {
	rest := map[Lease]Renewal{}
	var leases []Lease
	for _, r := range renewals {
		switch {
		case p.renewed[r.Lease]:
			p.beat.Renewed = append(p.beat.Renewed, r.Lease)
		default:
			leases = append(leases, r.Lease)
			rest[r.Lease] = r
		}
	}
	if len(leases) == 0 {
		return nil
	}
	stand, lost, err := p.q.owners(ctx, p.on, leases)
	if err != nil {
		return err
	}
	p.beat.Lost = lost
	var unsure []Renewal
	for _, l := range stand {
		if p.refused[l] == nil {
			unsure = append(unsure, rest[l])
		}
	}
	if p.conn != nil && len(unsure) > 0 {
		if err := p.renewHeld(ctx, unsure); err != nil {
			return err
		}
	}
	var refusals []*Refusal
	for _, l := range stand {
		switch {
		case p.renewed[l]:
			p.beat.Renewed = append(p.beat.Renewed, l)
		case p.refused[l] != nil:
			p.beat.Refused = append(p.beat.Refused, RefusedLease{l, p.refused[l]})
			refusals = append(refusals, p.refused[l])
		default:
			p.beat.Contended = append(p.beat.Contended, l)
		}
	}
	p.q.noteLeased(stand, refusals)
	return nil
}

// renewHeld renews leases that stand though the heartbeat passed them over. Those that can
// be locked, and are not renewed even then, a trigger leaves as they are.
func (p *pulse) renewHeld(ctx context.Context, renewals []Renewal) error {
	args := beatColumns(renewals)
	var seen []Cancellation
	held, err := p.q.whileHeld(ctx, p.conn, args[0].([]int64), args[1].([]string), args[3].([]float64), "heartbeat", args, collect(&seen))
	if refusesRow(err) != nil { // it was locked before, and is refused now: the next heartbeat tells which
		return nil
	}
	if err != nil {
		return err
	}
	p.take(seen)
	for _, r := range renewals {
		if held[r.Lease] && !p.renewed[r.Lease] {
			if p.refused == nil {
				p.refused = map[Lease]*Refusal{}
			}
			p.refused[r.Lease] = leftAlone(r.ID, "renew")
		}
	}
	return nil
}

// take counts the leases that a statement has renewed.
func (p *pulse) take(seen []Cancellation) {
	for _, c := range seen {
		p.renewed[c.Lease] = true
		if c.By != "" {
			p.beat.Cancelled = append(p.beat.Cancelled, c)
		}
	}
}

// collect reads the rows of a heartbeat.
func collect(seen *[]Cancellation) func(pgx.CollectableRow) error {
	return func(row pgx.CollectableRow) error {
		var c Cancellation
		err := row.Scan(&c.ID, &c.Token, &c.By)
		*seen = append(*seen, c)
		return err
	}
}

// beatColumns are the arguments of a heartbeat.
func beatColumns(renewals []Renewal) []any {
	ids, owners := make([]int64, len(renewals)), make([]string, len(renewals))
	seconds, left := make([]float64, len(renewals)), make([]float64, len(renewals))
	for i, r := range renewals {
		ids[i], owners[i], seconds[i], left[i] = r.ID, r.Token, r.For.Seconds(), max(r.Left, 0).Seconds()
	}
	return []any{ids, owners, seconds, left}
}
