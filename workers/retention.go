package workers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// retentionChore is what the processes of a cluster take turns in.
const retentionChore = "retention"

// retentionEvery is how often completed jobs that are older than age are removed.
// After a tenth of their age, so that none stays much longer than it should, and
// within the hour, so that no round has much to remove; but not more often than
// once a minute, since each round walks the table. (An age of less than that is for
// tables of a test's size.)
func retentionEvery(age time.Duration) time.Duration {
	return min(max(age/10, min(age, time.Minute)), time.Hour)
}

// batchPatience bounds each batch of a purge, with the rest after it and the word that
// the chore is kept. It is no longer than the chore is put off by that word: whoever is
// held up has given up before another may begin.
const batchPatience = time.Minute

// round is this process's part in a chore.
type round struct {
	every time.Duration
	until time.Duration // boot clock: until when nobody else begins it; 0 when it is not ours
}

// retain removes completed jobs that are older than Options.Retention. All
// processes ask for the chore, and one at a time has it, however long its round takes:
// each batch puts it off again for the others. Dead letters stay: only a person or a
// script ends those.
func (p *Pool) retain(ctx context.Context) {
	r := round{every: retentionEvery(p.o.Retention)}
	again := pace{min: min(time.Second, r.every), max: r.every}
	for p.heart.await(ctx) {
		var err, kept error
		if p.clock() >= r.until { // else it is still ours, after a try that failed
			err = p.takeRetention(ctx, &r)
		}
		mine := r.until > 0
		if mine {
			kept, err = p.purge(ctx, &r)
		}
		if ctx.Err() != nil {
			return
		}
		wait := r.every + rand.N(r.every/10+1) // longer, never shorter: or it would not be due yet
		if err != nil {
			p.trouble("retention", err)
			p.heart.doubt()
			wait = again.next()
		} else {
			if kept == nil {
				p.works("retention")
			} else {
				p.trouble("retention", kept)
			}
			p.signals.retained.send(mine)
			again.reset()
			r.until = 0
		}
		if !sleep(ctx, wait) {
			return
		}
	}
}

func (p *Pool) takeRetention(ctx context.Context, r *round) error {
	ctx, cancel := context.WithTimeout(ctx, claimPatience)
	defer cancel()
	sent := p.clock()
	mine, err := p.q.TakeChore(ctx, retentionChore, r.every)
	r.until = 0
	if mine {
		r.until = sent + r.every
	}
	return err
}

// purge removes what is too old and reports how much that was. A round that cannot keep
// its chore ends. kept names the first job that could not be removed.
func (p *Pool) purge(ctx context.Context, r *round) (kept, err error) {
	purging, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(batchPatience, func() { cancel(errStalled) })
	defer stalled.Stop()
	done, err := p.q.Purge(purging, queue.Purge{What: queue.PurgeCompleted, OlderThan: p.o.Retention}, func(int64) {
		sent := p.clock()
		if sent >= r.until { // the machine slept, say: another may be at it
			cancel(errStalled)
			return
		}
		if err := p.q.KeepChore(purging, retentionChore, r.every); err != nil {
			cancel(err)
			return
		}
		r.until = sent + r.every
		stalled.Reset(batchPatience)
	})
	if done.Deleted > 0 {
		p.emit(Event{What: Purged, Text: fmt.Sprintf("%s that completed more than %v ago removed", counted(int(done.Deleted), "job"), p.o.Retention)})
	}
	if why := context.Cause(purging); why != nil && ctx.Err() == nil {
		return nil, why
	}
	return keptBack(done), err
}

// keptBack is an error that names the first job that a purge could not remove; nil when
// it removed all.
func keptBack(done queue.Purged) error {
	if done.Kept == 0 {
		return nil
	}
	first := done.First[0]
	text := fmt.Sprintf("%s cannot be removed: job %s: %s", counted(int(done.Kept), "job"), first.Name, first.Reason)
	if first.Detail != "" {
		text += ": " + first.Detail
	}
	return errors.New(text)
}

// errStalled ends a round of which a batch took too long.
var errStalled = fmt.Errorf("a batch took longer than %v", batchPatience)
