package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// nothing is an act that was done to one job and left another.
func nothing(context.Context) (int, int, error) { return 1, 1, nil }

func TestActIsEnteredBeforeAndAfter(t *testing.T) {
	t.Parallel()
	q := open(t)
	err := q.Logged(t.Context(), Act{By: "ann@laptop", What: "redrive", Filter: "queue:emails", Reason: "the mail server is back", IDs: []int64{7, 8}, Plan: 3},
		func(ctx context.Context) (int, int, error) {
			acts := must[[]Act](t)(q.Acts(ctx, 0, 10))
			if len(acts) != 1 || acts[0].Ended != nil || acts[0].By != "ann@laptop" || acts[0].What != "redrive" || acts[0].Asked != 2 || acts[0].Done != 0 {
				t.Errorf("meanwhile %+v", acts)
			}
			return nothing(ctx)
		})
	ok(t, err)
	a := must[[]Act](t)(q.Acts(t.Context(), 0, 10))[0]
	if a.Ended == nil || a.Ended.Before(a.At) || a.Done != 1 || a.Skips != 1 || a.Error != "" ||
		a.Filter != "queue:emails" || a.Reason != "the mail server is back" || !slices.Equal(a.IDs, []int64{7, 8}) || a.Plan != 3 || a.Role != q.role() {
		t.Errorf("afterwards %+v", a)
	}
}

func TestActThatCannotBeEnteredIsNotBegun(t *testing.T) {
	t.Parallel()
	owner := open(t)
	q := openAs(t, owner, "usage on schema leasetop", "select, update on leasetop.jobs")
	err := q.Logged(t.Context(), Act{By: "ann", What: "redrive"}, func(context.Context) (int, int, error) {
		t.Error("begun")
		return 0, 0, nil
	})
	if want := "GRANT SELECT, INSERT ON leasetop.operator_log TO " + q.role(); !errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	exec(t, owner, "drop table leasetop.operator_log")
	if err := owner.Logged(t.Context(), Act{By: "ann", What: "redrive"}, nil); !errors.Is(err, ErrSchemaOld) {
		t.Errorf("without the table: %v", err)
	}
}

func TestActThatFailsSaysWhyAndHowFarItCame(t *testing.T) {
	t.Parallel()
	q := open(t)
	broken := errors.New("the dependency is \x00 broken " + strings.Repeat("é", ErrorTextLimit))
	if err := q.Logged(t.Context(), Act{By: "ann", What: "redrive", Asked: 5}, func(context.Context) (int, int, error) { return 2, 1, broken }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	a := must[[]Act](t)(q.Acts(t.Context(), 0, 1))[0]
	if a.Ended == nil || a.Asked != 5 || a.Done != 2 || a.Skips != 1 || !strings.HasPrefix(a.Error, "the dependency is \uFFFD broken é") || !utf8.ValidString(a.Error) || len(a.Error) > ErrorTextLimit+40 {
		t.Errorf("%+v", a)
	}
}

// Whoever gives up in the middle is still told of in the log, with what was done.
func TestActThatIsCalledOffIsCompleted(t *testing.T) {
	t.Parallel()
	q := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := q.Logged(ctx, Act{By: "ann", What: "discard", Asked: 3}, func(ctx context.Context) (int, int, error) {
		cancel()
		return 2, 0, ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if a := must[[]Act](t)(q.Acts(t.Context(), 0, 1))[0]; a.Ended == nil || a.Done != 2 || a.Error != "context canceled" {
		t.Errorf("%+v", a)
	}
	if err := q.Logged(ctx, Act{By: "ann", What: "discard"}, nothing); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	if n := count(t, q, "select count(*) from leasetop.operator_log"); n != 1 {
		t.Errorf("%d entries", n)
	}
}

func TestActKeepsTheFirstHundredIDs(t *testing.T) {
	t.Parallel()
	q := open(t)
	ids := make([]int64, 250)
	for i := range ids {
		ids[i] = int64(i + 1)
	}
	ok(t, q.Logged(t.Context(), Act{By: "ann", What: "redrive", IDs: ids}, nothing))
	if a := must[[]Act](t)(q.Acts(t.Context(), 0, 1))[0]; !slices.Equal(a.IDs, ids[:loggedIDs]) || a.Asked != 250 {
		t.Errorf("%+v", a)
	}
}

func TestActsAreReadByPages(t *testing.T) {
	t.Parallel()
	q := open(t)
	for i := range 5 {
		ok(t, q.Logged(t.Context(), Act{By: "ann", What: fmt.Sprint("act ", i)}, nothing))
	}
	var what []string
	for before := int64(0); ; {
		page := must[[]Act](t)(q.Acts(t.Context(), before, 2))
		if len(page) == 0 {
			break
		}
		for _, a := range page {
			what, before = append(what, a.What), a.ID
		}
	}
	if want := []string{"act 4", "act 3", "act 2", "act 1", "act 0"}; !slices.Equal(what, want) {
		t.Errorf("%q", what)
	}
}
