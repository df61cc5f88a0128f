package watch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/queue"
)

const (
	countCap = 50_000 // no count of a poll goes further

	// A statement that takes longer is given up by the server, and a server which
	// does not even say so is given up a little later.
	statementTimeout = 5 * time.Second
	pollDeadline     = 6 * time.Second
	silentAfter      = 4 * time.Second // when the screen is told that there is no answer

	pollSoonest  = 200 * time.Millisecond // between a reading and the next that the stream asked for
	restPerPoll  = 10                     // a poll rests so many times as long as it took
	reconnectMax = 5 * time.Second
)

// openReader makes the connection which all of the feed's readings share, one at a
// time (see read). It is a pool of several only because pgx takes up to 15 s to let
// go of a connection that no longer answers, and its place is needed before.
func (f *Feed) openReader() (*queue.Queue, error) {
	config := f.q.Pool().Config()
	config.MaxConns, config.MinConns, config.MinIdleConns = 4, 0, 0
	f.name(config.ConnConfig, "poll")
	after := config.AfterConnect
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if after != nil {
			if err := after(ctx, conn); err != nil {
				return err
			}
		}
		_, err := conn.Exec(ctx, f.q.Schema().Query("watch_session"),
			int64(conn.PgConn().PID()), strconv.FormatInt(statementTimeout.Milliseconds(), 10))
		return err
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, err
	}
	return queue.New(pool, f.q.Schema().Name())
}

// name makes a connection of the feed known to whoever looks at pg_stat_activity.
func (f *Feed) name(config *pgx.ConnConfig, what string) {
	config.RuntimeParams["application_name"] = "leasetop feed " + what
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 5 * time.Second
	}
}

func (f *Feed) polling(ctx context.Context) {
	var p poller
	failures := 0
	for {
		drain(f.pollSoon)
		var took time.Duration // without waiting for another reading
		err := f.read(ctx, func(ctx context.Context) error {
			began := time.Now()
			defer func() { took = time.Since(began) }()
			return f.poll(ctx, &p)
		})
		if ctx.Err() != nil {
			return
		}
		turn := turns{atLatest: max(f.opts.Poll, restPerPoll*took), soonest: max(pollSoonest, restPerPoll*took)}
		if err != nil {
			failures++
			f.down(Polled, say(err))
			turn = turns{atLatest: pause(failures, reconnectMax)}
		} else {
			failures = 0
			turn.never = f.opts.Poll < 0
			if f.up(Polled, took) { // whatever was wrong with the others may be cured too
				poke(f.retryWAL)
				poke(f.retryDead)
				poke(f.readDead)
			}
		}
		if !f.waitForTurn(ctx, turn) {
			return
		}
	}
}

// turns says when the next poll is due.
type turns struct {
	atLatest time.Duration
	soonest  time.Duration // when the stream asks for one; 0: it may not ask
	never    bool          // only when asked by Refresh
}

func (f *Feed) waitForTurn(ctx context.Context, t turns) bool {
	ended := time.Now()
	timer := time.NewTimer(t.atLatest)
	defer timer.Stop()
	latest, soon := timer.C, f.pollSoon
	if t.never {
		latest = nil
	}
	if t.never || t.soonest == 0 {
		soon = nil
	}
	var early <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return false
		case <-latest:
			return true
		case <-f.pollNow:
			return true
		case <-soon:
			soon, early = nil, time.After(t.soonest-time.Since(ended))
		case <-early:
			return true
		}
	}
}

func drain(c <-chan struct{}) {
	select {
	case <-c:
	default:
	}
}

// poller is what one poll leaves for the next.
type poller struct {
	depths map[string]queue.QueueDepth
	dead   int64
}

