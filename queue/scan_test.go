package queue

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// scanChoices are filters of every kind, and the SQL that means the same.
var scanChoices = map[string]struct {
	filter Filter
	sql    string
}{
	"all":                    {Filter{}, "true"},
	"a queue":                {Filter{Queue: "b"}, "queue = 'b'"},
	"no queue":               {Filter{Queue: "nobody's"}, "false"},
	"completed":              {Filter{Statuses: []Status{Completed}}, "status = 'completed'"},
	"dead letters":           {Filter{Statuses: DeadLetters}, "status in ('failed', 'dead')"},
	"failed":                 {Filter{Statuses: []Status{Failed}}, "status = 'failed'"},
	"dead of a queue":        {Filter{Queue: "c", Statuses: []Status{Dead}}, "queue = 'c' and status = 'dead'"},
	"processing":             {Filter{Statuses: []Status{Processing}}, "status = 'processing'"},
	"ready":                  {Filter{Statuses: []Status{Pending}, Due: DueNow}, "status = 'pending' and run_at <= now()"},
	"scheduled":              {Filter{Statuses: []Status{Pending}, Due: DueLater}, "status = 'pending' and run_at > now()"},
	"scheduled of a queue":   {Filter{Queue: "a", Statuses: []Status{Pending}, Due: DueLater}, "queue = 'a' and status = 'pending' and run_at > now()"},
	"all but the scheduled":  {Filter{Due: DueNow}, "status <> 'pending' or run_at <= now()"},
	"all but the completed":  {Filter{Statuses: []Status{Pending, Processing, Failed, Dead}}, "status <> 'completed'"},
	"live, ready of a queue": {Filter{Queue: "b", Statuses: []Status{Processing, Pending}, Due: DueNow}, "queue = 'b' and (status = 'processing' or status = 'pending' and run_at <= now())"},
}

// scanned fills the table anew with 300 jobs of every kind, some below id 0, with gaps between them.
func scanned(t *testing.T, q *Queue) {
	t.Helper()
	exec(t, q, "truncate leasetop.jobs")
	exec(t, q, `insert into leasetop.jobs (id, queue, status, run_at, locked_by, lease_expires_at, last_error)
		select 3 * n - 30, (array['a', 'b', 'c'])[1 + n % 3], status,
			case n / 5 % 4 when 0 then 'infinity' when 1 then now() + interval '1 h' when 2 then '-infinity' else now() - interval '1 h' end,
			case status when 'processing' then 'x' end, case status when 'processing' then now() end, 'x'
		from generate_series(0, 299) n, lateral (select (array['pending', 'processing', 'completed', 'failed', 'dead'])[1 + n % 5]) as s(status)`)
}

// idsOf are the ids of jobs that were listed, of which none has a payload or a history.
func idsOf(t *testing.T, jobs []Job) []int64 {
	t.Helper()
	ids := make([]int64, len(jobs))
	for i := range jobs {
		ids[i] = jobs[i].ID
		if jobs[i].Payload != nil || jobs[i].Errors != nil {
			t.Errorf("job %d is listed with payload or history", ids[i])
		}
	}
	return ids
}

func TestScanPagesNeitherRepeatNorSkip(t *testing.T) {
	t.Parallel()
	for name, choice := range scanChoices {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := open(t)
			for _, up := range []bool{false, true} {
				for _, look := range []int{1, 7, 60, 10_000} { // from always by the table to always by the indexes
					scanned(t, q)
					rows, err := q.pool.Query(t.Context(), "select id from leasetop.jobs where "+choice.sql+" order by id desc")
					ok(t, err)
					want := must[[]int64](t)(pgx.CollectRows(rows, pgx.RowTo[int64]))
					var got []int64
					for s := (Stretch{Up: up, Limit: 7, Look: look}); ; {
						found := must[Found](t)(q.Scan(t.Context(), choice.filter, s))
						if len(found.Jobs) > s.Limit || found.Looked > look {
							t.Fatalf("%d found, %d looked at", len(found.Jobs), found.Looked)
						}
						page := idsOf(t, found.Jobs)
						got = slices.Concat(page, got)
						if !up {
							got = slices.Concat(got[len(page):], page)
						}
						if s.From = found.Next; s.From == nil {
							break
						}
						// The row that the cursor names goes away, and others come behind it.
						exec(t, q, "delete from leasetop.jobs where id = $1", s.From.ID)
						behind := 10_000 + int64(len(got))
						if up {
							behind = -behind
						}
						exec(t, q, `insert into leasetop.jobs (id, queue, status, run_at) select $1 * 10 + n, (array['a', 'b', 'c'])[n],
							(array['completed', 'pending', 'dead'])[n], now() + interval '1 h' from generate_series(1, 3) n on conflict do nothing`, behind)
					}
					if !slices.Equal(got, want) {
						t.Errorf("up %v, looking at %d: %v, want %v", up, look, got, want)
					}
				}
			}
		})
	}
}

