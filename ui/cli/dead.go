package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/filter"
)

// DeadLetters prints the dead letters that pass a filter, newest death first, as [Jobs] does.
// Where there are none of a queue that nothing is known of, it says so.
func DeadLetters(ctx context.Context, p Printer, q *queue.Queue, where filter.Filter, part Part) error {
	next := deaths(q, queue.Filter{Where: where}, part.Before)
	l := listing{
		columns: []column{
			{title: "ID", right: true},
			{title: "QUEUE", most: 30, holds: names},
			{title: "KIND", most: 30, holds: names},
			{title: "STATUS"},
			{title: "ATTEMPTS", right: true},
			{title: "DIED AT"},
			{title: "LAST ERROR", most: 100},
		},
		next: func(ctx context.Context, most int) ([]listed, reached, error) {
			jobs, far, err := next(ctx, most)
			out := make([]listed, len(jobs))
			for i := range jobs {
				j := &jobs[i]
				out[i] = listed{job: asJSON(j), cells: []string{strconv.FormatInt(j.ID, 10), j.Queue, j.Kind, string(j.Status), attempts(j), clockOf(j.DiedAt), j.LastError}}
			}
			return out, far, err
		},
		payloads: q.Payloads, log: q, of: chosenBy(queue.Filter{Statuses: queue.DeadLetters, Where: where}),
	}
	l.nothing = func() (string, error) { return noQueues(ctx, q, where.Queues()) }
	return l.print(ctx, p, part)
}

// deadGroups is what dead groups prints as JSON.
type deadGroups struct {
	At       queue.Time   `json:"at"` // the database's clock
	Whole    bool         `json:"whole"`
	Looked   int64        `json:"looked"`
	Total    int64        `json:"total"`
	Rest     int64        `json:"rest"`
	BarsFrom []queue.Time `json:"bars_from"` // where each bar begins: the older the longer
	More     int          `json:"more"`      // groups that are not printed
	Groups   []deadGroup  `json:"groups"`
}

type deadGroup struct {
	Queue       string     `json:"queue"`
	Kind        string     `json:"kind"`
	Fingerprint string     `json:"fingerprint"`
	Count       int64      `json:"count"`
	First       queue.Time `json:"first"`
	Last        queue.Time `json:"last"`
	Sample      int64      `json:"sample"`
	Error       string     `json:"error"`
	Bars        []int64    `json:"bars"`
}

// groupsReader groups dead letters; *queue.Queue is one.
type groupsReader interface {
	DeadGroups(ctx context.Context, where filter.Filter, look int) (queue.DeadGroups, error)
}

// DeadGroups prints what the dead letters that pass a filter died of, the largest group
// first and no more than limit of them. Of more than look dead letters only the newest
// are looked at, which it says.
func DeadGroups(ctx context.Context, p Printer, q groupsReader, where filter.Filter, look, limit int) error {
	d, err := q.DeadGroups(ctx, where, look)
	if err != nil {
		return err
	}
	more := max(len(d.Groups)-limit, 0)
	groups := d.Groups[:len(d.Groups)-more]
	if p.Format == JSON {
		out := deadGroups{
			At: queue.At(d.At), Whole: d.Whole, Looked: d.Looked, Total: d.Total, Rest: d.Rest,
			BarsFrom: make([]queue.Time, len(d.Begins)), More: more, Groups: []deadGroup{},
		}
		for i, begins := range d.Begins {
			out.BarsFrom[i] = queue.At(begins)
		}
		for _, g := range groups {
			out.Groups = append(out.Groups, deadGroup{g.Queue, g.Kind, g.Fingerprint, g.Count, queue.At(g.First), queue.At(g.Last), g.Sample, g.Error, g.Bars})
		}
		err = line(p.Out, out)
	} else {
		rows := make([][]string, len(groups))
		for i, g := range groups {
			rows[i] = []string{
				strconv.FormatInt(g.Count, 10), g.Queue, g.Kind, clock(g.First), clock(g.Last), strip(g.Bars),
				strconv.FormatInt(g.Sample, 10), g.Fingerprint,
			}
		}
		err = table(p.Out, []column{
			{title: "COUNT", right: true},
			{title: "QUEUE", most: 30, holds: names},
			{title: "KIND", most: 30, holds: names},
			{title: "FIRST DIED AT"},
			{title: "LAST DIED AT"},
			{title: "DEATHS, LOG TIME"},
			{title: "SAMPLE", right: true},
			{title: "ERROR", most: 100},
		}, rows)
	}
	for _, remark := range []struct {
		said bool
		text string
	}{
		{more > 0, fmt.Sprintf("%d groups shown, %d more with --limit", len(groups), more)},
		{d.Rest > 0, fmt.Sprintf("%s dead letters more are of groups too many to be kept apart", thousands(int(d.Rest)))},
		{!d.Whole, fmt.Sprintf("only the newest %s dead letters were looked at, more with --look", thousands(int(d.Looked)))},
	} {
		if remark.said && err == nil {
			_, err = fmt.Fprintln(p.Err, "leasetop: "+remark.text)
		}
	}
	return err
}

// strip draws bars in one line, the highest as high as the line. Where there are any, there
// is something to be seen.
func strip(bars []int64) string {
	levels := []rune("▁▂▃▄▅▆▇█")
	highest := int64(1)
	for _, n := range bars {
		highest = max(highest, n)
	}
	drawn := make([]rune, len(bars))
	for i, n := range bars {
		if drawn[i] = ' '; n > 0 {
			drawn[i] = levels[int64(len(levels)-1)*n/highest]
		}
	}
	return string(drawn)
}
