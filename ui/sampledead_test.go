package ui

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/filter"
)

// passes tells whether a job passes a filter, as the database would: of the words that the
// tests use, without ranges.
func passes(f filter.Filter, j *queue.Job) bool { return pass(filter.Words(f.String()), j) }

func pass(words []filter.Word, j *queue.Job) bool {
	for _, w := range words {
		of, within := []string{j.LastError, j.Queue, j.Kind, j.IdempotencyKey}, true
		if w.Key != nil {
			switch within = false; w.Key[0].Text {
			case "error":
				of, within = of[:1], true
			case "queue":
				of = of[1:2]
			case "kind":
				of = of[2:3]
			case "status":
				of = []string{string(j.Status)}
			case "id":
				of = []string{itoa(j.ID)}
			case "fingerprint":
				of = []string{fingerprint(j)}
			}
		}
		hit := false
		for _, value := range w.Values {
			for _, fact := range of {
				hit = hit || fact == value.Text || within && strings.Contains(strings.ToLower(fact), strings.ToLower(value.Text))
			}
		}
		if hit == w.Not {
			return false
		}
	}
	return true
}

// fingerprint is what the world's errors have in common: they are told apart by their letters.
func fingerprint(j *queue.Job) string {
	if j.Fingerprint != "" {
		return j.Fingerprint
	}
	return strings.NewReplacer("421", "‹n›", "mx1.example.com", "‹host›").Replace(j.LastError)
}

func (w *world) DeadLetters(ctx context.Context, where filter.Filter, s queue.DeadStretch) (found queue.DeadFound, err error) {
	w.touch("dead letters")
	w.mu.Lock()
	w.deadLooks = append(w.deadLooks, s)
	w.mu.Unlock()
	if w.down != nil {
		w.note("list")
		return found, w.down
	}
	if err := ctx.Err(); err != nil {
		return found, err
	}
	all := w.state.Dead.Latest
	if s.From != nil {
		from := cursorPlace(s.From, newestPlace)
		all = all[sort.Search(len(all), func(i int) bool { return from.above(placeOf(&all[i])) }):]
	}
	words := filter.Words(where.String())
	for i := range all {
		j := all[i]
		if found.Looked == s.Look || len(found.Jobs) == s.Limit {
			last := all[i-1]
			found.Next = &queue.Cursor{ID: last.ID, DiedAt: last.DiedAt}
			break
		}
		found.Looked, found.Through = found.Looked+1, j.DiedAt
		if pass(words, &j) {
			j.Fingerprint = fingerprint(&j)
			found.Jobs = append(found.Jobs, j)
		}
	}
	return found, nil
}

// sampleBars is how many bars the world's groups have.
const sampleBars = 24

// sampleAxis is where they begin: the first three hours ago, every other one half as long ago.
func sampleAxis(now time.Time) (begins []time.Time) {
	for i := range sampleBars {
		begins = append(begins, now.Add(-time.Duration(float64(3*time.Hour)*math.Pow(2, -float64(i)/2))))
	}
	return begins
}

func (w *world) DeadGroups(ctx context.Context, where filter.Filter, look int) (found queue.DeadGroups, err error) {
	w.touch("dead groups")
	w.mu.Lock()
	w.groupings++
	w.mu.Unlock()
	if w.down != nil {
		w.note("groups")
		return found, w.down
	}
	if err := ctx.Err(); err != nil {
		return found, err
	}
	found = queue.DeadGroups{Whole: true, At: w.now, Begins: sampleAxis(w.now)}
	at := map[groupKey]int{}
	for i := range w.state.Dead.Latest {
		j := &w.state.Dead.Latest[i]
		if look > 0 && int(found.Looked) == look {
			found.Whole = false
			break
		}
		found.Looked++
		if !passes(where, j) {
			continue
		}
		found.Total++
		key := groupKey{j.Queue, j.Kind, fingerprint(j), ""}
		k, ok := at[key]
		if !ok {
			k = len(found.Groups)
			at[key] = k
			found.Groups = append(found.Groups, queue.DeadGroup{Queue: j.Queue, Kind: j.Kind, Fingerprint: key.fingerprint, Last: *j.DiedAt, Sample: j.ID, Error: j.LastError, Bars: make([]int64, sampleBars)})
		}
		one := &found.Groups[k]
		one.Count++
		one.First = *j.DiedAt
		for bar, begins := range slices.Backward(found.Begins) {
			if bar == 0 || !j.DiedAt.Before(begins) {
				one.Bars[bar]++
				break
			}
		}
	}
	slices.SortStableFunc(found.Groups, func(a, b queue.DeadGroup) int { return cmp.Compare(b.Count, a.Count) })
	return found, nil
}

func (w *world) Matching(ctx context.Context, f queue.Filter, told func(found, looked int)) (ids []int64, err error) {
	w.touch("matching")
	if w.down != nil {
		return nil, w.down
	}
	for i := range w.state.Dead.Latest {
		j := &w.state.Dead.Latest[len(w.state.Dead.Latest)-1-i]
		if slices.Contains(f.Statuses, j.Status) && passes(f.Where, j) {
			ids = append(ids, j.ID)
		}
		if told != nil && i%1000 == 999 {
			told(len(ids), i+1)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// Restore brings back what Discard took.
func (w *world) Restore(_ context.Context, by string, ids ...int64) (done queue.Done, err error) {
	w.note("restore %v by %s", ids, by)
	state := *w.state
	for _, id := range ids {
		i := slices.IndexFunc(w.archive, func(j queue.Job) bool { return j.ID == id })
		if i < 0 {
			done.Skipped = append(done.Skipped, queue.Skip{ID: id, Reason: "not in the archive"})
			continue
		}
		state.Dead.Latest = append(slices.Clone(state.Dead.Latest), w.archive[i])
		w.archive = slices.Delete(w.archive, i, i+1)
		done.IDs = append(done.IDs, id)
	}
	state.Dead.Signal++
	w.state = &state
	return done, w.down
}

func (w *world) ArchivedByAct(_ context.Context, act int64) (ids []int64, err error) {
	w.touch("archived by act")
	for _, j := range w.archive {
		ids = append(ids, j.ID)
	}
	return ids, w.down
}

func (w *world) Discard(_ context.Context, by, why string, ids ...int64) (done queue.Done, err error) {
	if len(ids) > 12 {
		w.note("discard %d by %s because %s", len(ids), by, why)
	} else {
		w.note("discard %v by %s because %s", ids, by, why)
	}
	for _, id := range ids {
		if reason, ok := w.skip[id]; ok {
			done.Skipped = append(done.Skipped, queue.Skip{ID: id, Reason: reason})
			continue
		}
		done.IDs = append(done.IDs, id)
	}
	state := *w.state
	state.Dead.Latest = slices.DeleteFunc(slices.Clone(state.Dead.Latest), func(j queue.Job) bool {
		gone := slices.Contains(done.IDs, j.ID)
		if gone && len(done.IDs) < 100 {
			w.archive = append(w.archive, j)
		}
		return gone
	})
	state.Dead.Signal++
	w.state = &state
	w.deletes(func(j *queue.Job) bool { return slices.Contains(done.IDs, j.ID) })
	if w.discarding != nil {
		w.discarding()
	}
	return done, w.down
}
