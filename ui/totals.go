package ui

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/safe"
)

// totals is what the screen wants to know of all queues together. There may be
// thousands of them, and frames are drawn oftener than counts change: it is found out
// once for each reading of the counts and not for each frame.
type totals struct {
	queues  []watch.QueueDepth // of these
	names   []string
	sum     watch.QueueDepth // its name is that of the row; see picture.whole for its rates
	unrated int              // how many queues have no known rates
	wide    int              // cells of the longest name, widestName at most
	failing []failing        // the worst first
}

// widestName is how many cells the name of a queue gets at most.
const widestName = 24

// failing is a queue whose jobs do not get done.
type failing struct {
	queue     string
	failed    float64 // tries in vain per second; 0 when they are few
	share     float64 // of all tries
	reclaimed float64 // leases that ran out per second; 0 when they are few
}

// From when on a queue is called failing: a quarter of its tries in vain, and not just one
// of a few; or several leases that ran out. Where one try in twenty fails, three of ten do
// by chance once in a hundred times: of fewer tries a quarter says little, and the
// stream that has just attached has seen no more. A queue slower than that is told by its
// dead letters.
const (
	failingShare = 0.25
	failingTries = 10 // in the seconds that were counted, of the ten that rates look back
	failingLost  = 3  // leases, likewise
	rateSeconds  = 10
)

// count finds it out, unless these queues have been counted already: what State holds
// is never changed.
func (c *totals) count(queues []watch.QueueDepth) {
	if len(queues) == len(c.queues) && (len(queues) == 0 || &queues[0] == &c.queues[0]) {
		return
	}
	*c = totals{queues: queues, names: make([]string, len(queues))}
	c.sum = watch.QueueDepth{QueueDepth: queue.QueueDepth{Queue: "total", CompletedExact: true}}
	for i := range queues {
		d := &queues[i]
		c.names[i] = d.Queue
		if c.wide < widestName {
			c.wide = min(max(c.wide, safe.Width(safe.Text(d.Queue[:min(len(d.Queue), 4*widestName)]))), widestName)
		}
		c.add(d)
		if one, yes := isFailing(d); yes {
			c.failing = append(c.failing, one)
		}
	}
	slices.SortStableFunc(c.failing, func(a, b failing) int { return cmp.Compare(b.hurts(), a.hurts()) })
}

func (c *totals) add(d *watch.QueueDepth) {
	sum := &c.sum
	sum.Ready += d.Ready
	sum.Scheduled += d.Scheduled
	sum.Processing += d.Processing
	sum.Completed += d.Completed
	sum.Failed += d.Failed
	sum.Dead += d.Dead
	sum.AtLeast = queue.AtLeast{
		Ready: sum.AtLeast.Ready || d.AtLeast.Ready, Scheduled: sum.AtLeast.Scheduled || d.AtLeast.Scheduled,
		Processing: sum.AtLeast.Processing || d.AtLeast.Processing,
		Failed:     sum.AtLeast.Failed || d.AtLeast.Failed, Dead: sum.AtLeast.Dead || d.AtLeast.Dead,
	}
	sum.CompletedExact = sum.CompletedExact && d.CompletedExact
	sum.OldestReady = max(sum.OldestReady, d.OldestReady)
	if d.Rates == watch.Unknown {
		c.unrated++
		return
	}
	sum.Rates = d.Rates
	sum.Rate.In += d.Rate.In
	sum.Rate.Out += d.Rate.Out
	sum.Rate.Failed += d.Rate.Failed
	sum.Rate.Reclaimed += d.Rate.Reclaimed
	sum.Rate.Dead += d.Rate.Dead
	sum.Spark = addSamples(sum.Spark, d.Spark)
	sum.SparkIn = addSamples(sum.SparkIn, d.SparkIn)
}

// all is the counts of all queues together, with what went in and out. A queue that is gone
// takes its row along, and not what was done in it: that is known from the stream, or else
// the sum of the rows, which is partial when those of some are not known.
func (c *totals) all(in *watch.Traffic) (whole watch.QueueDepth, partial bool) {
	whole = c.sum
	if in.Source != watch.FromWAL {
		return whole, c.unrated > 0
	}
	whole.Rates, whole.Rate, whole.Spark, whole.SparkIn = in.Source, in.Rate, in.Spark, in.SparkIn
	return whole, false
}

// addSamples adds samples of the same seconds, newest last, to a sum of its own. A second
// that was not counted stays one.
func addSamples(sum, samples []float64) []float64 {
	if missing := len(samples) - len(sum); missing > 0 {
		sum = append(make([]float64, missing, len(samples)), sum...)
	}
	shift := len(sum) - len(samples)
	for i, v := range samples {
		if was := sum[shift+i]; v >= 0 {
			sum[shift+i] = max(was, 0) + v
		} else if was == 0 {
			sum[shift+i] = v
		}
	}
	return sum
}

// isFailing reports how a queue fails, and whether that is worth a line.
func isFailing(d *watch.QueueDepth) (one failing, yes bool) {
	one = failing{queue: d.Queue}
	seconds := counted(d.Spark)
	tries := d.Rate.Failed + max(d.Rate.Out-d.Rate.Dead, 0)
	if math.Round(tries*seconds) >= failingTries && d.Rate.Failed >= failingShare*tries {
		one.failed, one.share = d.Rate.Failed, d.Rate.Failed/tries
	}
	if math.Round(d.Rate.Reclaimed*seconds) >= failingLost {
		one.reclaimed = d.Rate.Reclaimed
	}
	return one, one.failed+one.reclaimed > 0
}

// counted is how many of the seconds that rates look back were counted.
func counted(samples []float64) (seconds float64) {
	for _, v := range samples[max(len(samples)-rateSeconds, 0):] {
		if v >= 0 {
			seconds++
		}
	}
	return seconds
}

// words says how a queue fails.
func (f failing) words() string {
	var how []string
	if f.failed > 0 {
		how = append(how, fmt.Sprintf("%.0f %% of the tries fail, %s/s", 100*f.share, rate(f.failed)))
	}
	if f.reclaimed > 0 {
		how = append(how, "leases run out, "+rate(f.reclaimed)+"/s")
	}
	return brief(f.queue, widestName) + ": " + strings.Join(how, "; ")
}

// hurts orders failing queues.
func (f failing) hurts() float64 { return f.failed + f.reclaimed }
