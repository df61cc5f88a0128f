package watch

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// pausesEvery is between two readings of the pauses that the control channel asks for.
const pausesEvery = 250 * time.Millisecond

// readingPauses reads the pauses whenever the control channel spoke of a queue, but
// not too often. The poll reads them too, and says what is wrong when it cannot.
func (f *Feed) readingPauses(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.pausesNow:
		}
		_ = f.read(ctx, f.readPauses)
		if !rest(ctx, pausesEvery, nil) {
			return
		}
	}
}

// readPauses reads which queues are paused. A role that may not know is told in
// State and is no error: everything else can be read.
func (f *Feed) readPauses(ctx context.Context) error {
	list, err := f.reader.Pauses(ctx)
	reason := ""
	if errors.Is(err, queue.ErrForbidden) {
		reason, err = err.Error(), nil
	}
	if err != nil {
		return f.gone(err)
	}
	// By their bytes, whatever the database's collation is.
	slices.SortFunc(list, func(a, b queue.Pause) int { return cmp.Compare(a.Queue, b.Queue) })
	now := time.Now()
	f.change(func() {
		before := f.draft.Pauses
		f.draft.Pauses = Pauses{Source: Polled, Read: now, Reason: reason, List: list}
		if before.Source != Unknown && before.Reason == "" && reason == "" {
			f.happened(tellPauses(before, f.draft.Pauses, f.skew.clock().Now(now))...)
		}
	})
	return nil
}

// tellPauses names what happened between two readings. The table does not say who
// resumed a queue.
func tellPauses(before, now Pauses, at time.Time) (story []Event) {
	for _, p := range before.List {
		if _, still := now.Of(p.Queue); !still {
			story = append(story, Event{What: Resumed, At: at, Source: Polled, Queue: p.Queue})
		}
	}
	for _, p := range now.List {
		if was, already := before.Of(p.Queue); !already || !was.Since.Equal(p.Since) {
			story = append(story, Event{What: Paused, At: p.Since, Source: Polled, Queue: p.Queue, Note: "by " + p.By})
		}
	}
	return story
}

// withPaused adds the paused queues that have no jobs.
func withPaused(queues []QueueDepth, paused []queue.Pause) []QueueDepth {
	have := make(map[string]bool, len(queues))
	for _, q := range queues {
		have[q.Queue] = true
	}
	out, estimated := queues, slices.ContainsFunc(queues, func(q QueueDepth) bool { return !q.CompletedExact })
	for _, p := range paused {
		if !have[p.Queue] {
			out = append(slices.Clip(out), QueueDepth{QueueDepth: queue.QueueDepth{Queue: p.Queue, CompletedExact: !estimated}})
		}
	}
	if len(out) > len(queues) {
		slices.SortFunc(out, func(a, b QueueDepth) int { return cmp.Compare(a.Queue, b.Queue) })
	}
	return out
}
