package queue

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue/filter"
)

// DeadGroup are the dead letters of one queue and kind that died of the same problem, as
// their errors' fingerprint tells it.
type DeadGroup struct {
	Queue       string    `json:"queue"`
	Kind        string    `json:"kind"`
	Fingerprint string    `json:"fingerprint"`
	Count       int64     `json:"count"`
	First       time.Time `json:"first"`  // when the first of them died
	Last        time.Time `json:"last"`   // when the last of them died
	Sample      int64     `json:"sample"` // the id of the one that died last
	Error       string    `json:"error"`  // its error, the first 1,000 characters
	Bars        []int64   `json:"bars"`   // how many died in each of the 24 stretches of DeadGroups, oldest first
}

// DeadGroups are the dead letters by what they died of, the largest group first.
type DeadGroups struct {
	Groups []DeadGroup `json:"groups"`
	Total  int64       `json:"total"`  // dead letters in all groups
	Rest   int64       `json:"rest"`   // dead letters that pass too, of groups that were too many to be kept apart
	Looked int64       `json:"looked"` // at so many dead letters
	Whole  bool        `json:"whole"`  // at all there are; else the newest of them, and the figures are of those
	Begins []time.Time `json:"begins"` // where each bar begins, oldest first: the older the longer; the last one ends at At
	At     time.Time   `json:"at"`     // the database's clock
}

const (
	deadBars      = 24
	deadStretches = 40 * deadBars          // that are counted, and of which the bars are made
	deadSpan      = deadBars * time.Second // of all stretches, at least
	deadNewest    = 10 * time.Second       // of the newest bar, at most
	mostGroups    = 10_000
)

// DeadGroups groups the dead letters that pass a filter, looking at no more than look
// of them; 0 is 2,000,000. It reads in short statements. The bars go from the first death
// that was found to the database's now, on a logarithmic scale of age: so one old group
// leaves room to tell apart what died in the last minutes. Where there are more than 10,000 groups, the
// small ones are left out and counted together, and what is left of them may be too small.
func (q *Queue) DeadGroups(ctx context.Context, where filter.Filter, look int) (DeadGroups, error) {
	if look == 0 {
		look = 2_000_000
	}
	d := DeadGroups{Groups: []DeadGroup{}, Whole: true}
	f := Filter{Statuses: DeadLetters, Where: where}
	n, some := f.narrow()
	if !some {
		n.queues = []string{}
	}
	var first *time.Time
	if err := q.pool.QueryRow(ctx, q.schema.Query("dead_since"), n.queues).Scan(atOrNull(&first), &d.At); err != nil {
		return d, q.failed("group dead letters", err, "dead_since")
	}
	all := gathered{}
	if first == nil {
		all.into(&d, deadAxis(d.At, deadSpan))
		return d, nil
	}
	steps, err := q.deadSteps(ctx, n.queues, min(max(look/200, 1), stepFor(&n)))
	if err != nil {
		return d, err
	}
	steps, since := newestSteps(steps, look)
	if since != nil {
		first, d.Whole = since, false
	}
	axis := deadAxis(d.At, max(d.At.Sub(*first), deadSpan))
	err = q.readSteps(ctx, steps, strideFor(&n), func(s *deadSteps) error {
		args := append(s.args(), since, n.path, n.wide, axis)
		read, err := q.groupsOf(ctx, args)
		if err != nil {
			return err
		}
		d.Rest += all.add(read)
		for i := range read {
			d.Looked += read[i].Count
		}
		return nil
	}, func(int) {})
	if err != nil {
		return d, q.failed("group dead letters", err, "dead_groups")
	}
	d.Rest += all.keep(mostGroups)
	all.into(&d, axis)
	return d, q.sampleErrors(ctx, d.Groups)
}

// deadAxis is where the stretches begin of a time that ends now, oldest first: on a
// logarithmic scale of age, down to a share of the newest bar.
func deadAxis(now time.Time, span time.Duration) []time.Time {
	begins := make([]time.Time, deadStretches)
	newest := min(deadNewest, span/deadBars)
	for i := range begins {
		age := float64(span) * math.Pow(float64(newest)/float64(span), float64(i)/float64(deadStretches-deadStretches/deadBars))
		begins[i] = now.Add(-time.Duration(age)).Truncate(time.Microsecond) // as the table has it
	}
	return begins
}

// newestSteps are the steps in which the newest are, of which there are no more than look
// if that can be known, and since when those died; nil when all of them are that few.
func newestSteps(all []deadSteps, look int) (newest []deadSteps, since *time.Time) {
	rows, queues := 0, 1
	deaths := make([]time.Time, len(all))
	for i := range all {
		rows += all[i].rows
		deaths[i] = all[i].to.diedAt.(time.Time)
		if all[i].from.queue != all[i].to.queue {
			queues++
		}
	}
	if rows <= look {
		return all, nil
	}
	slices.SortFunc(deaths, func(a, b time.Time) int { return b.Compare(a) })
	most := max(look/all[0].rows, 1)
	// Of each queue, up to a step more is as new.
	at := deaths[min(max(most-queues, most/2, 1), len(deaths)-1)]
	for i := range all {
		if s := &all[i]; s.from.queue != s.to.queue || !s.to.diedAt.(time.Time).Before(at) {
			newest = append(newest, *s)
		}
	}
	return newest, &at
}

// groupsOf are the groups of some steps.
func (q *Queue) groupsOf(ctx context.Context, args []any) (read []gatheredPart, err error) {
	err = q.planned(ctx, "dead_plan", "dead_groups", args, func(row pgx.CollectableRow) error {
		var p gatheredPart
		err := row.Scan(&p.found, &p.Queue, &p.Kind, &p.Fingerprint, &p.stretch, &p.Count, at(&p.First), at(&p.Last), &p.Sample)
		read = append(read, p)
		return err
	})
	return read, err
}

// sampleErrors reads the errors of the samples that are still there.
func (q *Queue) sampleErrors(ctx context.Context, groups []DeadGroup) error {
	for some := range slices.Chunk(groups, 1000) {
		ids := make([]int64, len(some))
		for i := range some {
			ids[i] = some[i].Sample
		}
		jobs, err := q.ByID(ctx, ids...)
		if err != nil {
			return err
		}
		text := make(map[int64]string, len(jobs))
		for i := range jobs {
			text[jobs[i].ID] = jobs[i].LastError
		}
		for i := range some {
			some[i].Error = text[some[i].Sample]
		}
	}
	return nil
}
