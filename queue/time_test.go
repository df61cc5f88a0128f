package queue

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// CASES "run_at infinity, -infinity, year 294276, BC": by every way into the table, read
// back the same by every way out; and whoever stands beside them is due when it was.
func TestStrangeTimesByEveryWay(t *testing.T) {
	t.Parallel()
	q := open(t)
	strange := []Time{
		{Infinity: -1},
		At(earliest),
		At(time.Date(-43, 3, 15, 12, 0, 0, 0, time.UTC)), // 44 BC
		At(time.Unix(0, 0)),
		At(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)),
		At(tooLate.Add(-time.Microsecond)),
		{Infinity: 1},
	}
	ways := map[string]func(...NewJob) ([]Enqueued, error){
		"insert": func(jobs ...NewJob) ([]Enqueued, error) { return q.Enqueue(t.Context(), jobs...) },
		"copy":   func(jobs ...NewJob) ([]Enqueued, error) { return q.EnqueueMany(t.Context(), jobs) },
		"transaction": func(jobs ...NewJob) (out []Enqueued, err error) {
			err = pgx.BeginFunc(t.Context(), q.Pool(), func(tx pgx.Tx) error { out, err = q.EnqueueTx(t.Context(), tx, jobs...); return err })
			return out, err
		},
	}
	for way, enqueue := range ways {
		jobs := []NewJob{{Queue: way, Kind: "now"}, {Queue: way, Kind: "in an hour", Delay: time.Hour}}
		for i, at := range strange {
			jobs = append(jobs, NewJob{Queue: way, Kind: fmt.Sprint(i), RunAt: at, MaxAttempts: 1})
		}
		out := must[[]Enqueued](t)(enqueue(jobs...))
		same := func(where string, i int, got Time) {
			t.Helper()
			if inUTC(got) != inUTC(strange[i]) {
				t.Errorf("%s: %s became %s in %s", way, inUTC(strange[i]), inUTC(got), where)
			}
		}
		for i := range strange {
			same("get", i, get(t, q, out[i+2].ID).RunAt)
		}
		listed, _, err := q.List(t.Context(), Filter{Queue: way}, Page{})
		ok(t, err)
		slices.Reverse(listed)
		for i := range strange {
			same("list", i, listed[i+2].RunAt)
		}
		if in := listed[1].RunAt.Sub(listed[0].RunAt.Time); in != time.Hour {
			t.Errorf("%s: the delay of an hour is %v", way, in)
		}

		d := must[Depths](t)(q.Depth(t.Context(), 0)).Queues
		i := slices.IndexFunc(d, func(d QueueDepth) bool { return d.Queue == way })
		if d[i].Ready != 5 || d[i].Scheduled != 4 || d[i].OldestReady <= 0 {
			t.Errorf("%s: %+v", way, d[i])
		}
		if in, found, err := q.NextDue(t.Context(), []string{way}); err != nil || !found || in > 0 {
			t.Errorf("%s: next due in %v, %v, %v", way, in, found, err)
		}
		var kinds []string
		for range 6 {
			for _, job := range take(t, q, way, 1) {
				kinds = append(kinds, job.Kind)
				must[Status](t)(q.Retry(t.Context(), job.Lease(), "503", time.Hour))
			}
			q.Forget(way)
		}
		if want := []string{"0", "1", "2", "3", "now"}; !slices.Equal(kinds, want) {
			t.Errorf("%s: claimed %q, want %q", way, kinds, want)
		}
		if in, found, err := q.NextDue(t.Context(), []string{way}); err != nil || !found || in <= 0 || in > time.Hour {
			t.Errorf("%s: next due in %v, %v, %v", way, in, found, err)
		}
		// As dead letters, discarded and restored.
		for i := range 4 {
			id := out[i+2].ID
			if done := must[Done](t)(q.Discard(t.Context(), "ann", "", id)); len(done.IDs) != 1 {
				t.Errorf("%s: %+v", way, done)
			}
			same("archive", i, must[*Archived](t)(q.GetArchived(t.Context(), id)).RunAt)
			must[Done](t)(q.Restore(t.Context(), "ann", id))
			same("restored", i, get(t, q, id).RunAt)
		}
	}
	must[[]Archived](t)(q.Archive(t.Context(), "", 0, 100))
}

func TestTimeReadsAsPostgreSQLPrintsIt(t *testing.T) {
	t.Parallel()
	for want, at := range map[string]Time{
		`"infinity"`:                      {Infinity: 1},
		`"-infinity"`:                     {Infinity: -1},
		`"294276-12-31T23:59:59.999999Z"`: At(tooLate.Add(-time.Microsecond)),
		`"2026-03-29T00:30:00Z"`:          At(time.Date(2026, 3, 29, 2, 30, 0, 0, time.FixedZone("", 7200))),
	} {
		if got, err := json.Marshal(at); err != nil || string(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}

// A delay is so many seconds, not so many days of a calendar: where the clocks change
// meanwhile, a day of it is 24 hours all the same, whatever zone the session is in.
func TestDelaysDoNotFollowACalendar(t *testing.T) {
	t.Parallel()
	jobs := make([]NewJob, 400) // there is every change of a year among them
	for day := range jobs {
		jobs[day] = NewJob{Queue: "emails", Kind: fmt.Sprint(day), Delay: time.Duration(day) * 24 * time.Hour}
	}
	for _, zone := range []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca"} {
		q := openWith(t, 2, "timezone = ''"+zone+"''")
		must[[]Enqueued](t)(q.Enqueue(t.Context(), jobs...))
		must[[]Enqueued](t)(q.EnqueueMany(t.Context(), jobs))
		if n := count(t, q, "select count(*) from leasetop.jobs where extract(epoch from run_at) - extract(epoch from created_at) = kind::int * 86400"); n != 800 {
			t.Errorf("%s: %d of 800 jobs are due so many times 24 hours from their creation", zone, n)
		}
		var got string
		if ok(t, q.pool.QueryRow(t.Context(), "show timezone").Scan(&got)); got != zone {
			t.Errorf("the zone is %s, not %s", got, zone)
		}
	}
}
