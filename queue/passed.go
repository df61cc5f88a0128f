package queue

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// How long a row that the server refused is passed over: at first, and at most. It is tried
// again sooner when it was changed, which is looked for this often.
const (
	passAtFirst = time.Second
	passAtMost  = 5 * time.Minute
	passLooks   = time.Second
)

// passedMost is how many rows are passed over, for claims and for reclaims. Where the server
// refuses more, it is no matter of single rows.
const passedMost = 1000

// passed are the rows that statements of this process leave out for a while, because the
// server refused to change them. The zero value is ready.
type passed struct {
	mu     sync.Mutex
	rows   map[int64]*passedRow
	apart  map[string]time.Time // until when rows of these queues are taken singly
	looked time.Time            // when their versions were read last
}

type passedRow struct {
	queue   string
	version string        // of the row when it was refused
	until   time.Time     // then it is tried again
	step    time.Duration // how long it is passed over
	due     bool          // it was found that until is over
}

// none is what statements are given when there is nothing to pass over: NULL would be no list.
var none = []int64{}

// ids are the rows to be left out now, of one queue or, when that is "", of all. woken are
// the queues of rows whose time has just come.
func (p *passed) ids(queue string) (ids []int64, woken []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.rows) == 0 {
		return none, nil
	}
	ids = []int64{}
	now := time.Now()
	for id, row := range p.rows {
		switch {
		case row.until.After(now):
			if queue == "" || queue == row.queue {
				ids = append(ids, id)
			}
		case !row.due:
			row.due = true
			woken = append(woken, row.queue)
		case now.Sub(row.until) > 2*passAtMost: // refused no more, or somebody else's
			delete(p.rows, id)
		}
	}
	return ids, woken
}

// pass leaves a row out for a while, twice as long as the last time unless it was changed
// since. full tells that too many are left out already.
func (p *passed) pass(id int64, queue, version string) (step time.Duration, full bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	row := p.rows[id]
	switch {
	case row == nil && len(p.rows) >= passedMost:
		return 0, true
	case row == nil || row.version != version:
		if p.rows == nil {
			p.rows = map[int64]*passedRow{}
		}
		row = &passedRow{queue: queue, version: version, step: passAtFirst}
		p.rows[id] = row
	default:
		row.step = min(2*row.step, passAtMost)
	}
	row.until, row.due = time.Now().Add(row.step), false
	return row.step, false
}

// apartFor is for how long rows of a queue are taken singly after a statement over many of
// them did not end in time: the one that held it up may be locked still.
const apartFor = time.Minute

// late notes that a statement over many rows of a queue did not end in time, or that one row
// did not, which is passed over for a while.
func (p *passed) late(queue string, passedFor time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.apart == nil {
		p.apart = map[string]time.Time{}
	}
	p.apart[queue] = time.Now().Add(passedFor + apartFor)
}

// singly tells whether rows of a queue are to be taken singly.
func (p *passed) singly(queue string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	until, late := p.apart[queue]
	if late && time.Now().After(until) {
		delete(p.apart, queue)
		return false
	}
	return late
}

// drop forgets rows that were changed after all, and tells which were known.
func (p *passed) drop(ids ...int64) (known []int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range ids {
		if p.rows[id] != nil {
			delete(p.rows, id)
			known = append(known, id)
		}
	}
	return known
}

// toLookAt are the rows whose versions are to be read now; none when that was a moment ago.
func (p *passed) toLookAt() (ids []int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.rows) == 0 || time.Since(p.looked) < passLooks {
		return nil
	}
	p.looked = time.Now()
	for id := range p.rows {
		ids = append(ids, id)
	}
	return ids
}

// changed forgets the rows that have another version by now, or are gone, and returns their queues.
func (p *passed) changed(versions map[int64]string, asked []int64) (queues []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range asked {
		if row := p.rows[id]; row != nil && row.version != versions[id] {
			queues = append(queues, row.queue)
			delete(p.rows, id)
		}
	}
	return queues
}

// leaveOut returns the rows to be passed over now; those that were changed meanwhile are none of them.
func (q *Queue) leaveOut(ctx context.Context, on Executor, p *passed, queue string) ([]int64, error) {
	var again []string
	if look := p.toLookAt(); len(look) > 0 {
		versions, err := q.versions(ctx, on, look)
		if err != nil {
			return nil, err
		}
		again = p.changed(versions, look)
	}
	ids, woken := p.ids(queue)
	q.Forget(slices.Concat(again, woken)...) // they stand before the mark
	return ids, nil
}

// versions reads the versions of rows.
func (q *Queue) versions(ctx context.Context, on Executor, ids []int64) (map[int64]string, error) {
	rows, err := on.Query(ctx, q.schema.Query("versions"), ids)
	if err != nil {
		return nil, q.forbid(err, "versions")
	}
	versions := make(map[int64]string, len(ids))
	var id int64
	var version string
	_, err = pgx.ForEachRow(rows, []any{&id, &version}, func() error {
		versions[id] = version
		return nil
	})
	return versions, q.forbid(err, "versions")
}
