package watch

import "time"

const (
	sparkSeconds = 60
	rateSeconds  = 10
)

// rates counts what jobs did in each queue by the second.
type rates struct {
	began  time.Time
	lines  map[string]*rateLine
	silent []float64 // noughts, for queues in which nothing happened
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
	return &rates{began: now, lines: map[string]*rateLine{}, silent: make([]float64, sparkSeconds)}
}

// add counts what jobs did at local time now.
func (r *rates) add(queue string, now time.Time, n moves) {
	if n == (moves{}) {
		return
	}
	line := r.lines[queue]
	if line == nil {
		line = &rateLine{second: r.second(now)}
		r.lines[queue] = line
	}
	line.add(r.second(now), n)
}

// read gives the rates over the last ten seconds and the counts of each whole second
// before this one, as far back as counting goes.
func (r *rates) read(queue string, now time.Time) flow {
	second := r.second(now)
	line := r.lines[queue]
	if line == nil {
		silent := r.silent[:min(second, sparkSeconds)]
		return flow{spark: silent, sparkIn: silent}
	}
	line.advance(second)
	return flow{
		rate:    line.rate(now.Sub(r.began)),
		spark:   line.spark(second, func(n moves) uint32 { return n.out }),
		sparkIn: line.spark(second, func(n moves) uint32 { return n.in }),
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

func (l *rateLine) add(second int64, n moves) {
	l.advance(second)
	l.at(l.second).add(n)
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

// rate is over the last ten seconds, of which the present one has only begun; and for
// the first ten there is less to divide by. elapsed is since second 0 began.
func (l *rateLine) rate(elapsed time.Duration) Rate {
	var sum moves
	for i := range min(rateSeconds, l.second+1) {
		sum.add(*l.at(l.second - i))
	}
	lasted := elapsed.Seconds()
	over := max(min(lasted, lasted-float64(l.second)+rateSeconds-1), 1)
	return Rate{
		In: float64(sum.in) / over, Out: float64(sum.out) / over, Failed: float64(sum.failed) / over,
		Reclaimed: float64(sum.reclaimed) / over, Dead: float64(sum.dead) / over,
	}
}

func (l *rateLine) spark(second int64, of func(moves) uint32) []float64 {
	spark := make([]float64, min(second, sparkSeconds))
	for i := range spark {
		spark[i] = float64(of(*l.at(l.second - int64(len(spark)-i))))
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
