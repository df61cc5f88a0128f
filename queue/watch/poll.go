package watch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
)

const (
	streamingRest = time.Second // between two polls while the stream counts

	restPerPoll  = 10              // a poll rests so many times as long as it took,
	restMost     = 2 * time.Second // up to this, or as long as it took: see restAfter
	reconnectMax = 5 * time.Second
)

func (f *Feed) polling(ctx context.Context) {
	var p poller
	failures := 0
	for {
		var took time.Duration // without waiting for another reading
		err := f.read(ctx, func(ctx context.Context) error {
			began := time.Now()
			defer func() { took = time.Since(began) }()
			return f.poll(ctx, &p)
		})
		if ctx.Err() != nil {
			return
		}
		turn := turns{after: max(f.opts.Poll, restAfter(took))}
		switch {
		case errors.Is(err, errTooFar):
			turn.after = pause(1, reconnectMax)
		case err != nil:
			failures++
			f.down(Polled, f.sayReading(err))
			turn.after = pause(failures, reconnectMax)
		default:
			failures = 0
			turn.never = f.opts.Poll < 0
			if p.streaming {
				turn.after = max(turn.after, streamingRest)
			}
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
	after time.Duration
	never bool // only when asked by Refresh
}

func (f *Feed) waitForTurn(ctx context.Context, t turns) bool {
	timer := time.NewTimer(t.after)
	defer timer.Stop()
	due := timer.C
	if t.never {
		due = nil
	}
	select {
	case <-ctx.Done():
		return false
	case <-due:
		return true
	case <-f.pollNow:
		return true
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
	streaming bool   // it had nothing to count
	streams   uint64 // how many there had been
	reach     reach
	depths    map[string]queue.QueueDepth
	held      map[int64]*row // the leases
	at        time.Time      // of them
	read      time.Time      // local clock
}

// poll reads once and puts what it read into State: what the stream does not carry, and
// while there is none the jobs themselves.
func (f *Feed) poll(ctx context.Context, p *poller) error {
	if err := f.readServer(ctx); err != nil {
		return err
	}
	if err := f.readPauses(ctx); err != nil {
		return err
	}
	if f.State().WAL.OK {
		*p = poller{streaming: true, reach: p.reach}
		f.change(func() {
			f.draft.Server.SchemaOld = false
			f.draft.Every = max(f.opts.Poll, streamingRest)
		})
		return nil
	}
	p.streaming = false
	f.note(func() {
		if p.streams != f.streams { // one told what happened since the last poll
			*p = poller{streams: f.streams, reach: p.reach}
		}
	})
	asked := time.Now() // what is read is no newer than this, however long it takes
	depths, err := f.reader.Depth(ctx, p.reach.cap())
	if err != nil && f.tookTooLong(ctx, err) && p.reach.tooFar(time.Now()) {
		return errTooFar
	}
	if err != nil {
		return f.gone(err)
	}
	jobs, err := f.reader.Leases(ctx, leasesShown)
	if err != nil {
		return f.gone(err)
	}
	held := make(map[int64]*row, len(jobs))
	list := make([]Lease, len(jobs))
	for i := range jobs {
		r := rowOf(&jobs[i])
		held[r.id], list[i] = r, r.lease()
	}
	story, renewals, err := f.compare(ctx, p, held)
	if err != nil {
		return f.gone(err)
	}

	now := time.Now()
	took := now.Sub(asked)
	total, dead, capped, more := 0, int64(0), false, false
	for _, d := range depths.Queues {
		total += int(d.Processing)
		dead += d.Failed + d.Dead
		capped = capped || d.AtLeast.Failed
		more = more || d.AtLeast.Processing
	}
	if len(list) < leasesShown {
		total, more = len(list), false
	}
	told := false
	f.change(func() {
		if f.draft.WAL.OK || p.streams != f.streams { // it attached meanwhile, and knows better
			return
		}
		f.draft.Server.SchemaOld = false
		if told = !f.seeding; told { // else the stream will, of all since its snapshot
			f.happened(story...)
			f.renewals += renewals
			f.countRates(p, depths.Queues, now)
		}
		f.draft.Leases = Leases{Source: Polled, At: depths.At, Read: asked, Total: max(total, len(list)), Capped: more, List: list, Renewals: f.renewals}
		f.draft.Every = max(f.opts.Poll, restAfter(took)) + 2*took
		f.draft.Depths = Depths{Source: Polled, At: depths.At, Read: asked, Queues: agreeing(f.depthLines(stillKnown(f.draft.Depths.Queues, depths), now), f.draft.Leases)}
		f.reached(&p.reach)
		f.countDead(dead, capped)
	})
	p.reach.through(now)
	if !told {
		return nil
	}
	p.held, p.at, p.read = held, depths.At, now
	p.depths = make(map[string]queue.QueueDepth, len(depths.Queues))
	for _, d := range depths.Queues {
		p.depths[d.Queue] = d
	}
	return nil
}

// countDead takes the number of dead letters and asks for them when it changed: nobody
// has to have signalled it. Call it within change.
func (f *Feed) countDead(n int64, capped bool) {
	if f.dead >= 0 && f.dead != n && !f.draft.Notify.OK {
		poke(f.readDead)
	}
	f.dead, f.deadCapped = n, capped
	if f.draft.Dead.Source != Unknown {
		f.totalDead()
	}
}

// deadPatience is how long the feed waits for the notification of a change that the
// stream has told.
const deadPatience = 500 * time.Millisecond

// expectDead asks for the dead letters when the newest change among them, at a local
// time, is not in the last reading: a writer may have switched the triggers off. It asks too
// when the list is not as long as the stream counts: a commit is streamed before other
// sessions see it, so that a reading of that moment lacks it. Call it within change.
func (f *Feed) expectDead(change, now time.Time, count int64) {
	d := &f.draft.Dead
	unheard := d.Read.Before(change) && now.Sub(change) >= deadPatience
	differs := len(d.Latest) < deadShown && int64(len(d.Latest)) != count && now.Sub(d.Read) >= deadRest
	if unheard || d.Source != Unknown && differs {
		poke(f.readDead)
	}
}

// totalDead puts the number of dead letters beside the newest of them. Call it within change.
func (f *Feed) totalDead() {
	d := &f.draft.Dead
	shown := int64(len(d.Latest))
	d.Total, d.Capped = f.dead, f.deadCapped
	if d.Total < shown || f.draft.Depths.Source != FromWAL && shown < deadShown { // they were read later
		d.Total, d.Capped = shown, shown == deadShown
	}
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
		f.draft.Depths, f.draft.Pauses, f.draft.Traffic = Depths{}, Pauses{}, Traffic{}
		f.draft.Dead = Dead{Signal: f.draft.Dead.Signal}
		f.draft.Leases = Leases{Renewals: f.renewals}
		f.dead = -1
	})
	if old {
		err := errors.New(oldSchema(f.q.Schema().Name()))
		f.abandon(err)
		return err
	}
	f.abandon(errNoTable)
	return fmt.Errorf("there is no table %s.jobs in this database: run `leasetop migrate up`, or name another --schema", f.q.Schema().Name())
}

func oldSchema(name string) string {
	return fmt.Sprintf("the schema %s is older than this program: run `leasetop migrate up`", name)
}

// countRates counts what the difference of two readings shows. What happened between
// readings that were further apart than they should be happened nobody knows when. Call it
// within change.
func (f *Feed) countRates(p *poller, queues []queue.QueueDepth, now time.Time) {
	if p.depths == nil || f.opts.Poll >= 0 && now.Sub(p.read) > 2*max(f.draft.Every, time.Second) {
		f.rates.counted(now, now)
		return
	}
	f.rates.counted(p.read, now)
	for _, d := range queues {
		old := p.depths[d.Queue]
		if !countable(d) || (old.Queue != "" && !countable(old)) {
			continue
		}
		out := max(d.Completed-old.Completed, 0) + max(d.Failed+d.Dead-old.Failed-old.Dead, 0)
		live := d.Ready + d.Scheduled + d.Processing - old.Ready - old.Scheduled - old.Processing
		in, died := max(live+out, 0), max(d.Failed+d.Dead-old.Failed-old.Dead, 0)
		f.rates.add(d.Queue, now, moves{in: uint32(in), out: uint32(out), dead: uint32(died)})
	}
}

// countable tells whether differences of these counts mean anything.
func countable(d queue.QueueDepth) bool { return d.CompletedExact && !d.AtLeast.Any() }

// depthLines puts the rates beside the counts. Call it within change.
func (f *Feed) depthLines(queues []queue.QueueDepth, now time.Time) []QueueDepth {
	lines := make([]QueueDepth, len(queues))
	for i, d := range queues {
		lines[i].QueueDepth = d
		if countable(d) {
			flow := f.rates.read(d.Queue, now)
			lines[i].Rates = Polled
			lines[i].Rate, lines[i].Spark, lines[i].SparkIn = flow.rate, flow.spark, flow.sparkIn
		}
	}
	f.rates.idle(now)
	return lines
}
