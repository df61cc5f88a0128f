package queue

import (
	"context"
	"errors"
	"slices"
	"testing"
)

func TestMatchingIsTheListTurnedRound(t *testing.T) {
	t.Parallel()
	q := open(t)
	died(t, q)
	for text, sql := range deadChoices {
		where := saying(text)
		for order, c := range map[string]struct {
			filter Filter
			sql    string
		}{
			"died_at, id": {Filter{Statuses: DeadLetters, Where: where}, "status in ('failed', 'dead') and (" + sql + ")"},
			"id":          {Filter{Queue: "a", Statuses: []Status{Pending, Dead}, Where: where}, "queue = 'a' and status in ('pending', 'dead') and (" + sql + ")"},
			"id, queue":   {Filter{Where: where}, sql},
		} {
			if where.Statuses() != nil && order == "id, queue" {
				continue
			}
			want := idsWhere(t, q, c.sql, order)
			found, looked := 0, 0
			got := must[[]int64](t)(q.Matching(t.Context(), c.filter, func(f, l int) {
				if f < found || l < looked {
					t.Errorf("%s: first %d of %d, then %d of %d", text, found, looked, f, l)
				}
				found, looked = f, l
			}))
			if among(texts(c.filter.Statuses), Dead, Pending) { // deaths would come first
				slices.Sort(got)
			}
			if !slices.Equal(got, want) || found != len(want) && looked > 0 || looked < found {
				t.Errorf("%s by %s: %v, want %v; told %d of %d", text, order, got, want, found, looked)
			}
		}
	}
}

// However the statements divide them, and whichever queues are asked for.
func TestStepsLeaveNoDeadLetterOut(t *testing.T) {
	t.Parallel()
	q := open(t)
	died(t, q)
	for _, step := range []int{1, 7, 100, 150, 1000} {
		for _, queues := range [][]string{nil, {"a"}, {"c", "b"}, {"nobody's"}, {}} {
			steps := must[[]deadSteps](t)(q.deadSteps(t.Context(), queues, step))
			for _, rows := range []int{1, 25, 200, 10_000} {
				var got []int64
				told := 0
				ok(t, q.readSteps(t.Context(), steps, stride{rows, rows, 1}, func(s *deadSteps) error {
					read, err := q.pool.Query(t.Context(), q.schema.Query("dead_matching"), append(s.args(), nil, nil, false)...)
					ok(t, err)
					defer read.Close()
					n := 0
					for read.Next() {
						var id int64
						ok(t, read.Scan(nil, &id))
						got = append(got, id)
						n++
					}
					if n != s.rows || n > max(rows, step) {
						t.Errorf("%d rows were read of %d, in strides of %d", n, s.rows, rows)
					}
					return read.Err()
				}, func(n int) { told += n }))
				slices.Sort(got)
				want := must[[]int64](t)(q.Matching(t.Context(), Filter{Statuses: DeadLetters}, nil))
				if queues != nil {
					want = nil
					for _, name := range queues {
						want = append(want, must[[]int64](t)(q.Matching(t.Context(), Filter{Queue: name, Statuses: DeadLetters}, nil))...)
					}
				}
				slices.Sort(want)
				if !slices.Equal(got, want) || told != len(want) {
					t.Errorf("steps of %d of %q in strides of %d: %d, told %d, want %d", step, queues, rows, len(got), told, len(want))
				}
			}
		}
	}
}

// One that comes back to life and dies again while the others are read is in the set once.
func TestMatchingHasEachOnce(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, "insert into leasetop.jobs (queue, status) select 'emails', 'dead' from generate_series(1, 60000)")
	first := true
	ids := must[[]int64](t)(q.Matching(t.Context(), Filter{Statuses: DeadLetters}, func(int, int) {
		if first {
			exec(t, q, "update leasetop.jobs set updated_at = clock_timestamp() where id <= 10")
		}
		first = false
	}))
	slices.Sort(ids)
	if len(ids) != 60_000 || len(slices.Compact(ids)) != 60_000 {
		t.Errorf("%d ids, %d of them different", len(ids), len(slices.Compact(ids)))
	}
}

func TestMatchingEndsWhenItIsCalledOff(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, "insert into leasetop.jobs (queue, status) select 'emails', case when n % 2 = 0 then 'dead' else 'completed' end from generate_series(1, 200000) n")
	for name, f := range map[string]Filter{"dead": {Statuses: DeadLetters}, "all": {}} {
		ctx, stop := context.WithCancel(t.Context())
		calls := 0
		if _, err := q.Matching(ctx, f, func(int, int) { calls++; stop() }); !errors.Is(err, context.Canceled) || calls != 1 {
			t.Errorf("%s: %v after %d statements", name, err, calls)
		}
	}
}
