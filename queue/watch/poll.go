package watch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
)

const (
	countCap = 100_000 // no count of a poll goes further

	pollSoonest  = 200 * time.Millisecond // between a reading and the next that the stream asked for
	restPerPoll  = 10                     // a poll rests so many times as long as it took,
	restMost     = 2 * time.Second        // up to this, or as long as it took: see restAfter
	reconnectMax = 5 * time.Second
)

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
		turn := turns{atLatest: max(f.opts.Poll, restAfter(took)), soonest: max(pollSoonest, restAfter(took))}
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

// restAfter is how long the database is left alone after a poll that took so long. A
// quick one costs it a tenth of its time at most; a slow one half, for figures that
// stood still ten times as long as they took to read would be of no use to anybody.
func restAfter(took time.Duration) time.Duration {
	return max(took, min(restPerPoll*took, restMost))
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

// poll reads once and puts what it read into State.
func (f *Feed) poll(ctx context.Context, p *poller) error {
	began := time.Now()
	seen, err := f.readServer(ctx)
	if err != nil {
		return err
	}
	if err := f.readPauses(ctx); err != nil {
		return err
	}
	asked := time.Now() // what is read is no newer than this, however long it takes
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
	took := now.Sub(began)
	total, dead := 0, int64(0)
	for _, d := range depths.Queues {
		total += int(d.Processing)
		dead += d.Failed + d.Dead
	}
	f.change(func() {
		f.draft.Server.SchemaOld = false
		if !f.draft.WAL.OK {
			f.happened(story...)
			f.leases.renewals += renewals
			f.countRates(p, depths.Queues, now)
		}
		f.leases.reading(rows, total, seen, depths.At, asked)
		f.draft.Every = max(f.opts.Poll, restAfter(took)) + 2*took
		f.draft.Depths = Depths{Source: Polled, At: depths.At, Read: asked, Queues: f.depthLines(stillKnown(f.draft.Depths.Queues, depths), now)}
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

// gone empties what was shown of tables that are not there, or not as this program
// needs them, and passes the error on.
func (f *Feed) gone(err error) error {
	missing, old := errors.Is(err, queue.ErrSchemaMissing), errors.Is(err, queue.ErrSchemaOld)
	if !missing && !old {
		return err
	}
	f.change(func() {
		f.draft.Server.SchemaMissing, f.draft.Server.SchemaOld = missing, old
		f.draft.Depths, f.draft.Pauses = Depths{}, Pauses{}
		f.draft.Dead = Dead{Signal: f.draft.Dead.Signal}
		f.leases = leaseBoard{renewals: f.leases.renewals}
	})
	if old {
		return errors.New(oldSchema(f.q.Schema().Name()))
	}
	return fmt.Errorf("there is no table %s.jobs in this database: run `leasetop migrate up`, or name another --schema", f.q.Schema().Name())
}

func oldSchema(name string) string {
	return fmt.Sprintf("the schema %s is older than this program: run `leasetop migrate up`", name)
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
func countable(d queue.QueueDepth) bool { return d.CompletedExact && !d.AtLeast.Any() }

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
		lines[i].Rate.In, lines[i].Rate.Out, lines[i].Spark = f.rates.read(d.Queue, now)
	}
	f.rates.forget(names, now)
	return lines
}
