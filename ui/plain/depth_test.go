package plain

import (
	"bufio"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
)

// depthLine is what is printed about depths at noon, behind the time.
func depthLine(s watch.State) string {
	var out strings.Builder
	p := &printer{out: bufio.NewWriter(&out)}
	p.depth(&s, noon)
	p.out.Flush()
	_, line, _ := strings.Cut(strings.TrimSuffix(out.String(), "\n"), " ")
	return line
}

func TestDepthsSayWhenTheyAreNotTheStreamsOrOld(t *testing.T) {
	t.Parallel()
	lost := watch.Link{Reason: "connection refused"}
	for _, c := range []struct {
		source  watch.Source
		age     time.Duration
		polling watch.Link
		want    string
	}{
		{watch.FromWAL, time.Second, watch.Link{OK: true}, "depth no jobs"},
		{watch.FromWAL, time.Second, lost, "depth no jobs"},
		{watch.FromWAL, 12 * time.Second, watch.Link{OK: true}, "depth no jobs (12s old)"},
		{watch.Polled, time.Second, watch.Link{OK: true}, "depth no jobs (polled)"},
		{watch.Polled, 72 * time.Second, watch.Link{OK: true}, "depth no jobs (polled, 1m12s old)"},
		{watch.Polled, time.Second, lost, "depth not known: connection refused"},
	} {
		s := watch.State{Polling: c.polling, Depths: watch.Depths{Source: c.source, Read: noon.Add(-c.age)}}
		if got := depthLine(s); got != c.want {
			t.Errorf("%+v: printed %q", c, got)
		}
	}
}

func TestOfManyQueuesThoseWithMostToDoAreNamed(t *testing.T) {
	t.Parallel()
	s := watch.State{Depths: watch.Depths{Source: watch.FromWAL, Read: noon}}
	for i := range 10_000 {
		q := watch.QueueDepth{QueueDepth: queue.QueueDepth{Queue: fmt.Sprintf("q%05d", i), CompletedExact: true}}
		if i >= 9_950 {
			q.Ready = int64(i)
		}
		s.Depths.Queues = append(s.Depths.Queues, q)
	}
	line := depthLine(s)
	if !strings.HasPrefix(line, "depth q09950: ready 9950,") || !strings.HasSuffix(line, "| q09999: ready 9999, scheduled 0, processing 0, completed 0, failed 0, dead 0 | and 9950 more queues") {
		t.Errorf("printed %.200q … %q", line, line[max(len(line)-200, 0):])
	}
}
