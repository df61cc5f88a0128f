package queue

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/queue/filter"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// counted is a connection whose reader counts.
type counted struct {
	net.Conn
	read *atomic.Int64
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.Add(int64(n))
	return n, err
}

// oddRows is a queue with a row for everything that is read, on tables without CHECKs: old rows and
// disabled constraints keep nothing out. read counts the bytes that arrive.
func oddRows(t *testing.T) (q *Queue, read *atomic.Int64) {
	t.Helper()
	q = open(t)
	ids := map[Status]int64{}
	for i, text := range []string{"pending", "processing", "completed", "failed", "dead", "archived"} {
		ids[Status(text)] = enqueue(t, q, NewJob{Queue: "q" + text, MaxAttempts: i + 1, IdempotencyKey: "key " + text})
	}
	for _, s := range []Status{"completed", "failed", "dead", "archived", "processing"} {
		exec(t, q, `update leasetop.jobs set status = case $2::text when 'archived' then 'dead' else $2::text end, last_error = 'e', locked_by = 'w', cancelled_by = 'ann',
			locked_at = now(), lease_expires_at = now() + interval '1 hour', errors = '[{"attempt": 1}]' where id = $1`, ids[s], string(s))
	}
	if err := q.Logged(t.Context(), Act{By: "ann", What: "discard", IDs: []int64{ids["archived"]}}, func(ctx context.Context) (int, int, error) {
		_, err := q.Discard(ctx, "ann", "why", ids["archived"])
		return 1, 0, err
	}); err != nil {
		t.Fatal(err)
	}
	plan := must[Plan](t)(q.StartPlan(t.Context(), "ann", NewPlan{IDs: []int64{ids["failed"]}, Filter: "queue:qfailed"}))
	exec(t, q, "update leasetop.redrive_jobs set state = 'skipped', reason = 'why', at = now(), status = 'dead', attempts = 1, run_at = now(), updated_at = now(), cancelled_by = 'x' where plan = $1", plan.ID)
	exec(t, q, "update leasetop.redrive_plans set executor = 'ann', token = 'x', executor_until = now() + interval '1 hour', ended_at = now(), moved_at = now(), reached = 1, skipped = 1 where id = $1", plan.ID)
	exec(t, q, "insert into leasetop.operator_log (by_whom, what, plan, ids) values ('ann', 'redrive', $1, '{1}')", plan.ID)
	must[[]string](t)(q.Pause(t.Context(), "ann", "why", "qpending"))
	exec(t, q, "insert into leasetop.originals (job_id, by_whom, payload) values ($1, 'ann', '{}')", ids["pending"])
	exec(t, q, `do $$ declare c record; begin
		for c in select conrelid::regclass as of, conname from pg_constraint where connamespace = 'leasetop'::regnamespace and contype = 'c' loop
			execute format('alter table %s drop constraint %I', c.of, c.conname);
		end loop; end $$`)

	read = &atomic.Int64{}
	config := q.Pool().Config()
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		return counted{conn, read}, err
	}
	pool := must[*pgxpool.Pool](t)(pgxpool.NewWithConfig(t.Context(), config))
	t.Cleanup(pool.Close)
	return must[*Queue](t)(New(pool, "")), read
}

