package watch

import "time"

const (
	sparkSeconds = 60
	rateSeconds  = 10
)

// rates counts jobs entering and leaving each queue by the second.
type rates struct {
	began time.Time
	lines map[string]*rateLine
}

// rateLine is a ring of one-second counts; second is the newest in it.
type rateLine struct {
	second  int64
	in, out [sparkSeconds + 1]uint32
}

func newRates(now time.Time) *rates {
	return &rates{began: now, lines: map[string]*rateLine{}}
}

// add counts jobs at local time now.
func (r *rates) add(queue string, now time.Time, in, out int64) {
	if in <= 0 && out <= 0 {
		return
	}
	line := r.lines[queue]
	if line == nil {
		line = &rateLine{second: r.second(now)}
		r.lines[queue] = line
	}
	line.advance(r.second(now))
	at := line.second % int64(len(line.in))
	line.in[at] += uint32(max(in, 0))
	line.out[at] += uint32(max(out, 0))
}

// read gives the rates over the last ten seconds and the finished jobs of each
// whole second before this one, as far back as counting goes.
func (r *rates) read(queue string, now time.Time) (in, out float64, spark []float64) {
	second := r.second(now)
	spark = make([]float64, min(second, sparkSeconds))
	line := r.lines[queue]
	if line == nil {
		return 0, 0, spark
	}
	line.advance(second)
	second = line.second // never behind what was counted
	for i := range int64(min(rateSeconds, second+1)) {
		at := (second - i) % int64(len(line.in))
		in += float64(line.in[at])
		out += float64(line.out[at])
	}
	for i := range spark {
		at := (second - int64(len(spark)) + int64(i)) % int64(len(line.out))
		spark[i] = float64(line.out[at])
	}
	// The present second has only begun; and for the first ten there is less to divide by.
	elapsed := now.Sub(r.began).Seconds()
	over := max(min(elapsed, elapsed-float64(second)+rateSeconds-1), 1)
	return in / over, out / over, spark
}

// forget drops queues that are gone, so that names cannot pile up.
func (r *rates) forget(keep map[string]bool, now time.Time) {
	second := r.second(now)
	for name, line := range r.lines {
		if !keep[name] && second-line.second > sparkSeconds {
			delete(r.lines, name)
		}
	}
}

// second numbers the seconds since counting began, by the monotonic clock.
func (r *rates) second(now time.Time) int64 { return int64(max(now.Sub(r.began), 0) / time.Second) }

func (l *rateLine) advance(second int64) {
	if second-l.second > int64(len(l.in)) {
		l.in, l.out = [sparkSeconds + 1]uint32{}, [sparkSeconds + 1]uint32{}
		l.second = second
		return
	}
	for l.second < second {
		l.second++
		at := l.second % int64(len(l.in))
		l.in[at], l.out[at] = 0, 0
	}
}
