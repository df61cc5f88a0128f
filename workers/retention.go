package workers

import (
	"context"
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

// batchPatience bounds each batch of a purge, with the rest after it.
const batchPatience = time.Minute

// retain removes completed jobs that are older than Options.Retention. All
// processes ask for the chore, and one at a time has it. Dead letters stay: only
// a person or a script ends those.
func (p *Pool) retain(ctx context.Context) {
	every := retentionEvery(p.o.Retention)
	again := pace{min: min(time.Second, every), max: every}
	mine := false
	for p.heart.await(ctx) {
		var err error
		if !mine { // or still ours, after a try that failed
			mine, err = p.takeRetention(ctx, every)
		}
		if mine {
			err = p.purge(ctx)
		}
		if ctx.Err() != nil {
			return
		}
		wait := every + rand.N(every/10+1) // longer, never shorter: or it would not be due yet
		if err != nil {
			p.trouble("retention", err)
			p.heart.doubt()
			wait = again.next()
		} else {
			p.works("retention")
			p.signals.retained.send(mine)
			again.reset()
			mine = false
		}
		if !sleep(ctx, wait) {
			return
		}
	}
}

func (p *Pool) takeRetention(ctx context.Context, every time.Duration) (mine bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, claimPatience)
	defer cancel()
	return p.q.TakeChore(ctx, retentionChore, every)
}

// purge removes what is too old and tells how much that was.
func (p *Pool) purge(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stalled := time.AfterFunc(batchPatience, cancel)
	defer stalled.Stop()
	removed, err := p.q.Purge(ctx, queue.Purge{What: queue.PurgeCompleted, OlderThan: p.o.Retention},
		func(int64) { stalled.Reset(batchPatience) })
	if removed > 0 {
		p.emit(Event{What: Purged, Text: fmt.Sprintf("%s that completed more than %v ago removed", counted(int(removed), "job"), p.o.Retention)})
	}
	return err
}
