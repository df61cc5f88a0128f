package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/queue"
)

// acts is an operator log.
type acts []queue.Act

func (l *acts) Logged(ctx context.Context, a queue.Act, do func(context.Context) (done, skipped int, err error)) error {
	done, skipped, err := do(ctx)
	a.Done, a.Skips = int64(done), int64(skipped)
	if err != nil {
		a.Error = err.Error()
	}
	*l = append(*l, a)
	return err
}

// upTo returns the ids from 1 to n.
func upTo(n int) []int64 {
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = int64(i + 1)
	}
	return ids
}

// Called off in the middle, an act still prints what it did, and says what it left.
func TestActCalledOffPrintsWhatWasDone(t *testing.T) {
	t.Parallel()
	for format, want := range map[Format]string{
		Table: fmt.Sprintf("redriven %d, skipped 1\nskipped 3: gone\n", actBatch),
		JSON:  `"skipped":[{"id":3,"reason":"gone"}]}` + "\n",
	} {
		var out bytes.Buffer
		calls := 0
		err := Printer{Out: &out, Format: format}.act(t.Context(), &acts{}, "redrive", "redriven", Chosen{IDs: upTo(3 * actBatch)}, func(_ context.Context, ids ...int64) (queue.Done, error) {
			if calls++; calls == 2 {
				return queue.Done{IDs: ids[:1]}, fmt.Errorf("redrive: %w", context.Canceled)
			}
			return queue.Done{IDs: ids[1:], Skipped: []queue.Skip{{ID: 3, Reason: "gone"}}}, nil
		})
		if !strings.HasSuffix(out.String(), want) {
			t.Errorf("printed %q, want %q at the end", out.String(), want)
		}
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), fmt.Sprintf("(%d of %d jobs are not known to be done: run it again for those)", 2*actBatch-1, 3*actBatch)) {
			t.Errorf("error %v", err)
		}
		if calls != 2 {
			t.Errorf("went on, %d times", calls-2)
		}
	}
}

func TestActThatDidNothingPrintsNothing(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	refused := errors.New("permission denied")
	err := Printer{Out: &out}.act(t.Context(), &acts{}, "redrive", "redriven", Chosen{IDs: upTo(1)}, func(context.Context, ...int64) (queue.Done, error) {
		return queue.Done{}, refused
	})
	if err != refused || out.Len() > 0 {
		t.Errorf("printed %q, %v", out.String(), err)
	}
}

// On a terminal a long act says how far it is, and wipes that before the result.
func TestProgressOfLongActs(t *testing.T) {
	t.Parallel()
	for jobs, want := range map[int]string{
		actBatch:       "",
		2*actBatch + 1: fmt.Sprintf("\r\x1b[Kredriven 0 of %[2]d\r\x1b[Kredriven %[1]d of %[2]d\r\x1b[Kredriven %[3]d of %[2]d\r\x1b[K", actBatch, 2*actBatch+1, 2*actBatch),
	} {
		var terminal, out bytes.Buffer
		err := Printer{Out: &out, Progress: &terminal}.act(t.Context(), &acts{}, "redrive", "redriven", Chosen{IDs: upTo(jobs)}, func(_ context.Context, ids ...int64) (queue.Done, error) {
			return queue.Done{IDs: ids}, nil
		})
		if err != nil || terminal.String() != want || out.String() != fmt.Sprintf("redriven %d, skipped 0\n", jobs) {
			t.Errorf("%d jobs: %q, then %q, %v; want %q", jobs, terminal.String(), out.String(), err, want)
		}
	}
}

// Called off in the middle, an act is entered with what it did.
func TestActIsEnteredWithWhatItDid(t *testing.T) {
	t.Parallel()
	var l acts
	calls := 0
	jobs := Chosen{IDs: upTo(2 * actBatch), Filter: "queue:emails", Why: "the mail server is back"}
	_ = Printer{Out: io.Discard}.act(t.Context(), &l, "redrive", "redriven", jobs, func(_ context.Context, ids ...int64) (queue.Done, error) {
		if calls++; calls == 2 {
			return queue.Done{IDs: ids[:1]}, context.Canceled
		}
		return queue.Done{IDs: ids[1:], Skipped: []queue.Skip{{ID: ids[0], Reason: "gone"}}}, nil
	})
	if len(l) != 1 || l[0].What != "redrive" || l[0].By != Operator() || l[0].Filter != jobs.Filter || l[0].Reason != jobs.Why ||
		len(l[0].IDs) != 2*actBatch || l[0].Done != actBatch || l[0].Skips != 1 || !strings.Contains(l[0].Error, "context canceled") {
		t.Errorf("%+v", l)
	}
}

// What is done to nothing is no act.
func TestActOnNothingIsNotEntered(t *testing.T) {
	t.Parallel()
	var l acts
	var out bytes.Buffer
	err := Printer{Out: &out}.act(t.Context(), &l, "redrive", "redriven", Chosen{Filter: "queue:none"}, nil)
	if err != nil || len(l) != 0 || out.String() != "redriven 0, skipped 0\n" {
		t.Errorf("%v, %+v, printed %q", err, l, out.String())
	}
}
