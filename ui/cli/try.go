package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/leasetop/leasetop/queue"
)

// Trial is what an act would do to jobs, for a dry run.
type Trial struct {
	did  string // "discarded"
	read func(ctx context.Context, ids ...int64) ([]queue.Job, error)
	// skips says why a job would be skipped; "" when it would not.
	skips func(context.Context, *queue.Job) (string, error)
	// gone says why one that cannot be read would be.
	gone func(ctx context.Context, id int64) (queue.Skip, error)
}

func tryOn(q *queue.Queue, did string, skips func(context.Context, *queue.Job) (string, error)) Trial {
	return Trial{did, q.ByID, skips, func(ctx context.Context, id int64) (queue.Skip, error) {
		switch _, _, err := q.PreviewArchived(ctx, id, 0); {
		case err == nil:
			return queue.Skip{ID: id, Reason: "already discarded"}, nil
		case errors.Is(err, queue.ErrNotFound), errors.Is(err, queue.ErrForbidden), errors.Is(err, queue.ErrSchemaOld):
			return queue.Skip{ID: id, Reason: queue.NoSuchJob, Failed: true}, nil
		default:
			return queue.Skip{}, err
		}
	}}
}

// TryDiscard is the trial of [Discard].
func TryDiscard(q *queue.Queue) Trial {
	return tryOn(q, "discarded", func(_ context.Context, j *queue.Job) (string, error) {
		return unless(j.Status.IsDeadLetter(), "not a dead letter: "+string(j.Status)), nil
	})
}

// TryCancel is the trial of [Cancel].
func TryCancel(q *queue.Queue) Trial {
	return tryOn(q, "cancelled", func(_ context.Context, j *queue.Job) (string, error) {
		return unless(j.Status == queue.Pending || j.Status == queue.Processing, "already "+string(j.Status)), nil
	})
}

// TryRelease is the trial of [Release].
func TryRelease(q *queue.Queue) Trial {
	return tryOn(q, "released", func(_ context.Context, j *queue.Job) (string, error) {
		return unless(j.Status == queue.Processing, "not running: "+string(j.Status)), nil
	})
}

// TryRunNow is the trial of [RunNow].
func TryRunNow(q *queue.Queue) Trial {
	return tryOn(q, "due", func(ctx context.Context, j *queue.Job) (string, error) {
		if j.Status != queue.Pending {
			return "not waiting: " + string(j.Status), nil
		}
		why, err := q.WhyWaiting(ctx, j.ID)
		if errors.Is(err, queue.ErrNotFound) {
			return "changed a moment ago: try again", nil
		}
		return unless(why.Never || why.Due > 0, "due already"), err
	})
}

// TryRestore is the trial of [Restore].
func TryRestore(q *queue.Queue) Trial {
	read := func(ctx context.Context, ids ...int64) (jobs []queue.Job, err error) {
		for before := ids[len(ids)-1] + 1; before > ids[0]; { // they are sorted
			page, err := q.Archive(ctx, "", before, tryBatch)
			if err != nil || len(page) == 0 {
				return jobs, err
			}
			for i := range page {
				before = page[i].ID
				if _, wanted := slices.BinarySearch(ids, before); wanted {
					jobs = append(jobs, page[i].Job)
				}
			}
		}
		return jobs, nil
	}
	return Trial{"restored", read, func(context.Context, *queue.Job) (string, error) { return "", nil }, func(ctx context.Context, id int64) (queue.Skip, error) {
		switch job, _, err := q.Preview(ctx, id, 0); {
		case err == nil:
			return queue.Skip{ID: id, Reason: "not in the archive, but " + string(job.Status)}, nil
		case errors.Is(err, queue.ErrNotFound):
			return queue.Skip{ID: id, Reason: "not in the archive", Failed: true}, nil
		default:
			return queue.Skip{}, err
		}
	}}
}

func unless(fits bool, reason string) string {
	if fits {
		return ""
	}
	return reason
}

// tryBatch is how many jobs one statement of a dry run reads.
const tryBatch = 1000

// tried are jobs that look alike to whoever wants to know what would be done.
type tried struct {
	Status      queue.Status `json:"status"`
	Queue       string       `json:"queue"`
	Kind        string       `json:"kind"`
	Fingerprint string       `json:"fingerprint"` // of dead letters
	Count       int64        `json:"count"`
	Sample      int64        `json:"sample"`
	Error       string       `json:"error"` // the sample's
}

