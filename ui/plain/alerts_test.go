package plain

import (
	"bufio"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/alert"
	"github.com/leasetop/leasetop/queue/watch"
)

func TestAlertsAreLinesWhenTheyComeAndWhenTheyAreOver(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := &printer{out: bufio.NewWriter(&out), alarm: alert.Alarm{Limits: alert.Limits{alert.Dead: 10, alert.ExpiredRate: 1}}}
	for _, step := range []struct {
		after time.Duration
		dead  int64
	}{
		{0, 10}, {time.Second, 11}, {2 * time.Second, 41}, {alert.Patience, 4}, {alert.Patience + time.Second, 5}, {alert.Patience + alert.Hold, 5}, {2 * time.Minute, 12},
	} {
		now := noon.Add(step.after)
		p.alerts(&watch.State{Version: 1, Depths: watch.Depths{Source: watch.FromWAL, Read: now, Queues: []watch.QueueDepth{
			{QueueDepth: queue.QueueDepth{Queue: "emails", Dead: step.dead}},
		}}}, now)
	}
	p.out.Flush()
	want := `2026-03-01T12:00:01.000Z alert 11 dead letters, more than 10
2026-03-01T12:00:05.000Z alert cannot tell leases that run out a minute: that needs the WAL stream
2026-03-01T12:00:35.000Z alert over: 5 dead letters, no more than 10 again
2026-03-01T12:02:00.000Z alert 12 dead letters, more than 10
`
	if out.String() != want {
		t.Errorf("printed\n%swant\n%s", out.String(), want)
	}
}

func TestAlertsAreAmongTheLines(t *testing.T) {
	t.Parallel()
	s := watch.State{Version: 1, Depths: watch.Depths{Source: watch.FromWAL, Read: time.Now(), Queues: []watch.QueueDepth{
		{QueueDepth: queue.QueueDepth{Queue: "a\x1b]9;x\x07\nb", Ready: 1, OldestReady: time.Hour}},
	}}}
	got := printedWithin(t, s, nil, alert.Limits{alert.Age: 60}, "alert the oldest")
	if !strings.Contains(got, "alert the oldest ready job has waited 1h in a␛]9;x␇␊b, more than 1m\n") {
		t.Errorf("printed %q", got)
	}
}
