package cli

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
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
	Queue              string   `json:"queue"`
	Ready              int64    `json:"ready"`
	Scheduled          int64    `json:"scheduled"`
	Processing         int64    `json:"processing"`
	Completed          int64    `json:"completed"`
	CompletedExact     bool     `json:"completed_exact"`
	Failed             int64    `json:"failed"`
	Dead               int64    `json:"dead"`
	OldestReadySeconds *float64 `json:"oldest_ready_seconds"` // null when none is ready
	Paused             *paused  `json:"paused"`               // null when it is not
}

type paused struct {
	Since queue.Time `json:"since"`
	By    string     `json:"by"`
	Why   string     `json:"why"`
}

// Depth prints how many jobs each queue has by status, counted to the end, and which
// queues are paused, also those without jobs.
func Depth(ctx context.Context, p Printer, q *queue.Queue) error {
	found, err := q.Depth(ctx, 0)
	if err != nil {
		return err
	}
	pauses, err := q.Pauses(ctx)
	if err != nil {
		return err
	}
	queues := withPauses(found.Queues, pauses)
	if p.Format == JSON {
		out := depths{Source: watch.Polled, At: queue.At(found.At), Queues: []queueDepth{}}
		for _, n := range queues {
			depth := queueDepth{
				Queue: n.Queue, Ready: n.Ready, Scheduled: n.Scheduled, Processing: n.Processing,
				Completed: n.Completed, CompletedExact: n.CompletedExact, Failed: n.Failed, Dead: n.Dead,
			}
			if n.Ready > 0 {
				oldest := math.Round(max(n.OldestReady, 0).Seconds()*1000) / 1000
				depth.OldestReadySeconds = &oldest
			}
			if n.pause != nil {
				depth.Paused = &paused{queue.At(n.pause.Since), n.pause.By, n.pause.Why}
			}
			out.Queues = append(out.Queues, depth)
		}
		return line(p.Out, out)
	}
	rows := make([][]string, 0, len(queues))
	for _, n := range queues {
		completed := strconv.FormatInt(n.Completed, 10)
		if !n.CompletedExact {
			completed = "~" + completed
		}
		oldest := ""
		if n.Ready > 0 {
			oldest = max(n.OldestReady, 0).Truncate(time.Second).String()
		}
		held := ""
		if n.pause != nil {
			held = fmt.Sprintf("%v %s", max(found.At.Sub(n.pause.Since), 0).Truncate(time.Second), byWhom(n.pause))
		}
		rows = append(rows, []string{
			n.Queue, strconv.FormatInt(n.Ready, 10), strconv.FormatInt(n.Scheduled, 10),
			strconv.FormatInt(n.Processing, 10), completed, strconv.FormatInt(n.Failed, 10), strconv.FormatInt(n.Dead, 10), oldest, held,
		})
	}
	columns := []column{
		{title: "QUEUE", most: 60, holds: names},
		{title: "READY", right: true},
		{title: "SCHEDULED", right: true},
		{title: "PROCESSING", right: true},
		{title: "COMPLETED", right: true},
		{title: "FAILED", right: true},
		{title: "DEAD", right: true},
		{title: "OLDEST READY", right: true},
	}
	if len(pauses) > 0 {
		columns = append(columns, column{title: "PAUSED", most: 80})
	}
	return table(p.Out, columns, rows)
}

// depthOf is a queue with its pause, nil when it has none.
type depthOf struct {
	queue.QueueDepth
	pause *queue.Pause
}

// withPauses puts the pauses to their queues, those without jobs among them, by name.
func withPauses(depths []queue.QueueDepth, pauses []queue.Pause) []depthOf {
	paused := make(map[string]*queue.Pause, len(pauses))
	for i := range pauses {
		paused[pauses[i].Queue] = &pauses[i]
	}
	queues := make([]depthOf, 0, len(depths)+len(pauses))
	for _, d := range depths {
		queues = append(queues, depthOf{d, paused[d.Queue]})
		delete(paused, d.Queue)
	}
	for name, pause := range paused {
		queues = append(queues, depthOf{queue.QueueDepth{Queue: name, CompletedExact: true}, pause})
	}
	slices.SortFunc(queues, func(a, b depthOf) int { return strings.Compare(a.Queue, b.Queue) })
	return queues
}