// A filter that hardly a job passes: each scan looks at so many, and says how far it came.
func TestScanSaysHowFarItLooked(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, "insert into leasetop.jobs (queue, status) select case n when 5 then 'rare' else 'emails' end, 'completed' from generate_series(1, 250) n")
	rare := Filter{Queue: "rare", Statuses: []Status{Completed}}
	s := Stretch{Look: 100}
	for _, want := range []struct {
		jobs         []int64
		next, newest int64
		looked       int
	}{{nil, 151, 250, 100}, {nil, 51, 150, 100}, {[]int64{5}, 0, 50, 50}} {
		found := must[Found](t)(q.Scan(t.Context(), rare, s))
		next := int64(0)
		if s.From = found.Next; s.From != nil {
			next = s.From.ID
		}
		if !slices.Equal(idsOf(t, found.Jobs), want.jobs) || next != want.next || found.Newest != want.newest || found.Looked != want.looked {
			t.Errorf("found %v, next %d, newest %d, looked at %d; want %+v", idsOf(t, found.Jobs), next, found.Newest, found.Looked, want)
		}
	}
	up := must[Found](t)(q.Scan(t.Context(), rare, Stretch{Look: 100, Up: true}))
	if !slices.Equal(idsOf(t, up.Jobs), []int64{5}) || up.Next == nil || up.Next.ID != 100 || up.Looked != 100 || up.Newest != 100 {
		t.Errorf("upwards: %+v", up)
	}
	end := must[Found](t)(q.Scan(t.Context(), rare, Stretch{From: &Cursor{ID: 250}, Up: true}))
	if len(end.Jobs) > 0 || end.Next != nil || end.Looked != 0 {
		t.Errorf("beyond the newest: %+v", end)
	}
}

// What lies below thousands of completed jobs is found at once where an index knows it.
func TestScanFindsTheUnfinishedWhereverTheyAre(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, "insert into leasetop.jobs (queue, status) select 'emails', case when n <= 3 then 'failed' when n <= 5 then 'pending' else 'completed' end from generate_series(1, 2000) n")
	for _, c := range []struct {
		filter Filter
		want   []int64
	}{
		{Filter{Statuses: []Status{Failed}}, []int64{3, 2, 1}},
		{Filter{Queue: "emails", Statuses: []Status{Failed, Pending}, Due: DueNow}, []int64{5, 4, 3, 2, 1}},
		{Filter{Queue: "emails", Statuses: []Status{Processing}}, []int64{}},
	} {
		found := must[Found](t)(q.Scan(t.Context(), c.filter, Stretch{Look: 10}))
		if !slices.Equal(idsOf(t, found.Jobs), c.want) || found.Next != nil || found.Looked != 0 {
			t.Errorf("%+v: %+v, want all of %v", c.filter, found, c.want)
		}
	}
}

