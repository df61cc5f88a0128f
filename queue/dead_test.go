package queue

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/leasetop/leasetop/queue/filter"
)

// deadChoices are filters of dead letters, and the SQL that means the same.
var deadChoices = map[string]string{
	"":                                     "true",
	"queue:b":                              "queue = 'b'",
	"queue:a,c status:dead":                "queue in ('a', 'c') and status = 'dead'",
	"queue:nobody's":                       "false",
	"status:pending":                       "status = 'pending'",
	"!status:failed":                       "status <> 'failed'",
	"421":                                  "last_error like '%421%'",
	"!421 kind:send":                       "last_error not like '%421%' and kind = 'send'",
	"id:10..200 attempts:>2":               "id between 10 and 200 and attempts > 2",
	"payload.n:<5":                         "(payload->>'n')::int < 5",
	`error:"no host 7"`:                    "last_error like '%no host 7%'",
	`error:"%"`:                            "false",
	"kind:\"\"":                            "kind = ''",
	`!error:"'; drop table leasetop.jobs"`: "true",
}

// died fills the table with 300 dead letters, many of them dead at the same moment, and
// 100 others. Ids and deaths go in different orders.
func died(t testing.TB, q *Queue) {
	t.Helper()
	exec(t, q, "truncate leasetop.jobs")
	exec(t, q, `insert into leasetop.jobs (id, queue, kind, status, attempts, last_error, updated_at, payload)
		select n, (array['a', 'b', 'c'])[1 + n % 3], (array['send', ''])[1 + n % 2],
			(array['failed', 'dead', 'dead', 'pending'])[1 + n % 4], n % 5,
			(array['SMTP 421 from ', 'no host '])[1 + n / 7 % 2] || n, now() - (n * 7919 % 40) * interval '1 minute',
			jsonb_build_object('n', n % 11)
		from generate_series(1, 400) n`)
}

// deadIDs are the dead letters of a queue or ("") of all, oldest death first.
func deadIDs(t testing.TB, q *Queue, queue string) []int64 {
	t.Helper()
	return must[[]int64](t)(q.Matching(t.Context(), Filter{Queue: queue, Statuses: DeadLetters}, nil))
}

func idsWhere(t testing.TB, q *Queue, where, order string) []int64 {
	t.Helper()
	rows, err := q.pool.Query(t.Context(), "select id from leasetop.jobs where "+where+" order by "+order)
	ok(t, err)
	return must[[]int64](t)(pgx.CollectRows(rows, pgx.RowTo[int64]))
}

func TestDeadLettersNeitherRepeatNorSkip(t *testing.T) {
	t.Parallel()
	q := open(t)
	died(t, q)
	for text, sql := range deadChoices {
		where := saying(text)
		want := idsWhere(t, q, "status in ('failed', 'dead') and ("+sql+")", "died_at desc, id desc")
		for _, look := range []int{9, 60, 0} {
			var got []int64
			looked := 0
			for s := (DeadStretch{Limit: 7, Look: look}); ; {
				found := must[DeadFound](t)(q.DeadLetters(t.Context(), where, s))
				got = append(got, idsOf(t, found.Jobs)...)
				looked += found.Looked
				if len(found.Jobs) > s.Limit || look > 0 && found.Looked > look {
					t.Fatalf("%s: %d found, %d looked at", text, len(found.Jobs), found.Looked)
				}
				if s.From = found.Next; s.From == nil {
					break
				}
				if !found.Through.Equal(*s.From.DiedAt) {
					t.Errorf("%s: looked through %v, goes on at %v", text, found.Through, s.From.DiedAt)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, looking at %d: %v, want %v", text, look, got, want)
			}
			if text == "" && looked != 300 {
				t.Errorf("looked at %d of 300", looked)
			}
		}
		jobs, next, err := q.List(t.Context(), Filter{Statuses: DeadLetters, Where: where}, Page{Limit: 1000})
		if err != nil || next != nil || !slices.Equal(idsOf(t, jobs), want) {
			t.Errorf("%s: listed %v, next %v, %v, want %v", text, idsOf(t, jobs), next, err, want)
		}
	}
}

// What a stretch has is whole, also where the queues are so many that of each there is
// only a little to look at: none older is shown before one newer that was not looked at.
func TestDeadLettersOfVeryManyQueuesAreInOrder(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, `insert into leasetop.jobs (queue, status, updated_at) select 'q' || n % 9000, 'dead', now() - n * 7919 % 60007 * interval '1 s' from generate_series(1, 30000) n`)
	exec(t, q, `insert into leasetop.jobs (queue, status, updated_at) select 'alone', 'dead', now() + interval '1 h' - n * interval '1 s' from generate_series(1, 200) n`)
	exec(t, q, "vacuum analyze leasetop.jobs")
	want := idsWhere(t, q, "true", "died_at desc, id desc limit 20000")
	where := saying("!x")
	var got []int64
	for s := (DeadStretch{Limit: 20_000, Look: 20_000}); len(got) < len(want); {
		found := must[DeadFound](t)(q.DeadLetters(t.Context(), where, s))
		if got = append(got, idsOf(t, found.Jobs)...); found.Next == nil {
			break
		}
		s.From = found.Next
	}
	if got = got[:min(len(got), len(want))]; !slices.Equal(got, want) {
		t.Errorf("%d listed, not in the order of their deaths", len(got))
	}
	page := must[DeadFound](t)(q.DeadLetters(t.Context(), filter.Everything, DeadStretch{Limit: 50}))
	if !slices.Equal(idsOf(t, page.Jobs), want[:50]) || page.Looked != 50 || page.Next == nil {
		t.Errorf("a page of %d, looked at %d", len(page.Jobs), page.Looked)
	}
}