// read does one reading of the feed when no other is under way, and bounds it.
func (f *Feed) read(ctx context.Context, do func(context.Context) error) error {
	select {
	case f.reading <- struct{}{}:
		defer func() { <-f.reading }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return within(ctx, pollDeadline, func(ctx context.Context) error {
		silent := time.AfterFunc(silentAfter, func() {
			if ctx.Err() == nil {
				f.down(Polled, "no answer for "+inWords(silentAfter))
			}
		})
		defer silent.Stop()
		return do(ctx)
	})
}

// poll reads once and puts what it read into State.
func (f *Feed) poll(ctx context.Context, p *poller) error {
	seen, err := f.readServer(ctx)
	if err != nil {
		return err
	}
	depths, err := f.reader.Depth(ctx, countCap)
	if err != nil {
		return f.gone(err)
	}
	jobs, err := f.reader.Leases(ctx, leasesShown)
	if err != nil {
		return f.gone(err)
	}
	rows := make([]*row, len(jobs))
	for i := range jobs {
		rows[i] = rowOf(&jobs[i])
	}
	story, renewals, err := f.compare(ctx, rows)
	if err != nil {
		return f.gone(err)
	}

	now := time.Now()
	total, dead := 0, int64(0)
	for _, d := range depths.Queues {
		total += int(d.Processing)
		dead += d.Failed + d.Dead
	}
	f.change(func() {
		if !f.draft.WAL.OK {
			f.happened(story...)
			f.leases.renewals += renewals
			f.countRates(p, depths.Queues, now)
		}
		f.leases.reading(rows, total, seen, depths.At, now)
		f.draft.Depths = Depths{Source: Polled, At: depths.At, Read: now, Queues: f.depthLines(depths.Queues, now)}
	})
	known := p.depths != nil
	p.depths = make(map[string]queue.QueueDepth, len(depths.Queues))
	for _, d := range depths.Queues {
		p.depths[d.Queue] = d
	}
	if known && p.dead != dead {
		poke(f.readDead) // nobody has to have signalled it
	}
	p.dead = dead
	return nil
}

// readServer reads where we are and the clock, and what a reading made after it contains.
func (f *Feed) readServer(ctx context.Context) (seen snapshot, err error) {
	conn, err := f.reader.Pool().Acquire(ctx)
	if err != nil {
		return seen, err
	}
	defer conn.Release()
	var clock time.Time
	var text string
	s := Server{Host: hostOf(conn.Conn()), Schema: f.q.Schema().Name()}
	sent := time.Now()
	err = conn.QueryRow(ctx, f.q.Schema().Query("watch_server")).
		Scan(&s.Version, &s.User, &s.Database, &s.ReadOnly, &s.SchemaMissing, &clock, &text)
	received := time.Now()
	if err != nil {
		return seen, err
	}
	if seen, err = parseSnapshot(text); err != nil {
		return seen, err
	}
	f.change(func() {
		f.draft.Server = s
		f.skew.add(sent, received, clock)
	})
	if s.SchemaMissing {
		return seen, f.gone(queue.ErrSchemaMissing)
	}
	return seen, nil
}

// hostOf is the host or socket folder in use.
func hostOf(conn *pgx.Conn) string {
	config := conn.Config()
	for _, other := range config.Fallbacks {
		if other.Host != config.Host { // several were named: which is it?
			return conn.PgConn().Conn().RemoteAddr().String()
		}
	}
	return config.Host
}

// gone empties what was shown of a table that is not there, and passes the error on.
func (f *Feed) gone(err error) error {
	if !errors.Is(err, queue.ErrSchemaMissing) {
		return err
	}
	f.change(func() {
		f.draft.Server.SchemaMissing = true
		f.draft.Depths = Depths{}
		f.draft.Dead = Dead{Signal: f.draft.Dead.Signal}
		f.leases = leaseBoard{renewals: f.leases.renewals}
	})
	return fmt.Errorf("there is no table %s.jobs in this database: run `leasetop migrate up`, or name another --schema", f.q.Schema().Name())
}

// compare tells what happened between the last reading and this one, as far as two
// readings show: a job claimed and ended between them does not. It asks the
// database only what became of leases that are gone, and nothing while the stream
// tells it all anyway.
func (f *Feed) compare(ctx context.Context, rows []*row) (story []Event, renewals uint64, err error) {
	var before map[int64]*row
	var last time.Time
	f.note(func() {
		if !f.draft.WAL.OK && f.leases.source != Unknown {
			before, last = maps.Clone(f.leases.held), f.leases.at
		}
	})
	if before == nil {
		return nil, 0, nil
	}
	now := make(map[int64]*row, len(rows))
	for _, r := range rows {
		now[r.id] = r
	}
	var b burst
	tellOne := func(e Event, at time.Time) {
		if e.What == Renewed {
			renewals++
			return
		}
		e.At, e.Source = at, Polled
		b.add(e)
	}
	if gone := ended(before, now); len(gone) > 0 {
		after, err := f.outcomes(ctx, gone)
		if err != nil {
			return nil, 0, err
		}
		for _, id := range gone {
			old := before[id]
			if r := after[id]; r == nil {
				tellOne(event(Deleted, old, old.owner), time.Now().Add(f.State().Clock.Skew))
			} else if r.status != queue.Processing || r.owner != old.owner { // else only no longer among the first
				tellOne(tell(old, r, r.updatedAt), r.updatedAt)
			}
		}
	}
	for _, r := range rows {
		old := before[r.id]
		switch {
		case old != nil && (old.owner != r.owner || !old.expiresAt.Equal(r.expiresAt)):
			tellOne(tell(old, r, r.updatedAt), r.updatedAt)
		case old == nil && (r.lockedAt.After(last) || len(rows) < leasesShown): // else only now among the first
			waiting := *r
			waiting.status = queue.Pending
			tellOne(tell(&waiting, r, r.updatedAt), r.updatedAt)
		}
	}
	return b.told(), renewals, nil
}

func (f *Feed) outcomes(ctx context.Context, ids []int64) (map[int64]*row, error) {
	rows, err := f.reader.Pool().Query(ctx, f.q.Schema().Query("watch_outcomes"), ids)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, scanRow)
	byID := make(map[int64]*row, len(list))
	for _, r := range list {
		byID[r.id] = r
	}
	return byID, err
}

