package queue

import (
	"maps"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestRehearsalSaysWhatTheRedriveThenDoes(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, `insert into leasetop.jobs (queue, kind, status, attempts, last_error, idempotency_key, updated_at) values
		('emails', 'send', 'dead', 5, 'SMTP 421 from 10.1.4.7', null, now() - interval '3 hours'),
		('emails', 'send', 'failed', 5, 'SMTP 421 from 10.1.4.8', null, now() - interval '1 hour'),
		('emails', 'send', 'dead', 5, 'SMTP 421 from 10.1.4.9', 'K', now() - interval '2 hours'),
		('images', '', 'dead', 1, null, 'free', now()),
		('emails', 'send', 'pending', 0, null, 'K', now()),
		('emails', 'send', 'completed', 1, null, null, now())`)
	ids := []int64{1, 2, 3, 4, 6, 4711, 2}
	r := must[Rehearsal](t)(q.Rehearse(t.Context(), ids))
	if len(r.Groups) != 2 || r.InUse != 1 || r.Gone != 2 || r.Redriven() != 3 {
		t.Fatalf("%+v", r)
	}
	first, second := r.Groups[0], r.Groups[1]
	if first.Count != 2 || first.Queue != "emails" || first.Kind != "send" || first.Sample != 2 || first.Error != "SMTP 421 from 10.1.4.8" || !first.First.Before(first.Last) {
		t.Errorf("the largest group is %+v", first)
	}
	if second.Count != 1 || second.Queue != "images" || second.Kind != "" || second.Error != "" {
		t.Errorf("the other is %+v", second)
	}
	plan := executed(t, q, started(t, q, NewPlan{IDs: ids}).ID)
	if plan.Redriven != r.Redriven() || plan.Skipped != r.InUse+r.Gone {
		t.Errorf("then %d were redriven and %d skipped, not %d and %d", plan.Redriven, plan.Skipped, r.Redriven(), r.InUse+r.Gone)
	}
}

// Of dead letters with one key the first takes it, also when the others are read in another part.
func TestRehearsalKnowsKeysThatAreRepeatedAmongTheDead(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, `insert into leasetop.jobs (queue, status, idempotency_key, updated_at)
		select case n when 25000 then 'images' else 'emails' end, 'dead', case when n in (1, 2, 24000, 25000) then 'k' end, now() - make_interval(secs => n) from generate_series(1, 25000) n`)
	ids := deadIDs(t, q, "")
	r := must[Rehearsal](t)(q.Rehearse(t.Context(), ids))
	plan := executed(t, q, started(t, q, NewPlan{IDs: ids}).ID)
	if r.InUse != 2 || r.Gone != 0 || r.Redriven() != plan.Redriven || plan.Skipped != 2 {
		t.Errorf("%d redriven, %d in use: then %+v", r.Redriven(), r.InUse, plan)
	}
}

func TestRehearsalOfManyJoinsItsParts(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, `insert into leasetop.jobs (queue, kind, status, last_error, updated_at)
		select 'emails', 'send', 'dead', 'SMTP 421', now() - make_interval(secs => n) from generate_series(1, 25000) n`)
	ids := deadIDs(t, q, "")
	r := must[Rehearsal](t)(q.Rehearse(t.Context(), ids))
	if len(r.Groups) != 1 || r.Groups[0].Count != 25_000 || r.Gone != 0 || r.InUse != 0 {
		t.Errorf("%+v", r)
	}
	if g := r.Groups[0]; g.Sample != ids[len(ids)-1] || g.Last.Sub(g.First).Seconds() != 24_999 {
		t.Errorf("%+v", g)
	}
}

// Each value that is shown is one of the statement's, and none of them is missing.
func TestStatementsOfAPlanAreShownWithAllTheirValues(t *testing.T) {
	t.Parallel()
	q := open(t)
	for _, s := range q.PlanStatements(NewPlan{IDs: []int64{1, 2, 3, 4, 5, 6, 7}, Filter: "queue:emails error:421 payload.to:ann"}) {
		last := 0
		for _, found := range regexp.MustCompile(`\$(\d+)`).FindAllStringSubmatch(s.SQL, -1) {
			n, _ := strconv.Atoi(found[1])
			last = max(last, n)
		}
		if last != len(s.Values) {
			t.Errorf("%s: %d values for %d parameters", s.About, len(s.Values), last)
		}
	}
	choice := q.PlanStatements(NewPlan{Filter: "queue:emails error:421 payload.to:ann"})[0].Values
	if choice[0] != "emails" || !strings.Contains(choice[8], "421") || choice[9] != "true" {
		t.Errorf("the filter's values are %q", choice)
	}
}

// It counts all dead letters of each queue, also those whose key is in use.
func TestRehearsalCountsByQueue(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, `insert into leasetop.jobs (queue, status, idempotency_key) values ('a', 'dead', 'k'), ('a', 'pending', 'k'), ('a', 'failed', null), ('b', 'dead', null), ('c', 'completed', null)`)
	rows, err := q.pool.Query(t.Context(), "select id from leasetop.jobs")
	ok(t, err)
	ids := must[[]int64](t)(pgx.CollectRows(rows, pgx.RowTo[int64]))
	r := must[Rehearsal](t)(q.Rehearse(t.Context(), ids))
	if want := map[string]int64{"a": 2, "b": 1}; !maps.Equal(r.Queues, want) || r.InUse != 1 {
		t.Errorf("%+v, want %v", r, want)
	}
}
