package cli

import (
	"context"
	"math"
	"strconv"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
)

// depths is what depth prints as JSON.
type depths struct {
	Source watch.Source `json:"source"`
	At     queue.Time   `json:"at"` // the database's clock
	Queues []queueDepth `json:"queues"`
}

type queueDepth struct {
	Queue              string  `json:"queue"`
	Ready              int64   `json:"ready"`
	Scheduled          int64   `json:"scheduled"`
	Processing         int64   `json:"processing"`
	Completed          int64   `json:"completed"`
	CompletedExact     bool    `json:"completed_exact"`
	Failed             int64   `json:"failed"`
	Dead               int64   `json:"dead"`
	OldestReadySeconds float64 `json:"oldest_ready_seconds"` // 0 when none is ready
}

// Depth prints how many jobs each queue has by status, counted to the end.
func Depth(ctx context.Context, p Printer, q *queue.Queue) error {
	found, err := q.Depth(ctx, 0)
	if err != nil {
		return err
	}
	if p.Format == JSON {
		out := depths{Source: watch.Polled, At: queue.At(found.At), Queues: []queueDepth{}}
		for _, n := range found.Queues {
			out.Queues = append(out.Queues, queueDepth{
				Queue: n.Queue, Ready: n.Ready, Scheduled: n.Scheduled, Processing: n.Processing,
				Completed: n.Completed, CompletedExact: n.CompletedExact, Failed: n.Failed, Dead: n.Dead,
				OldestReadySeconds: math.Round(max(n.OldestReady, 0).Seconds()*1000) / 1000,
			})
		}
		return line(p.Out, out)
	}
	rows := make([][]string, 0, len(found.Queues))
	for _, n := range found.Queues {
		completed := strconv.FormatInt(n.Completed, 10)
		if !n.CompletedExact {
			completed = "~" + completed
		}
		oldest := ""
		if n.Ready > 0 {
			oldest = max(n.OldestReady, 0).Truncate(time.Second).String()
		}
		rows = append(rows, []string{
			n.Queue, strconv.FormatInt(n.Ready, 10), strconv.FormatInt(n.Scheduled, 10),
			strconv.FormatInt(n.Processing, 10), completed, strconv.FormatInt(n.Failed, 10), strconv.FormatInt(n.Dead, 10), oldest,
		})
	}
	return table(p.Out, []column{
		{title: "QUEUE", most: 60},
		{title: "READY", right: true},
		{title: "SCHEDULED", right: true},
		{title: "PROCESSING", right: true},
		{title: "COMPLETED", right: true},
		{title: "FAILED", right: true},
		{title: "DEAD", right: true},
		{title: "OLDEST READY", right: true},
	}, rows)
}