// readings are all that lists, pages and feeds read. Payloads are not among them: they are asked for.
func readings(q *Queue) map[string]func(context.Context) (rows int, err error) {
	where, _ := filter.Parse("attempts:<99 age:<1h payload.x:1")
	page := func(f Filter) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			jobs, _, err := q.List(ctx, f, Page{})
			return len(jobs), err
		}
	}
	scan := func(f Filter, s Stretch) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			found, err := q.Scan(ctx, f, s)
			return len(found.Jobs), err
		}
	}
	one := func(err error) (int, error) { return 1, err }
	return map[string]func(context.Context) (int, error){
		"every job":        page(Filter{}),
		"jobs of a filter": page(Filter{Where: where}),
		"pending jobs":     page(Filter{Statuses: []Status{Pending}}),
		"dead letters":     page(Filter{Statuses: DeadLetters}),
		"scan down":        scan(Filter{}, Stretch{}),
		"scan up":          scan(Filter{}, Stretch{Up: true}),
		"scan of an index": scan(Filter{Statuses: []Status{Processing, Dead}}, Stretch{}),
		"jobs by id":       func(ctx context.Context) (int, error) { jobs, err := q.ByID(ctx, 1, 2, 3, 4, 5); return len(jobs), err },
		"leases":           func(ctx context.Context) (int, error) { jobs, err := q.Leases(ctx, 10); return len(jobs), err },
		"newest dead letters": func(ctx context.Context) (int, error) {
			f, err := q.DeadLetters(ctx, filter.Filter{}, DeadStretch{Look: 1000})
			return len(f.Jobs), err
		},
		"newest dead letters of a filter": func(ctx context.Context) (int, error) {
			f, err := q.DeadLetters(ctx, where, DeadStretch{Look: 1000})
			return len(f.Jobs), err
		},
		"groups of a filter": func(ctx context.Context) (int, error) {
			g, err := q.DeadGroups(ctx, where, 1000)
			return len(g.Groups), err
		},
		"matching a filter": func(ctx context.Context) (int, error) {
			ids, err := q.Matching(ctx, Filter{Statuses: DeadLetters, Where: where}, nil)
			return len(ids), err
		},
		"scan down by a filter":        scan(Filter{Where: where}, Stretch{}),
		"scan up by a filter":          scan(Filter{Where: where}, Stretch{Up: true}),
		"scan of an index by a filter": scan(Filter{Statuses: []Status{Processing, Dead}, Where: where}, Stretch{}),
		"groups": func(ctx context.Context) (int, error) {
			g, err := q.DeadGroups(ctx, filter.Filter{}, 1000)
			return len(g.Groups), err
		},
		"matching": func(ctx context.Context) (int, error) {
			ids, err := q.Matching(ctx, Filter{Statuses: DeadLetters}, nil)
			return len(ids), err
		},
		"archive":               func(ctx context.Context) (int, error) { jobs, err := q.Archive(ctx, "", 0, 10); return len(jobs), err },
		"operator log":          func(ctx context.Context) (int, error) { acts, err := q.Acts(ctx, 0, 10); return len(acts), err },
		"plans":                 func(ctx context.Context) (int, error) { plans, err := q.Plans(ctx, 0, 10); return len(plans), err },
		"plan":                  func(ctx context.Context) (int, error) { _, err := q.Plan(ctx, 1); return one(err) },
		"jobs of a plan":        func(ctx context.Context) (int, error) { jobs, err := q.PlanJobs(ctx, 1, 0, 10); return len(jobs), err },
		"pauses":                func(ctx context.Context) (int, error) { pauses, err := q.Pauses(ctx); return len(pauses), err },
		"depth":                 func(ctx context.Context) (int, error) { d, err := q.Depth(ctx, 0); return len(d.Queues), err },
		"vitals":                func(ctx context.Context) (int, error) { _, err := q.Vitals(ctx, VitalsOf{}); return one(err) },
		"why a job waits":       func(ctx context.Context) (int, error) { _, err := q.WhyWaiting(ctx, 1); return one(err) },
		"originals":             func(ctx context.Context) (int, error) { o, err := q.Originals(ctx, 1); return len(o), err },
		"rehearsal":             func(ctx context.Context) (int, error) { _, err := q.Rehearse(ctx, []int64{4, 5}); return one(err) },
		"page of a discarded":   func(ctx context.Context) (int, error) { _, _, err := q.PreviewArchived(ctx, 6, 100); return one(err) },
		"page of a running job": func(ctx context.Context) (int, error) { _, _, err := q.Preview(ctx, 2, 100); return one(err) },
		"page of a dead letter": func(ctx context.Context) (int, error) { _, _, err := q.Preview(ctx, 5, 100); return one(err) },
		"heartbeat of another": func(ctx context.Context) (int, error) {
			_, err := q.Heartbeat(ctx, []Renewal{{Lease: Lease{2, "other"}, For: time.Minute}})
			return one(err)
		},
	}
}