// scanRow reads a row of watch_outcomes or watch_seed.
func scanRow(rows pgx.CollectableRow) (*row, error) {
	var j queue.Job
	err := rows.Scan(&j.ID, &j.Queue, &j.Kind, &j.Status, &j.Attempts, &j.MaxAttempts, &j.RunAt,
		&j.LockedAt, &j.LockedBy, &j.LeaseExpiresAt, &j.UpdatedAt)
	return rowOf(&j), err
}

// countRates counts what the difference of two readings shows. Call it within change.
func (f *Feed) countRates(p *poller, queues []queue.QueueDepth, now time.Time) {
	if p.depths == nil {
		return
	}
	for _, d := range queues {
		old := p.depths[d.Queue]
		if !countable(d) || (old.Queue != "" && !countable(old)) {
			continue
		}
		out := max(d.Completed-old.Completed, 0) + max(d.Failed+d.Dead-old.Failed-old.Dead, 0)
		live := d.Ready + d.Scheduled + d.Processing - old.Ready - old.Scheduled - old.Processing
		f.rates.add(d.Queue, now, live+out, out)
	}
}

// countable tells whether differences of these counts mean anything.
func countable(d queue.QueueDepth) bool { return d.CompletedExact && !d.Capped }

// depthLines puts the rates beside the counts. Call it within change.
func (f *Feed) depthLines(queues []queue.QueueDepth, now time.Time) []QueueDepth {
	lines := make([]QueueDepth, len(queues))
	names := make(map[string]bool, len(queues))
	for i, d := range queues {
		names[d.Queue] = true
		lines[i].QueueDepth = d
		switch {
		case f.draft.WAL.OK:
			lines[i].Rates = FromWAL
		case countable(d):
			lines[i].Rates = Polled
		default:
			continue
		}
		lines[i].In, lines[i].Out, lines[i].Spark = f.rates.read(d.Queue, now)
	}
	f.rates.forget(names, now)
	return lines
}