// A statement looks at no more than its stretch, and of each queue at no more than that.
func TestDeadLettersWorkIsBounded(t *testing.T) {
	t.Parallel()
	const look, queues = 500, 3
	tables := map[string]*Queue{"fresh": planTable(t), "stale": planTable(t)}
	exec(t, tables["fresh"], "vacuum analyze leasetop.jobs")
	for statistics, q := range tables {
		for _, where := range []string{"null, false, 499", `'$[7] like_regex "421" flag "iq"', false, 50`} {
			for _, n := range workOf(t, q, "list_dead", fmt.Sprintf("null, 'infinity', %d, %s, %d", math.MaxInt64, where, look)) {
				if rows := n.Rows * n.Loops; rows > queues*(look+2) || n.Index == "jobs_pkey" && rows > look || n.Filtered > look {
					t.Errorf("%s statistics: %s of %s has %v rows to do with, and passes over %v", statistics, n.Type, n.Index, rows, n.Filtered)
				}
			}
		}
	}
}

// Steps end where they end, and not where their queue does.
func TestStepsReadNothingBeyondThem(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, "insert into leasetop.jobs (queue, status, updated_at) select 'emails', 'dead', now() - n * interval '1 s' from generate_series(1, 20000) n")
	exec(t, q, "vacuum analyze leasetop.jobs")
	for _, queues := range [][]string{nil, {"emails"}} {
		step := must[[]deadSteps](t)(q.deadSteps(t.Context(), queues, 100))[50]
		for statement, args := range map[string][]any{
			"dead_matching": append(step.args(), nil, nil, false),
			"dead_groups":   append(step.args(), nil, nil, false, deadAxis(time.Now(), time.Hour)),
			"dead_steps":    {step.queue, step.from.queue, step.from.diedAt, step.from.id, 100, 1},
		} {
			tx := begin(t, q)
			_, err := tx.Exec(t.Context(), q.schema.Query("dead_plan"))
			ok(t, err)
			pages := func() (n int) {
				ok(t, tx.QueryRow(t.Context(), "select sum(pg_stat_get_xact_blocks_fetched(indexrelid)) from pg_index where indrelid = 'leasetop.jobs'::regclass").Scan(&n))
				return n
			}
			before := pages()
			_, err = tx.Exec(t.Context(), q.schema.Query(statement), args...)
			ok(t, err)
			if n := pages() - before; n < 1 || n > 10 {
				t.Errorf("%s of %q reads %d pages of the index for 100 entries", statement, queues, n)
			}
			ok(t, tx.Rollback(t.Context()))
		}
	}
}

// Payloads are read for a filter on them, and then few at a time; for nothing else.
func TestOnlyAFilterOnPayloadsReadsThem(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, `alter table leasetop.jobs alter payload set storage external`)
	exec(t, q, `insert into leasetop.jobs (queue, status, payload, last_error) select 'emails', 'dead', jsonb_build_object('to', 'user' || n, 'body', repeat('x', 100000)), 'SMTP 421' from generate_series(1, 50) n`)
	reads := func(text string) int64 {
		tx := begin(t, q)
		defer tx.Rollback(t.Context())
		_, err := tx.Exec(t.Context(), q.schema.Query("list_dead"), nil, "infinity", int64(math.MaxInt64), nullable(saying(text).Path()), saying(text).Wide(), 100, 100)
		ok(t, err)
		var read int64
		ok(t, tx.QueryRow(t.Context(), `select coalesce(sum(pg_stat_get_xact_tuples_fetched(reltoastrelid) + pg_stat_get_xact_tuples_returned(reltoastrelid)
			+ (select sum(pg_stat_get_xact_tuples_returned(indexrelid)) from pg_index where indrelid = reltoastrelid)), 0)::bigint
			from pg_class where oid = 'leasetop.jobs'::regclass`).Scan(&read))
		return read
	}
	for _, text := range []string{"", "421", "error:421 !worker:w age:>1s"} {
		if n := reads(text); n != 0 {
			t.Errorf("%q reads %d pieces of payloads", text, n)
		}
	}
	if n := reads("payload.to:user7"); n == 0 {
		t.Error("a filter on payloads reads none")
	}
	found := must[DeadFound](t)(q.DeadLetters(t.Context(), saying("payload.to:user7"), DeadStretch{}))
	if len(found.Jobs) != 1 || found.Looked != 50 || found.Jobs[0].Payload != nil {
		t.Errorf("%+v", found)
	}
}

