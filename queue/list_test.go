package queue

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

// strangeTimes are what run_at may hold besides ordinary times, and how they read.
var strangeTimes = map[string]string{
	"infinity":                              "infinity",
	"-infinity":                             "-infinity",
	"294276-12-31 23:59:59.999999+00":       "294276-12-31T23:59:59.999999Z",
	"10000-01-01 00:00:00+00":               "10000-01-01T00:00:00Z",
	"4714-11-24 00:00:00+00 BC":             "-4713-11-24T00:00:00Z",
	"0044-03-15 12:00:00+00 BC":             "-0043-03-15T12:00:00Z", // as Go prints the year -43
	"1970-01-01 00:00:00+00":                "1970-01-01T00:00:00Z",
	"2026-10-25 02:30:00.000001 Asia/Tokyo": "2026-10-24T17:30:00.000001Z",
}

// CASES "run_at infinity, -infinity, year 294276, BC": never and always, and the
// others are unaffected, whatever the role's settings of how times are printed.
func TestStrangeTimesHarmNobody(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{"", "?datestyle=German,DMY&timezone=Africa/Monrovia&intervalstyle=sql_standard"} {
		url := testdb.New(t)
		if strings.Contains(url, "?") {
			settings = strings.Replace(settings, "?", "&", 1)
		}
		q := must[*Queue](t)(Open(t.Context(), url+settings, Options{MaxConns: 4}))
		t.Cleanup(q.Close)
		for text := range strangeTimes {
			exec(t, q, "insert into leasetop.jobs (queue, kind, run_at, max_attempts) values ('emails', $1, $2::text::timestamptz, 1)", text, text)
		}
		enqueue(t, q, NewJob{Kind: "plain", MaxAttempts: 1})

		listed, _, err := q.List(t.Context(), Filter{}, Page{})
		if err != nil || len(listed) != len(strangeTimes)+1 {
			t.Fatalf("listed %d: %v", len(listed), err)
		}
		for _, job := range listed {
			if job.Kind != "plain" && inUTC(job.RunAt) != strangeTimes[job.Kind] {
				t.Errorf("%s is listed as %s", job.Kind, inUTC(job.RunAt))
			}
			if shown := get(t, q, job.ID).RunAt; inUTC(shown) != inUTC(job.RunAt) {
				t.Errorf("%s is shown as %s", job.Kind, shown)
			}
			must[[]byte](t)(job.RunAt.MarshalJSON())
		}
		if in, found, err := q.NextDue(t.Context(), []string{"emails"}); err != nil || !found || in > 0 {
			t.Errorf("next due in %v, %v, %v, while one is always due", in, found, err)
		}
		depth := must[Depths](t)(q.Depth(t.Context(), 0)).Queues[0]
		if depth.Ready != 5 && depth.Ready != 6 || depth.Scheduled != int64(len(listed))-depth.Ready || depth.OldestReady <= 0 {
			t.Errorf("depth %+v", depth)
		}

		due := must[[]Job](t)(q.Claim(t.Context(), ClaimRequest{Queue: "emails", Owner: owner(), Lease: time.Minute, Limit: 100}))
		if int64(len(due)) != depth.Ready || due[0].Kind != "-infinity" {
			t.Fatalf("claimed %d jobs, first %q; %d were ready", len(due), due[0].Kind, depth.Ready)
		}
		if !slices.IsSortedFunc(due, func(a, b Job) int { return compareTimes(a.RunAt, b.RunAt) }) {
			t.Error("claimed jobs are not sorted")
		}
		if leases := must[[]Job](t)(q.Leases(t.Context(), 100)); len(leases) != len(due) {
			t.Errorf("%d leases", len(leases))
		}
		for _, job := range due {
			must[Status](t)(q.Retry(t.Context(), job.Lease(), "no", 0))
		}
		dead, _, err := q.List(t.Context(), Filter{Statuses: DeadLetters}, Page{})
		if err != nil || len(dead) != len(due) {
			t.Errorf("%d dead letters: %v", len(dead), err)
		}
		if in, found, err := q.NextDue(t.Context(), []string{"emails"}); err != nil || !found || in < 24*time.Hour {
			t.Errorf("next due in %v, %v, %v", in, found, err)
		}
		exec(t, q, "delete from leasetop.jobs where run_at < 'infinity'")
		if in, found, err := q.NextDue(t.Context(), []string{"emails"}); err != nil || found {
			t.Errorf("the job that never comes is due in %v, %v", in, err)
		}
	}
}

func inUTC(t Time) string {
	t.Time = t.UTC()
	return t.String()
}

func TestStrangeTimesCanBeEnqueued(t *testing.T) {
	t.Parallel()
	q := open(t)
	for _, runAt := range []Time{
		{Infinity: 1},
		{Infinity: -1},
		At(time.Date(294276, 12, 31, 23, 59, 59, 999999000, time.UTC)),
		At(time.Date(-4712, 1, 1, 0, 0, 0, 0, time.UTC)),
		At(time.Date(-43, 3, 15, 0, 0, 0, 0, time.UTC)),
	} {
		if got := get(t, q, enqueue(t, q, NewJob{RunAt: runAt})).RunAt; inUTC(got) != inUTC(runAt) {
			t.Errorf("%v became %v", runAt, got)
		}
	}
}