// No node of a plan has more rows to do with than the scan may look at, however large
// the table and whatever is asked for.
func TestScanWorkIsBounded(t *testing.T) {
	t.Parallel()
	const look, limit, queues = 500, 20, 3
	tables := map[string]*Queue{"fresh": planTable(t), "stale": planTable(t)}
	exec(t, tables["fresh"], "vacuum analyze leasetop.jobs")
	whole := "'-9223372036854775808', '9223372036854775807'"
	const nothing, none = "null, false", `'$[7] like_regex "421" flag "iq"', false`
	for _, c := range []string{
		"scan|null, null, null, $4, 9223372036854775807",
		"scan|'nobody''s', null, null, $4, 9223372036854775807",
		"scan|'emails', '{completed}', null, $4, 1000000",
		"scan|null, '{dead}', null, $4, 200000",
		"scan|null, '{pending}', false, $4, 200000",
		"scan_up|null, '{dead}', null, $4, 0",
		"scan_up|'nobody''s', '{completed}', null, $4, 100000",
		"scan_indexed|null, '{pending}', null, $4, " + whole + ", false",
		"scan_indexed|null, '{pending}', false, $4, " + whole + ", false",
		"scan_indexed|'emails', '{pending}', true, $4, " + whole + ", true",
		"scan_indexed|null, '{processing}', null, $4, " + whole + ", false",
		"scan_indexed|null, '{failed}', null, $4, " + whole + ", false",
		"scan_indexed|'emails', '{failed}', null, $4, " + whole + ", true",
		"scan_indexed|'emails', '{pending,processing,failed,dead}', null, $4, " + whole + ", false",
	} {
		statement, args, _ := strings.Cut(c, "|")
		most := map[string]int{"scan": look, "scan_up": look, "scan_indexed": look + 1}[statement]
		for _, where := range []string{nothing, none} {
			args := fmt.Sprintf("%s, %d, %d", strings.Replace(args, "$4", where, 1), limit, most)
			for statistics, q := range tables {
				for _, n := range workOf(t, q, statement, args) {
					if rows := n.Rows * n.Loops; rows > float64(most+queues+limit+2) {
						t.Errorf("%s(%s), %s statistics: %s of %s has %v rows to do with", statement, args, statistics, n.Type, n.Index, rows)
					}
					if n.Filtered > float64(most) {
						t.Errorf("%s(%s), %s statistics: %s passes over %v rows", statement, args, statistics, n.Type, n.Filtered)
					}
				}
			}
		}
	}
}

// work is one node of a plan that was carried out.
type work struct {
	Type     string  `json:"Node Type"`
	Index    string  `json:"Index Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Filtered float64 `json:"Rows Removed by Filter"`
	Plans    []work
}

func workOf(t *testing.T, q *Queue, statement, args string) (all []work) {
	t.Helper()
	var text string
	ok(t, pgx.BeginFunc(t.Context(), q.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), q.schema.Query("depth_plan"), pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		if _, err := tx.Exec(t.Context(), "prepare worked as "+q.schema.Query(statement), pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		defer tx.Exec(t.Context(), "deallocate worked", pgx.QueryExecModeSimpleProtocol)
		return tx.QueryRow(t.Context(), "explain (analyze, format json) execute worked("+args+")", pgx.QueryExecModeSimpleProtocol).Scan(&text)
	}))
	var plans []struct{ Plan work }
	ok(t, json.Unmarshal([]byte(text), &plans))
	for left := []work{plans[0].Plan}; len(left) > 0; {
		n := left[0]
		left = append(left[1:], n.Plans...)
		all = append(all, n)
	}
	return all
}

func TestScanRefusesAnUnknownStatus(t *testing.T) {
	t.Parallel()
	q := open(t)
	if _, err := q.Scan(t.Context(), Filter{Statuses: []Status{"done"}}, Stretch{}); err == nil || !strings.Contains(err.Error(), `"done"`) {
		t.Errorf("error %v", err)
	}
}

func TestByIDLeavesOutWhatIsGone(t *testing.T) {
	t.Parallel()
	q := open(t)
	a, b := enqueue(t, q, NewJob{}), buried(t, q, NewJob{Queue: "images"})
	jobs := must[[]Job](t)(q.ByID(t.Context(), a, 4711, b, a))
	if !slices.Equal(idsOf(t, jobs), []int64{b, a}) || jobs[0].Status != Dead {
		t.Errorf("%+v", jobs)
	}
	if jobs = must[[]Job](t)(q.ByID(t.Context())); len(jobs) != 0 {
		t.Errorf("of no ids: %+v", jobs)
	}
}

func TestListTellsReadyFromScheduled(t *testing.T) {
	t.Parallel()
	q := open(t)
	ready, scheduled := enqueue(t, q, NewJob{}), enqueue(t, q, NewJob{Delay: time.Hour})
	dead := buried(t, q, NewJob{Queue: "images"})
	for due, want := range map[Due][]int64{DueOrNot: {dead, scheduled, ready}, DueNow: {dead, ready}, DueLater: {dead, scheduled}} {
		jobs, _, err := q.List(t.Context(), Filter{Due: due}, Page{})
		if err != nil || !slices.Equal(idsOf(t, jobs), want) {
			t.Errorf("%v: %v, %v, want %v", due, idsOf(t, jobs), err, want)
		}
	}
}
