package watch

import (
	"slices"
	"time"
)

const (
	sparkSeconds = 60
	rateSeconds  = 10
)

// allQueues is the name, which no queue has, of the line of all of them together. It is no
// sum of the others: what a queue did that is gone since was done all the same.
const allQueues = ""

// blind is the sample of a second that was not counted.
const blind = -1

// rates counts what jobs did in each queue by the second.
type rates struct {
	began  time.Time
	lines  map[string]*rateLine
	seen   coverage
	silent []float64 // the samples of queues in which nothing happened
}

// coverage is how much of each second was counted: nothing of those for which the feed
// was blind, part of that in which it attached.
type coverage struct {
	second int64 // the newest
	shares [sparkSeconds + 1]time.Duration
}

// rateLine is a ring of one-second counts; second is the newest in it.
type rateLine struct {
	second int64
	counts [sparkSeconds + 1]moves
}

// flow is what a queue's rates are at one moment.
type flow struct {
	rate           Rate
	spark, sparkIn []float64
}

func newRates(now time.Time) *rates {
	return &rates{began: now, lines: map[string]*rateLine{}}
}

// counted says that from since to now nothing happened that was not added.
func (r *rates) counted(since, now time.Time) {
	r.seen.add(max(since.Sub(r.began), 0), now.Sub(r.began))
	r.silent = make([]float64, min(r.second(now), sparkSeconds))
	for i := range r.silent {
		if !r.seen.whole(r.second(now) - int64(len(r.silent)-i)) {
			r.silent[i] = blind
		}
	}
}

// add counts what jobs did at local time now.
func (r *rates) add(queue string, now time.Time, n moves) {
	if n == (moves{}) {
		return
	}
	for _, name := range []string{queue, allQueues} {
		line := r.lines[name]
		if line == nil {
			line = &rateLine{second: r.second(now)}
			r.lines[name] = line
		}
		line.add(r.second(now), n)
	}
}

// read gives the rates over what was counted of the last ten seconds, and the counts of
// each whole second before this one. Call it after counted, with the same now.
func (r *rates) read(queue string, now time.Time) flow {
	line := r.lines[queue]
	if line == nil {
		return flow{spark: r.silent, sparkIn: r.silent}
	}
	line.advance(r.second(now))
	return flow{
		rate:    line.rate(r.seen.lately(line.second)),
		spark:   line.spark(r.silent, func(n moves) uint32 { return n.out }),
		sparkIn: line.spark(r.silent, func(n moves) uint32 { return n.in }),
	}
}

// idle drops lines that nothing was added to for longer than they reach back.
func (r *rates) idle(now time.Time) {
	second := r.second(now)
	for name, line := range r.lines {
		if second-line.touched() > sparkSeconds {
			delete(r.lines, name)
		}
	}
}

// second numbers the seconds since counting began, by the monotonic clock.
func (r *rates) second(now time.Time) int64 { return int64(max(now.Sub(r.began), 0) / time.Second) }

func (n *moves) add(m moves) {
	n.in += m.in
	n.out += m.out
	n.failed += m.failed
	n.reclaimed += m.reclaimed
	n.dead += m.dead
}

func (l *rateLine) at(second int64) *moves { return &l.counts[second%int64(len(l.counts))] }

// add counts for a second, of those that were already read too: a stream that catches up
// tells late what happened.
func (l *rateLine) add(second int64, n moves) {
	l.advance(second)
	if l.second-second < int64(len(l.counts)) {
		l.at(second).add(n)
	}
}

// touched is the newest second in which something was counted.
func (l *rateLine) touched() int64 {
	for i := range int64(len(l.counts)) {
		if second := l.second - i; second >= 0 && *l.at(second) != (moves{}) {
			return second
		}
	}
	return l.second - int64(len(l.counts))
}

// rate is over the last ten seconds, of which so much was counted.
func (l *rateLine) rate(counted time.Duration) Rate {
	var sum moves
	for i := range min(rateSeconds, l.second+1) {
		sum.add(*l.at(l.second - i))
	}
	over := max(counted.Seconds(), 1)
	return Rate{
		In: float64(sum.in) / over, Out: float64(sum.out) / over, Failed: float64(sum.failed) / over,
		Reclaimed: float64(sum.reclaimed) / over, Dead: float64(sum.dead) / over,
	}
}

// spark are the samples of a queue in which something happened, from those of one in
// which nothing did.
func (l *rateLine) spark(silent []float64, of func(moves) uint32) []float64 {
	spark := slices.Clone(silent)
	for i := range spark {
		if spark[i] != blind {
			spark[i] = float64(of(*l.at(l.second - int64(len(spark)-i))))
		}
	}
	return spark
}

func (l *rateLine) advance(second int64) {
	if second-l.second > int64(len(l.counts)) {
		l.counts, l.second = [sparkSeconds + 1]moves{}, second
		return
	}
	for l.second < second {
		l.second++
		*l.at(l.second) = moves{}
	}
}

// add covers the time from since to now, both since second 0 began.
func (c *coverage) add(since, now time.Duration) {
	for newest := int64(now / time.Second); c.second < newest; {
		c.second = max(c.second+1, newest-int64(len(c.shares)))
		*c.at(c.second) = 0
	}
	for second := max(int64(since/time.Second), c.second-sparkSeconds); second <= c.second; second++ {
		from := time.Duration(second) * time.Second
		*c.at(second) += max(min(now, from+time.Second)-max(since, from), 0)
	}
}

func (c *coverage) at(second int64) *time.Duration { return &c.shares[second%int64(len(c.shares))] }

// whole tells whether all of a second was counted, one of the last sixty.
func (c *coverage) whole(second int64) bool { return *c.at(second) >= time.Second }

// lately is how much was counted of the ten seconds up to a second.
func (c *coverage) lately(second int64) (sum time.Duration) {
	for i := range min(rateSeconds, second+1) {
		if s := second - i; s <= c.second && s > c.second-int64(len(c.shares)) {
			sum += *c.at(s)
		}
	}
	return sum
}