// columnsOf lists the columns of all tables that may be set, as table, column and type.
func columnsOf(t *testing.T, q *Queue, kind string) (columns [][2]string) {
	t.Helper()
	rows, err := q.Pool().Query(t.Context(), `select table_name::text, column_name::text from information_schema.columns
		where table_schema = 'leasetop' and udt_name = $1 and is_generated = 'NEVER' and table_name <> 'migrations'
		and column_name not in ('id', 'job_id', 'plan', 'position', 'status', 'state', 'name', 'key') order by 1, 2`, kind)
	for err == nil && rows.Next() {
		var c [2]string
		err = rows.Scan(&c[0], &c[1])
		columns = append(columns, c)
	}
	if err != nil || len(columns) == 0 {
		t.Fatalf("columns of %s: %d, %v", kind, len(columns), err)
	}
	return columns
}

// TestLongTextsOfAnyColumnAreCutByTheDatabase puts 300,000 characters into every text of
// every table, or what its index takes, and reads everything.
func TestLongTextsOfAnyColumnAreCutByTheDatabase(t *testing.T) {
	t.Parallel()
	q, read := oddRows(t)
	for _, c := range columnsOf(t, q, "text") {
		if c == [2]string{"jobs", "queue"} || c == [2]string{"queues", "queue"} { // no notification could name it
			continue
		}
		set := fmt.Sprintf("update leasetop.%s set %[2]s = repeat('é', $1) || %[2]s", c[0], c[1])
		if _, err := q.Pool().Exec(t.Context(), set, 300_000); err != nil { // it is in an index
			exec(t, q, set, 20_000)
		}
	}
	exec(t, q, `update leasetop.jobs set errors = jsonb_build_array(jsonb_build_object('attempt', 1, 'worker', repeat('x', 600000), 'error', repeat('x', 600000)))`)
	exec(t, q, `update leasetop.jobs_archive set errors = (select jsonb_agg(repeat('x', 1000)) from generate_series(1, 10000))`)
	for name, reading := range readings(q) {
		before := read.Load()
		rows, err := reading(t.Context())
		if got := read.Load() - before; err != nil || rows == 0 && !strings.HasSuffix(name, "a filter") || got > 200_000 {
			t.Errorf("%s: %d rows, %d bytes read: %v", name, rows, got, err)
		}
	}
	job, _, err := q.Preview(t.Context(), 2, 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := q.TakeBack(t.Context(), "ann", Lease{2, strings.Replace(job.LockedBy, "sha256 ", "sha256 f", 1)}); err == nil {
		t.Error("a lease was taken back under another owner's name")
	}
	if err := q.TakeBack(t.Context(), "ann", job.Lease()); err != nil {
		t.Errorf("a lease with a long owner cannot be taken back: %v", err)
	}
}

// TestOddValuesHideNoList puts the values that few expect into every column of every table.
func TestOddValuesHideNoList(t *testing.T) {
	t.Parallel()
	odd := map[string][]string{
		"timestamptz": {"infinity", "-infinity", "294276-12-31 23:59:59+00", "4713-01-02 00:00:00+00 BC"},
		"float8":      {"NaN", "Infinity", "-Infinity", "1e308"},
		"int4":        {"2147483647", "-2147483648"},
		"int8":        {"9223372036854775807", "-9223372036854775808"},
		"_int8":       {"{NULL}", "{{1,2},{3,NULL}}"},
		"jsonb":       {"null", `"x"`, "[[], null, 1]", `[{"attempt": "x", "at": "infinity"}]`},
		"text":        {"", "\n\n", "\u202e\x1b[31m"},
	}
	for kind, values := range odd {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			q, _ := oddRows(t)
			for _, value := range values {
				for _, c := range columnsOf(t, q, kind) {
					if c[1] == "queue" || c[1] == "idempotency_key" || c == [2]string{"jobs", "errors"} && value == "null" {
						continue
					}
					exec(t, q, fmt.Sprintf("update leasetop.%s set %s = $1::text::%s where %[2]s is not null", c[0], c[1], kind), value)
				}
				for name, reading := range readings(q) {
					if rows, err := reading(t.Context()); err != nil || rows == 0 && !strings.HasSuffix(name, "a filter") && name != "jobs of a plan" {
						t.Errorf("%q: %s: %d rows: %v", value, name, rows, err)
					}
				}
			}
		})
	}
}

