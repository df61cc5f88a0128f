package queue

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// What can be seen of a discarded job is what could be seen of it before.
func TestDiscardedJobIsSeenWhole(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := buried(t, q, NewJob{Kind: "send", IdempotencyKey: "k", Payload: []byte(`{"n": 1970670598291982290}`)})
	before := get(t, q, id)
	must[Done](t)(q.Discard(t.Context(), "ann", "sent by hand", id))
	got := must[*Archived](t)(q.GetArchived(t.Context(), id))
	if got.ArchivedBy != "ann" || got.ArchivedWhy != "sent by hand" || got.ArchivedAt.Before(before.UpdatedAt) {
		t.Errorf("discarded at %v by %q: %q", got.ArchivedAt, got.ArchivedBy, got.ArchivedWhy)
	}
	if string(got.Payload) != string(before.Payload) || !slices.Equal(got.Errors, before.Errors) || got.Fingerprint != before.Fingerprint ||
		got.Status != before.Status || got.IdempotencyKey != before.IdempotencyKey || !got.DiedAt.Equal(*before.DiedAt) {
		t.Errorf("it was %+v, and reads %+v", before, got.Job)
	}
	cut, length, err := q.PreviewArchived(t.Context(), id, 4)
	if err != nil || string(cut.Payload) != `{"n"` || length != len(before.Payload) {
		t.Errorf("preview %s of %d characters, %v", cut.Payload, length, err)
	}
	if payloads := payloadsOf(t, q.ArchivedPayloads(t.Context(), 0, id, id+1)); len(payloads) != 1 || string(payloads[id]) != string(before.Payload) {
		t.Errorf("%d payloads, %s", len(payloads), payloads[id])
	}
	for _, missing := range []int64{id + 1, -1} {
		if _, err := q.GetArchived(t.Context(), missing); !errors.Is(err, ErrNotFound) {
			t.Errorf("job %d: %v", missing, err)
		}
	}
}

// A job that was discarded is not told to be gone.
func TestActsOnADiscardedJobSayWhereItIs(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := buried(t, q, NewJob{})
	must[Done](t)(q.Discard(t.Context(), "ann", "", id))
	want := Skip{ID: id, Reason: "already discarded"}
	redriven, discarded := must[Done](t)(q.Redrive(t.Context(), "ann", id)), must[Done](t)(q.Discard(t.Context(), "ann", "", id))
	cancelled := must[Cancelled](t)(q.Cancel(t.Context(), "ann", id))
	for _, skipped := range [][]Skip{redriven.Skipped, discarded.Skipped, cancelled.Skipped} {
		if len(skipped) != 1 || skipped[0] != want {
			t.Errorf("skipped %v, want %v", skipped, want)
		}
	}
	// Who may not look into the archive is told what can be known.
	worker := openAs(t, q, "usage on schema leasetop", "select, insert, update on leasetop.jobs", "select, update on leasetop.redrive_jobs")
	if done := must[Done](t)(worker.Redrive(t.Context(), "ann", id)); len(done.Skipped) != 1 || done.Skipped[0].Reason != "no such job" {
		t.Errorf("without the right: %v", done.Skipped)
	}
}

func TestArchivedIDsAreThoseOfTheQueue(t *testing.T) {
	t.Parallel()
	q := open(t)
	a, b := buried(t, q, NewJob{Queue: "a"}), buried(t, q, NewJob{Queue: "b"})
	buried(t, q, NewJob{Queue: "a"}) // stays
	must[Done](t)(q.Discard(t.Context(), "ann", "", b, a))
	for queue, want := range map[string][]int64{"": {a, b}, "b": {b}, "c": nil} {
		if got := must[[]int64](t)(q.ArchivedIDs(t.Context(), queue)); !slices.Equal(got, want) {
			t.Errorf("of queue %q: %v, want %v", queue, got, want)
		}
	}
}

// Exactly what one act took is found, however much it was, and
// nothing of another's that was discarded at the same time.
func TestArchivedByActIsWhatThatActDiscarded(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, "insert into leasetop.jobs (queue, status) select 'emails', 'dead' from generate_series(1, $1)", loggedIDs+50)
	ids := must[[]int64](t)(q.Matching(t.Context(), Filter{}, nil))
	mine, hers := ids[:loggedIDs+20], ids[loggedIDs+20:loggedIDs+40]
	without := ids[loggedIDs+40:]
	discard := func(ids []int64) (entry int64) {
		t.Helper()
		ok(t, q.Logged(t.Context(), Act{By: "ann", What: "discard", IDs: ids}, func(ctx context.Context) (int, int, error) {
			entry = EntryOf(ctx)
			for batch := range slices.Chunk(ids, 30) {
				if batch[0] == mine[30] { // in the middle of it
					must[Done](t)(q.Discard(t.Context(), "bob", "", without...))
				}
				must[Done](t)(q.Discard(ctx, "ann", "", batch...))
			}
			return len(ids), 0, nil
		}))
		return entry
	}
	act, other := discard(mine), discard(hers)
	if a := must[[]Act](t)(q.Acts(t.Context(), 0, 2)); a[0].ID != other || a[1].ID != act || act == 0 {
		t.Errorf("entries %d and %d, but the log has %+v", act, other, a)
	}
	if got := EntryOf(t.Context()); got != 0 {
		t.Errorf("outside the log: %d", got)
	}
	for _, c := range []struct {
		act  int64
		want []int64
	}{{act, mine}, {other, hers}, {other + 1, nil}, {0, nil}} {
		if got := must[[]int64](t)(q.ArchivedByAct(t.Context(), c.act)); !slices.Equal(got, c.want) {
			t.Errorf("act %d discarded %v, want %v", c.act, got, c.want)
		}
	}
	// What came back and was discarded again is the later act's.
	must[Done](t)(q.Restore(t.Context(), "ann", mine[:2]...))
	again := discard(mine[:1])
	for entry, want := range map[int64][]int64{act: mine[2:], again: mine[:1]} {
		if got := must[[]int64](t)(q.ArchivedByAct(t.Context(), entry)); !slices.Equal(got, want) {
			t.Errorf("act %d discarded %v, want %v", entry, got, want)
		}
	}
}