// Try prints to which jobs an act would be done now, and does nothing: how many of which
// queues, kinds, statuses and problems, which come first, and why others would be skipped.
// It fails when jobs were named by id and there is none of an id, as the act would.
func Try(ctx context.Context, p Printer, t Trial, jobs Chosen) error {
	var fits []int64 // by id
	groups, skips, wrong, would, err := t.look(ctx, p, jobs.IDs, func(id int64) { fits = append(fits, id) })
	if err != nil {
		return err
	}
	var first []int64
	for _, id := range jobs.IDs {
		if _, fit := slices.BinarySearch(fits, id); fit && !slices.Contains(first, id) {
			first = append(first, id)
		}
		if len(first) == firstIDs {
			break
		}
	}
	var failed error
	if len(wrong) > 0 && jobs.Filter == "" { // named by id, and the act would fail too
		failed = fmt.Errorf("of %d jobs %d would be left as they are: %s", len(jobs.IDs), len(wrong), wrong[0].Reason)
	}
	if p.Format == JSON {
		return errors.Join(line(p.Out, map[string]any{
			"dry_run": true, "filter": jobs.Filter, "jobs": len(jobs.IDs), "first": list(first), "groups": list(groups), t.did: would, "skipped": skips,
		}), failed)
	}
	out := bufio.NewWriter(p.Out)
	var rows [][]string
	for _, g := range groups {
		text, _, _ := strings.Cut(strings.TrimSpace(g.Error), "\n")
		rows = append(rows, []string{strconv.FormatInt(g.Count, 10), string(g.Status), g.Queue, g.Kind, strconv.FormatInt(g.Sample, 10), text})
	}
	if len(rows) > 0 {
		err = table(out, []column{
			{title: "COUNT", right: true},
			{title: "STATUS"},
			{title: "QUEUE", most: 30, holds: names},
			{title: "KIND", most: 30, holds: names},
			{title: "SAMPLE", right: true},
			{title: "ERROR", most: 100},
		}, rows)
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "%s would be %s now", thousands(would), t.did)
	for _, reason := range slices.Sorted(maps.Keys(skips)) {
		fmt.Fprintf(out, ", %s skipped (%s)", thousands(skips[reason]), reason)
	}
	for i, id := range first {
		fmt.Fprintf(out, "%s%d", [...]string{"\nfirst of them ", " "}[min(i, 1)], id)
	}
	if would > len(first) {
		fmt.Fprint(out, " …")
	}
	fmt.Fprintln(out, "\nNothing was changed.")
	return errors.Join(err, out.Flush(), failed)
}

// look reads the jobs and sorts them: those it would be done to in groups, the largest
// first, how many would be skipped for which reason, and those that are wrong: of no job. It
// calls fits with each of the first, by id.
func (t *Trial) look(ctx context.Context, p Printer, ids []int64, fits func(int64)) (groups []tried, skipped map[string]int, wrong []queue.Skip, would int, err error) {
	skipped, at := map[string]int{}, map[tried]int{}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	looked := 0
	defer p.endProgress()
	for batch := range slices.Chunk(ids, tryBatch) {
		if looked > 0 {
			p.progress(fmt.Sprintf("looked at %s of %s", thousands(looked), thousands(len(ids))))
		}
		looked += len(batch)
		jobs, err := t.read(ctx, batch...)
		if err != nil {
			return nil, nil, nil, 0, err
		}
		there := make(map[int64]bool, len(jobs))
		for i := range jobs {
			there[jobs[i].ID] = true
		}
		for _, id := range batch {
			if there[id] {
				continue
			}
			skip, err := t.gone(ctx, id)
			if err != nil {
				return nil, nil, nil, 0, err
			}
			if skipped[skip.Reason]++; skip.Failed {
				wrong = append(wrong, skip)
			}
		}
		for i := range slices.Backward(jobs) { // they come newest first
			j := &jobs[i]
			reason, err := t.skips(ctx, j)
			if err != nil {
				return nil, nil, nil, 0, err
			}
			if reason != "" {
				skipped[reason]++
				continue
			}
			would++
			fits(j.ID)
			like := tried{Status: j.Status, Queue: j.Queue, Kind: j.Kind}
			if j.Status.IsDeadLetter() {
				like.Fingerprint = j.Fingerprint
			}
			n, known := at[like]
			if !known {
				n = len(groups)
				at[like] = n
				groups = append(groups, like)
				groups[n].Sample, groups[n].Error = j.ID, j.LastError
			}
			groups[n].Count++
		}
	}
	slices.SortStableFunc(groups, func(a, b tried) int { return cmp.Compare(b.Count, a.Count) })
	return groups, skipped, wrong, would, nil
}
