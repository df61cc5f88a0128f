package watch

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
)

const (
	leasesShown = 200    // how many leases State lists
	aheadKept   = 20_000 // how many changes wait for a poll that contains them
)

// leaseBoard is the jobs in processing: the last reading, with what the stream
// told since put on top. A change is put on top of every reading whose snapshot
// does not contain its transaction, so neither an old reading can undo a newer
// change nor a late stream bring back a lease which a newer reading saw end.
type leaseBoard struct {
	source   Source
	at, read time.Time
	held     map[int64]*row
	total    int
	renewals uint64

	seen  snapshot // what the last reading contains
	ahead []leaseChange
	list  []Lease // what held is as a list; nil when held changed since
}

// leaseChange is one change of the stream that concerns leases.
type leaseChange struct {
	xid  uint32
	id   int64
	held *row // the lease now; nil when it ended
	was  bool // the job was in processing before
	all  bool // TRUNCATE: every lease ended
}

// reading takes a poll's leases; total counts them all when rows are only the first.
func (b *leaseBoard) reading(rows []*row, total int, seen snapshot, at, read time.Time) {
	if len(rows) < leasesShown {
		total = len(rows)
	}
	b.source, b.at, b.read = Polled, at, read
	b.held = make(map[int64]*row, len(rows))
	for _, r := range rows {
		b.held[r.id] = r
	}
	b.total, b.seen, b.list = max(total, len(rows)), seen, nil
	b.ahead = slices.DeleteFunc(b.ahead, func(c leaseChange) bool { return seen.contains(c.xid) })
	for _, c := range b.ahead {
		b.put(c)
	}
}

// change takes one change of the stream.
func (b *leaseBoard) change(c leaseChange) {
	if b.seen.contains(c.xid) {
		return
	}
	if len(b.ahead) >= aheadKept { // polls are failing; the next good one sets it right
		b.ahead = append(b.ahead[:0], b.ahead[aheadKept/2:]...)
	}
	b.ahead = append(b.ahead, c)
	b.put(c)
}

func (b *leaseBoard) put(c leaseChange) {
	if b.held == nil {
		b.held = map[int64]*row{}
	}
	b.list = nil
	_, listed := b.held[c.id]
	unlisted := b.total - len(b.held)
	switch {
	case c.all:
		clear(b.held)
		b.total = 0
	case c.held != nil:
		b.held[c.id] = stillCancelled(b.held[c.id], c.held)
		if !listed && (!c.was || unlisted == 0) {
			b.total++
		}
	case listed:
		delete(b.held, c.id)
		b.total--
	case c.was && unlisted > 0:
		b.total--
	}
}

// stillCancelled returns now, of a publication that may be older than the column, with
// what a poll knew: a claim that somebody cancelled stays so to its end.
func stillCancelled(old, now *row) *row {
	if old == nil || old.owner != now.owner || old.cancelledBy == "" || now.cancelledBy != "" {
		return now
	}
	kept := *now
	kept.cancelledBy = old.cancelledBy
	return &kept
}

// attach forgets what a former stream told: the new one begins at a point of its own.
func (b *leaseBoard) attach() { b.ahead = b.ahead[:0] }

// view is the board as State shows it.
func (b *leaseBoard) view() Leases {
	if b.list == nil {
		rows := make([]*row, 0, len(b.held))
		for _, r := range b.held {
			rows = append(rows, r)
		}
		slices.SortFunc(rows, func(x, y *row) int {
			return cmp.Or(x.expiresAt.Compare(y.expiresAt), cmp.Compare(x.id, y.id))
		})
		b.list = make([]Lease, 0, min(len(rows), leasesShown))
		for _, r := range rows[:min(len(rows), leasesShown)] {
			b.list = append(b.list, r.lease())
		}
	}
	return Leases{
		Source: b.source, At: b.at, Read: b.read, Total: b.total,
		List: b.list, Renewals: b.renewals,
	}
}

// agreeing returns the depths with the jobs in processing counted from the leases,
// where all of those are known: the stream keeps them fresher than the poll does
// the depths, and one screen must not show two figures for the same thing.
func agreeing(queues []QueueDepth, leases Leases) []QueueDepth {
	if leases.Total != len(leases.List) {
		return queues
	}
	count := map[string]int64{}
	for _, l := range leases.List {
		count[l.Queue]++
	}
	queues = slices.Clone(queues)
	for i := range queues {
		queues[i].Processing = count[queues[i].Queue]
		delete(count, queues[i].Queue)
	}
	for _, name := range slices.Sorted(maps.Keys(count)) { // not read yet
		queues = append(queues, QueueDepth{QueueDepth: queue.QueueDepth{Queue: name, Processing: count[name]}})
	}
	slices.SortFunc(queues, func(a, b QueueDepth) int { return cmp.Compare(a.Queue, b.Queue) })
	return queues
}

// ended lists the leases of before that now does not hold any more.
func ended(before map[int64]*row, now map[int64]*row) []int64 {
	var ids []int64
	for id, r := range before {
		if n := now[id]; r.status == queue.Processing && n == nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// snapshot is pg_current_snapshot(): which transactions a reading contains.
type snapshot struct {
	xmin, xmax uint64
	running    []uint64 // between the two, yet not contained; sorted
}

// parseSnapshot reads the text form xmin:xmax:xid,xid…
func parseSnapshot(text string) (s snapshot, err error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return s, fmt.Errorf("snapshot %q: want xmin:xmax:list", text)
	}
	number := func(part string) (n uint64) {
		if err == nil {
			n, err = strconv.ParseUint(part, 10, 64)
		}
		return n
	}
	s.xmin, s.xmax = number(parts[0]), number(parts[1])
	if parts[2] != "" {
		for part := range strings.SplitSeq(parts[2], ",") {
			s.running = append(s.running, number(part))
		}
	}
	if err != nil {
		return snapshot{}, fmt.Errorf("snapshot %q: %w", text, err)
	}
	return s, nil
}

// contains tells whether the reading contains a committed transaction. The
// stream gives the low half of its number; the other half is that of whichever
// number lies nearest to the snapshot.
func (s snapshot) contains(xid uint32) bool {
	if s.xmax == 0 {
		return false // nothing was read yet
	}
	whole := s.xmax + uint64(int64(int32(xid-uint32(s.xmax))))
	if whole < s.xmin {
		return true
	}
	if whole >= s.xmax {
		return false
	}
	_, running := slices.BinarySearch(s.running, whole)
	return !running
}