// Whatever the server gives up is tried for less; what was called off is not.
func TestStridesBecomeShorterUntilTheyAreAnswered(t *testing.T) {
	t.Parallel()
	late := &pgconn.PgError{Code: queryCanceled}
	tooLong := func(err error) bool { return errors.Is(err, late) }
	s := stride{1000, strideMost, 1}
	var looks []int
	look := func(rows int) error {
		if looks = append(looks, rows); rows > 20 {
			return fmt.Errorf("late: %w", late)
		}
		return nil
	}
	if err := s.take(t.Context(), tooLong, look); err != nil || !slices.Equal(looks, []int{1000, 250, 62, 15}) || s.most != 15 {
		t.Errorf("%v, %v, then at most %d", looks, err, s.most)
	}
	s = stride{3, strideMost, 1}
	if err := s.take(t.Context(), tooLong, func(int) error { return late }); !errors.Is(err, late) || s.rows != 1 {
		t.Errorf("%v at %d", err, s.rows)
	}
	ctx, stop := context.WithCancel(t.Context())
	s, looks = stride{1000, strideMost, 1}, nil
	if err := s.take(ctx, tooLong, func(rows int) error { stop(); return look(rows) }); err == nil || len(looks) != 1 {
		t.Errorf("called off: %v, %v", looks, err)
	}
}

// A statement_timeout that is too short for the first stride is none for the list.
func TestDeadLettersUnderAShortTimeout(t *testing.T) {
	t.Parallel()
	q := openWith(t, 2, "statement_timeout = 500")
	exec(t, q, "create function public.slow(text) returns text language sql stable as 'select case when pg_sleep(0.004) is null then null else $1 end'")
	exec(t, q, `create or replace function leasetop.facts(job leasetop.jobs, wide boolean) returns jsonb language sql stable as $$
		select jsonb_build_array(job.id, public.slow(job.queue), job.kind) $$`)
	exec(t, q, "insert into leasetop.jobs (queue, kind, status) select 'emails', case when n = 300 then 'rare' else '' end, 'dead' from generate_series(1, 300) n")
	began := time.Now()
	found, err := q.deadLetters(t.Context(), Filter{Statuses: DeadLetters, Where: saying("kind:none")}, DeadStretch{Look: 300}, math.MaxInt64)
	if err != nil || found.Looked != 300 || found.Next != nil || len(found.Jobs) != 0 {
		t.Errorf("%+v, %v in %v", found, err, time.Since(began))
	}
	patient, err := q.DeadLetters(t.Context(), saying("kind:none"), DeadStretch{Look: 300})
	if err != nil || patient.Next == nil || patient.Looked == 0 {
		t.Errorf("after a second: %+v, %v", patient, err)
	}
}

// CASES "Filter text": what somebody types is letters to the database, whatever they are
// to regular expressions, patterns, JSON, jsonpath and SQL.
func TestHostileFilterTextIsLiteral(t *testing.T) {
	t.Parallel()
	q := open(t)
	hostile := []string{
		"[", "(a+)+$", "%", "_", "'", `"; drop table leasetop.jobs; --`, `\`, `\d`, `\u0000`, `$.a ? (@ > 1)`, `" || true || "`, "*", "$1",
		"a\tb", "\x1b[2J", "日本語 é", "(?i)x", strings.Repeat("(a+)+$", 300),
	}
	for _, text := range hostile {
		exec(t, q, "insert into leasetop.jobs (queue, status, last_error, payload) values ('emails', 'dead', $1, jsonb_build_object('to', $1::text))", "say "+text+" so")
	}
	exec(t, q, "insert into leasetop.jobs (queue, status, last_error) values ('emails', 'dead', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!')")
	for _, text := range hostile {
		want := idsWhere(t, q, "strpos(lower(last_error), lower("+literal(text)+")) > 0", "died_at desc, id desc")
		if len(want) == 0 {
			t.Fatalf("%q is nowhere", text)
		}
		for _, key := range []string{"error:", "payload:"} {
			found, err := q.DeadLetters(t.Context(), saying(key+filter.Quote(text)), DeadStretch{})
			if err != nil || !slices.Equal(idsOf(t, found.Jobs), want) {
				t.Errorf("%s%.40q: %v, %v, want %v", key, text, idsOf(t, found.Jobs), err, want)
			}
		}
		for _, typed := range []string{strings.Repeat(text, 10_000/len(text)), text, "!" + text, "queue:" + text, "payload.a:" + text} { // as it is, it is a mistake or can be meant
			if where, err := filter.Parse(typed); err == nil {
				_, err := q.DeadGroups(t.Context(), where, 0)
				ok(t, err)
				_, err = q.Scan(t.Context(), Filter{Where: where}, Stretch{})
				ok(t, err)
			}
		}
	}
}

// literal is a text as SQL has it.
func literal(text string) string {
	return "e'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(text) + "'"
}
