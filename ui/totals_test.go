package ui

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
)

// What a State holds is never changed, so the same counts are added up once, whatever
// else is new in the States that follow.
func TestCountsAreAddedUpOncePerReading(t *testing.T) {
	t.Parallel()
	queues := manyQueues(1000)
	var c totals
	c.count(queues)
	if c.sum.Ready != 397 || c.sum.Processing != 100 || len(c.names) != 1000 || c.wide != len("tenant-00000") {
		t.Errorf("counted %+v, %d names of %d cells", c.sum, len(c.names), c.wide)
	}
	before := &c.names[0]
	if c.count(queues); &c.names[0] != before {
		t.Error("the same counts were added up again")
	}
	next := slices.Clone(queues)
	next[3].Ready += 40
	c.count(next)
	if c.sum.Ready != 437 {
		t.Errorf("after other counts came the sum is %d", c.sum.Ready)
	}
	c.count(nil)
	if c.sum.Ready != 0 || len(c.names) != 0 {
		t.Errorf("without queues there remain %d ready in %v", c.sum.Ready, c.names)
	}
}

func TestSumsOfSamplesAreOfTheSameSeconds(t *testing.T) {
	t.Parallel()
	var c totals
	c.count([]watch.QueueDepth{
		{Rates: watch.FromWAL, Spark: []float64{-1, 1, 2}},
		{Rates: watch.FromWAL, Spark: []float64{-1, 10, 20, 30}, SparkIn: []float64{5}},
		{Rates: watch.FromWAL, Spark: []float64{-1, -1, 0, 1}},
		{Spark: []float64{100}}, // of which nothing is known
	})
	if !slices.Equal(c.sum.Spark, []float64{-1, 10, 21, 33}) || !slices.Equal(c.sum.SparkIn, []float64{5}) || c.unrated != 1 {
		t.Errorf("sums %v and %v, %d not known", c.sum.Spark, c.sum.SparkIn, c.unrated)
	}
}

// What was done in a queue that is gone was done all the same: its row goes, the total's
// rates and the chart stay.
func TestTotalKeepsWhatWasDoneInAQueueThatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld()
	quiet := w.state.Depths.Queues[2]
	quiet.Spark, quiet.SparkIn = make([]float64, 60), make([]float64, 60)
	one, other, gone := quiet, quiet, quiet
	one.Queue, other.Queue, gone.Queue = "emails", "images", "passing"
	gone.Rate.In, gone.SparkIn = 200, slices.Repeat([]float64{200}, 60)
	w.state.Depths.Queues = []watch.QueueDepth{one, other, gone}
	w.state.Traffic.Rate, w.state.Traffic.Spark, w.state.Traffic.SparkIn = gone.Rate, gone.Spark, gone.SparkIn
	s := newStage(t, w, 120, 36)
	told := []string{"in ░ 200", " 200 ┤░░░"}
	s.sees(append(told, "passing")...)
	state := *w.state
	state.Depths.Queues = []watch.QueueDepth{one, other}
	w.state = &state
	s.pull()
	s.seesNot("passing")
	s.sees(told...)
	if row := regexp.MustCompile(`total .* 200 +0\.0 `).FindString(s.screen().Text()); row == "" {
		t.Errorf("the total's rates are gone:\n%s", s.screen().Text())
	}
}

// A queue is called failing when much of its work is in vain, not because a try failed.
func TestFailingQueuesAreNamed(t *testing.T) {
	t.Parallel()
	for want, rate := range map[string]watch.Rate{
		"":                                      {Out: 40, Failed: 2.1, Dead: 0.1, Reclaimed: 0.1},
		"q: 50 % of the tries fail, 5.0/s":      {Out: 5, Failed: 5},
		"q: 100 % of the tries fail, 5.0/s":     {Out: 5, Failed: 5, Dead: 5},
		"q: leases run out, 0.3/s":              {Out: 40, Reclaimed: 0.3},
		"q: 60 % of the tries fail, 3.0/s; lea": {Out: 2, Failed: 3, Reclaimed: 1},
	} {
		one, yes := isFailing(&watch.QueueDepth{QueueDepth: queue.QueueDepth{Queue: "q"}, Rate: rate, Spark: make([]float64, 60)})
		if got := one.words(); yes != (want != "") || yes && !strings.HasPrefix(got, want) {
			t.Errorf("%+v: %v, %q, want %q", rate, yes, got, want)
		}
	}

	w := newWorld()
	for i, failed := range []float64{5, 50, 9} {
		w.state.Depths.Queues[i].Rate = watch.Rate{Out: 5, Failed: failed}
	}
	newStage(t, w, 120, 36).sees("! images: 91 % of the tries fail, 50.0/s", "! and 2 more queues that fail")
}

// A stream that has just attached, or a queue in which little is done, has seen too few
// tries to call them failing.
func TestFewTriesAreNoAlarm(t *testing.T) {
	t.Parallel()
	blind := slices.Repeat([]float64{-1}, 60)
	for _, c := range []struct {
		seconds int // that were counted, up to now
		rate    watch.Rate
		fails   bool
	}{
		{2, watch.Rate{Failed: 4}, false},
		{3, watch.Rate{Failed: 4}, true},
		{10, watch.Rate{Failed: 0.9}, false},
		{10, watch.Rate{Failed: 1}, true},
		{10, watch.Rate{Failed: 0.3, Out: 0.7}, true},
		{1, watch.Rate{Reclaimed: 2}, false},
		{2, watch.Rate{Reclaimed: 1.5}, true},
	} {
		samples := slices.Concat(blind[c.seconds:], make([]float64, c.seconds))
		if one, yes := isFailing(&watch.QueueDepth{Rate: c.rate, Spark: samples}); yes != c.fails {
			t.Errorf("%d s of %+v: %v, %q", c.seconds, c.rate, yes, one.words())
		}
	}
}

// The columns of what fails are there when something does, and for a minute after.
func TestColumnsOfWhatFailsComeAndStayAWhile(t *testing.T) {
	t.Parallel()
	w := newWorld()
	calm := slices.Clone(w.state.Depths.Queues)
	for i := range calm {
		calm[i].Rate.Failed, calm[i].Rate.Reclaimed = 0, 0
	}
	bad := w.state.Depths.Queues
	w.state.Depths.Queues = calm
	addTraffic(w.state)
	s := newStage(t, w, 200, 50)
	s.seesNot("FAIL/s", "RECL/s")
	w.state.Depths.Queues = bad
	addTraffic(w.state)
	s.pass(time.Second)
	s.pull()
	s.sees("FAIL/s", "RECL/s", " 2.1     0.0 ")
	w.state.Depths.Queues = calm
	addTraffic(w.state)
	s.pass(time.Second)
	s.pull()
	s.pass(50 * time.Second)
	s.sees("FAIL/s")
	s.pass(20 * time.Second)
	s.seesNot("FAIL/s")
}