func TestListPagesNeitherRepeatNorSkip(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, `insert into leasetop.jobs (queue, status, last_error) select (array['a','b','c'])[1 + n % 3],
		(array['dead','failed','pending','completed'])[1 + n / 3 % 4], 'x' from generate_series(0, 119) n`)
	for name, filter := range map[string]Filter{
		"all": {}, "a queue": {Queue: "b"}, "a status": {Statuses: []Status{Completed}}, "two statuses": {Statuses: []Status{Dead, Pending}},
		"dead letters": {Statuses: DeadLetters}, "dead letters of a queue": {Queue: "c", Statuses: []Status{Dead, Failed}},
	} {
		whole, next, err := q.List(t.Context(), filter, Page{Limit: 1000})
		if err != nil || next != nil || len(whole) == 0 {
			t.Fatalf("%s: %d jobs, next %v, %v", name, len(whole), next, err)
		}
		var paged []Job
		var after *Cursor
		for page := 0; page == 0 || after != nil; page++ {
			jobs, next, err := q.List(t.Context(), filter, Page{Limit: 7, After: after})
			ok(t, err)
			// The row that the cursor names goes away, and newer ones come.
			if page == 1 {
				exec(t, q, "delete from leasetop.jobs where id = $1", after.ID)
			}
			exec(t, q, "insert into leasetop.jobs (queue, status, last_error) select unnest(array['a','b','c']), unnest(array['dead','pending','completed']), 'x'")
			paged, after = append(paged, jobs...), next
		}
		if same := slices.EqualFunc(whole, paged, func(a, b Job) bool { return a.ID == b.ID }); !same {
			t.Errorf("%s: %d jobs in pages, %d at once", name, len(paged), len(whole))
		}
		for _, job := range whole {
			if job.Payload != nil || job.Errors != nil {
				t.Errorf("%s loads payloads or histories", name)
			}
			if filter.Queue != "" && job.Queue != filter.Queue || filter.Statuses != nil && !slices.Contains(filter.Statuses, job.Status) {
				t.Errorf("%s: lists %s job of %s", name, job.Status, job.Queue)
			}
		}
	}
}

func TestDeadLettersAreListedByDeath(t *testing.T) {
	t.Parallel()
	q := open(t)
	var leases []Lease
	for n := range 6 {
		leases = append(leases, claimed(t, q, NewJob{Queue: fmt.Sprint("q", n%2)}, time.Minute))
	}
	var want []int64
	for _, n := range []int{3, 0, 5, 1, 4, 2} {
		ok(t, q.Bury(t.Context(), leases[n], "poison"))
		want = append([]int64{leases[n].ID}, want...)
	}
	jobs, _, err := q.List(t.Context(), Filter{Statuses: DeadLetters}, Page{})
	ok(t, err)
	for i, job := range jobs {
		if job.ID != want[i] {
			t.Fatalf("place %d is job %d, want %v", i, job.ID, want)
		}
	}
	slices.Reverse(want)
	if ids := deadIDs(t, q, ""); !slices.Equal(ids, want) {
		t.Errorf("oldest death first: %v, want %v", ids, want)
	}
	if ids := deadIDs(t, q, "q0"); len(ids) != 3 {
		t.Errorf("of one queue: %v", ids)
	}
}

func TestListRefusesAnUnknownStatus(t *testing.T) {
	t.Parallel()
	q := open(t)
	if _, _, err := q.List(t.Context(), Filter{Statuses: []Status{"done"}}, Page{}); err == nil || !strings.Contains(err.Error(), `"done"`) {
		t.Errorf("error %v", err)
	}
}

func TestPreviewCutsThePayload(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := enqueue(t, q, NewJob{Payload: []byte(`"` + strings.Repeat("é", 5000) + `"`)})
	job, length, err := q.Preview(t.Context(), id, 100)
	if err != nil || length != 5002 || string(job.Payload) != `"`+strings.Repeat("é", 99) {
		t.Errorf("%d characters of %d, %v", len([]rune(string(job.Payload))), length, err)
	}
	if _, err := q.Get(t.Context(), 4711); !errors.Is(err, ErrNotFound) {
		t.Errorf("no such job: %v", err)
	}
}

// Any writer may have put there what it likes; the job must still be shown.
func TestStrangeHistoriesAreShown(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := enqueue(t, q, NewJob{MaxAttempts: 100})
	for _, errs := range []string{`[]`, `[1, "x", null, {"attempt": "one"}, {"at": "yesterday"}, [], {"attempt": 1e400}]`, `[{"error": {"a": 1}}]`} {
		exec(t, q, "update leasetop.jobs set errors = $2::jsonb where id = $1", id, errs)
		if job := get(t, q, id); strings.Count(errs, ",") > 0 && len(job.Errors) == 0 {
			t.Errorf("of %s nothing is shown", errs)
		}
		// Nor does it stop what adds to it.
		must[Status](t)(q.Retry(t.Context(), claim(t, q, time.Minute).Lease(), "x", 0))
		claim(t, q, time.Minute)
		expire(t, q, id)
		if taken := must[[]Reclaimed](t)(q.Reclaim(t.Context(), 1)); len(taken) != 1 || taken[0].Status != Pending {
			t.Errorf("with %s, reclaimed %+v", errs, taken)
		}
	}
}