// TestLongMessagesOfTheServerAreCutAsTheyArrive has a trigger raise a text of two million characters.
func TestLongMessagesOfTheServerAreCutAsTheyArrive(t *testing.T) {
	t.Parallel()
	q := must[*Queue](t)(Open(t.Context(), testdb.New(t), Options{}))
	t.Cleanup(q.Close)
	exec(t, q, `create function refuse() returns trigger language plpgsql as $$ begin
		raise '%', repeat('é', 2000000) using detail = repeat('d', 2000000), hint = repeat('h', 2000000); end $$`)
	exec(t, q, "create trigger refuse before insert on leasetop.jobs for each row execute function refuse()")
	_, err := q.Enqueue(t.Context(), NewJob{Queue: "emails"})
	if err == nil || len(err.Error()) > 20_000 || !strings.Contains(err.Error(), "bytes more)") {
		t.Errorf("%d bytes: %.200s", len(fmt.Sprint(err)), err)
	}
}

// TestAnErrorIsListedFromItsFirstWord finds the word after 10,000 newlines.
func TestAnErrorIsListedFromItsFirstWord(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := enqueue(t, q, NewJob{})
	for text, want := range map[string]string{strings.Repeat("\n", 10_000) + "word\nmore": "word\nmore", " \n ": " ", "": ""} {
		exec(t, q, "update leasetop.jobs set status = 'dead', last_error = $2, errors = jsonb_build_array(jsonb_build_object('attempt', 1, 'outcome', 'failed', 'error', $2::text)) where id = $1", id, text)
		if jobs, _, err := q.List(t.Context(), Filter{}, Page{}); err != nil || jobs[0].LastError != want {
			t.Errorf("%.10q is listed as %.20q: %v", text, jobs[0].LastError, err)
		}
		if job := get(t, q, id); job.LastError != text || job.Errors[0].Error != text || job.Errors[0].Outcome != "failed" {
			t.Errorf("%.10q is shown as %.20q, %+v", text, job.LastError, job.Errors[0])
		}
	}
}

// A job with an odd time is claimed, worked on and buried as any other, and the others with it.
func TestOddTimesStopNoClaim(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, "alter table leasetop.jobs drop constraint jobs_times_finite")
	for _, value := range []string{"infinity", "-infinity", "294276-12-31 23:59:59+00", "4713-01-02 00:00:00+00 BC"} {
		exec(t, q, "truncate leasetop.jobs")
		exec(t, q, "insert into leasetop.jobs (queue, created_at, updated_at) values ('q', $1::text::timestamptz, $1::text::timestamptz), ('q', default, default), ('q', $1::text::timestamptz, default)", value)
		jobs := take(t, q, "q", 3)
		beat := must[Beat](t)(q.Heartbeat(t.Context(), []Renewal{{Lease: jobs[0].Lease(), For: time.Minute}, {Lease: jobs[1].Lease(), For: time.Minute}, {Lease: jobs[2].Lease(), For: time.Minute}}))
		if len(beat.Renewed) != 3 {
			t.Errorf("%s: %+v", value, beat)
		}
		ok(t, q.Complete(t.Context(), jobs[0].Lease()))
		must[Status](t)(q.Retry(t.Context(), jobs[1].Lease(), "x", 0))
		ok(t, q.Bury(t.Context(), jobs[2].Lease(), "x"))
		done := must[Done](t)(q.Redrive(t.Context(), ann, jobs[2].ID))
		if len(done.IDs) != 1 {
			t.Errorf("%s: %+v", value, done)
		}
	}
}
