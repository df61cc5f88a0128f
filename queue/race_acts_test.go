package queue

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// act is a statement of the product on one job, with the arguments that an operator or
// a worker would give it.
type act struct {
	name      string
	statement string
	args      func(queue string, lease Lease) []any
	counts    bool // its one row's last column says how many rows it was done to
}

var (
	cancelAlone = act{"cancel", "cancel", func(_ string, l Lease) []any { return []any{[]int64{l.ID}, "ann", true} }, false}
	cancelBatch = act{"cancel", "cancel", func(_ string, l Lease) []any { return []any{[]int64{l.ID}, "ann", false} }, false}
	cancelToo   = act{"bob's cancel", "cancel", func(_ string, l Lease) []any { return []any{[]int64{l.ID}, "bob", true} }, false}
	discards    = act{"discard", "discard", func(_ string, l Lease) []any { return []any{[]int64{l.ID}, "ann", "", nil} }, false}
	discardsToo = act{"bob's discard", "discard", func(_ string, l Lease) []any { return []any{[]int64{l.ID}, "bob", "", nil} }, false}
	restores    = act{"restore", "restore", func(_ string, l Lease) []any { return []any{[]int64{l.ID}, "ann"} }, false}
	restoresToo = act{"bob's restore", "restore", func(_ string, l Lease) []any { return []any{[]int64{l.ID}, "bob"} }, false}
	redrives    = act{"redrive", "redrive", func(_ string, l Lease) []any { return []any{[]int64{l.ID}, "ann", true} }, false}
	edits       = act{"edit", "edit", func(_ string, l Lease) []any { return []any{l.ID, "{}", `{"by": "ann"}`, "ann", ""} }, false}
	editsToo    = act{"bob's edit", "edit", func(_ string, l Lease) []any { return []any{l.ID, "{}", `{"by": "bob"}`, "bob", ""} }, false}
	hurries     = act{"run now", "run_now", func(_ string, l Lease) []any { return []any{[]int64{l.ID}, "ann"} }, false}
	hurriesToo  = act{"bob's run now", "run_now", func(_ string, l Lease) []any { return []any{[]int64{l.ID}, "bob"} }, false}
	takesBack   = act{"take back", "take_back", func(_ string, l Lease) []any { return []any{l.ID, l.Token, "ann"} }, false}
	purges      = act{"purge", "purge_completed", func(string, Lease) []any { return []any{"0", 0.0, nil, 100} }, true}
	purgesArch  = act{"purge", "purge_archive", func(string, Lease) []any { return []any{"0", 0.0, nil, 100} }, true}
	takes       = act{"claim", "claim", func(queue string, _ Lease) []any {
		return []any{queue, owner(), 60.0, 1, start.runAt, start.id, none}
	}, false}
	completes = act{"complete", "complete", func(_ string, l Lease) []any { return []any{[]int64{l.ID}, []string{l.Token}} }, false}
	retries   = act{"retry", "retry", func(_ string, l Lease) []any { return []any{l.ID, l.Token, "503", 60.0} }, false}
	buries    = act{"bury", "bury", func(_ string, l Lease) []any { return []any{l.ID, l.Token, "bad"} }, false}
	releases  = act{"release", "release", func(_ string, l Lease) []any { return []any{l.ID, l.Token, 0.0} }, false}
	beats     = act{"beat", "heartbeat", func(_ string, l Lease) []any {
		return []any{[]int64{l.ID}, []string{l.Token}, []float64{60}, []float64{0}}
	}, false}
	reclaims   = act{"reclaim", "reclaim", func(string, Lease) []any { return []any{10, nil, none, nil} }, false}
	pauses     = act{"pause", "pause", func(queue string, _ Lease) []any { return []any{[]string{queue}, "ann", ""} }, false}
	pausesToo  = act{"bob's pause", "pause", func(queue string, _ Lease) []any { return []any{[]string{queue}, "bob", ""} }, false}
	resumes    = act{"resume", "resume", func(queue string, _ Lease) []any { return []any{[]string{queue}} }, false}
	resumesToo = act{"bob's resume", "resume", func(queue string, _ Lease) []any { return []any{[]string{queue}} }, false}
)

// session is the act in a transaction of its own; n becomes to how many rows it was done.
func (a act) session(q *Queue, queue string, lease Lease, n *int64) []step {
	return []step{run(a.name+" begins", "begin"), {a.name, func(c *pgx.Conn) error {
		sql, args := q.Schema().Query(a.statement), a.args(queue, lease)
		if a.counts {
			return c.QueryRow(context.Background(), sql, args...).Scan(nil, n, nil, nil)
		}
		tag, err := c.Exec(context.Background(), sql, args...)
		*n = tag.RowsAffected()
		return err
	}}, run(a.name+" commits", "commit")}
}

// Two who act on one job, in every order of their steps. Each line of then is how it
// may end: to how many rows each act was done, where the job is, and its history. No
// other end may be seen, and each of these must be.
func TestActsInEveryOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		situation string
		a, b      act
		then      string
	}{
		{"mine", cancelAlone, completes, `
			1 1: completed, asked by ann
			0 1: completed`},
		{"mine", cancelAlone, retries, `
			1 1: dead, asked by ann; cancelled
			1 1: dead, asked by ann; retry cancelled`},
		{"mine", cancelAlone, releases, `
			1 1: dead, asked by ann; cancelled`},
		{"mine", cancelAlone, buries, `
			1 1: dead, asked by ann; cancelled
			0 1: dead; buried`},
		{"mine", cancelAlone, beats, `
			1 1: processing, asked by ann
			1 0: processing, asked by ann`},
		{"mine", cancelBatch, completes, `
			0 1: completed`},
		{"mine", cancelAlone, cancelToo, `
			1 1: processing, asked by ann
			1 1: processing, asked by bob`},
		{"expired", cancelAlone, reclaims, `
			1 1: dead, asked by ann; lost
			1 1: dead, asked by ann; lost cancelled
			1 0: processing, asked by ann`},
		{"fresh", cancelBatch, takes, `
			1 0: dead, asked by ann; cancelled
			0 1: processing`},
		{"fresh", cancelAlone, takes, `
			1 0: dead, asked by ann; cancelled
			1 1: processing, asked by ann`},
		{"fresh", cancelAlone, cancelToo, `
			1 0: dead, asked by ann; cancelled
			0 1: dead, asked by bob; cancelled`},
		{"dead", cancelAlone, redrives, `
			0 1: pending; buried redriven
			1 1: dead, asked by ann; buried redriven cancelled`},
		{"dead", discards, redrives, `
			1 0: archived; buried
			0 1: pending; buried redriven`},
		{"dead", discards, discardsToo, `
			1 0: archived; buried
			0 1: archived; buried`},
		{"mine", discards, buries, `
			0 1: dead; buried
			1 1: archived; buried`},
		{"mine", redrives, buries, `
			0 1: dead; buried
			1 1: pending; buried redriven`},
		{"archived", restores, discards, `
			1 0: dead; buried restored
			1 1: archived; buried restored`},
		{"archived", restores, redrives, `
			1 0: dead; buried restored
			1 1: pending; buried restored redriven`},
		{"archived", restores, restoresToo, `
			1 0: dead; buried restored
			0 1: dead; buried restored`},
		{"archived", restores, purgesArch, `
			1 0: dead; buried restored
			0 1: gone`},
		{"dead", edits, editsToo, `
			1 0: dead; buried edited
			0 1: dead; buried edited`},
		{"dead", edits, redrives, `
			1 1: pending; buried edited redriven
			1 1: pending; buried redriven edited`},
		{"dead", edits, discards, `
			1 1: archived; buried edited
			0 1: archived; buried`},
		{"fresh", edits, takes, `
			1 0: pending; edited
			1 1: processing; edited
			0 1: processing`},
		{"mine", edits, buries, `
			0 1: dead; buried
			1 1: dead; buried edited`},
		{"scheduled", hurries, hurriesToo, `
			1 0: pending; retry run now
			0 1: pending; retry run now`},
		{"scheduled", hurries, takes, `
			1 0: pending; retry run now
			1 1: processing; retry run now`},
		{"mine", takesBack, completes, `
			1 0: pending; taken back
			0 1: completed`},
		{"mine", takesBack, beats, `
			1 1: pending; taken back
			1 0: pending; taken back`},
		{"mine", takesBack, cancelAlone, `
			1 1: dead, asked by ann; taken back cancelled
			1 1: dead, asked by ann; cancelled`},
		{"dead", discards, purgesArch, `
			1 0: archived; buried
			1 1: gone`},
		{"dead", purges, redrives, `
			0 1: pending; buried redriven`},
		{"mine", purges, completes, `
			0 1: completed
			1 1: gone`},
		{"completed", purges, cancelAlone, `
			1 0: gone`},
		{"fresh", pauses, takes, `
			1 0: pending, paused by ann
			1 1: processing, paused by ann`},
		{"fresh", pauses, pausesToo, `
			1 0: pending, paused by ann
			0 1: pending, paused by bob`},
		{"fresh", resumes, takes, `
			1 0: pending
			1 1: processing`},
		{"fresh", resumes, pausesToo, `
			1 0: pending
			1 1: pending, paused by bob`},
		{"fresh", resumes, resumesToo, `
			1 0: pending
			0 1: pending`},
	} {
		t.Run(fmt.Sprintf("%s: %s and %s", c.situation, c.a.name, c.b.name), func(t *testing.T) {
			t.Parallel()
			q := openWith(t, 4, "deadlock_timeout = 20")
			sessions := twoSessions(t, q)
			ends := map[string]string{}
			for _, order := range orders(3, 3) {
				exec(t, q, "truncate leasetop.jobs, leasetop.jobs_archive, leasetop.queues")
				var lease Lease
				if c.situation == "fresh" {
					lease.ID = enqueue(t, q, NewJob{})
				} else {
					lease = situations[c.situation](t, q, NewJob{Queue: "emails"})
				}
				if c.a.statement == "resume" {
					pause(t, q, "emails")
				}
				var a, b int64
				story := interleave(t, q, sessions, order, c.a.session(q, "emails", lease, &a), c.b.session(q, "emails", lease, &b))
				end := fmt.Sprintf("%d %d: %s", a, b, fate(t, q, lease.ID))
				ends[end] = story
				if paused := c.a.statement == "pause" && c.b.statement == "claim"; paused && b == 1 && strings.Index(story, "pause commits") < strings.Index(story, "claim,") {
					t.Errorf("%s: claimed after the pause was committed", story)
				}
			}
			var want []string
			for line := range strings.Lines(strings.TrimSpace(c.then)) {
				want = append(want, strings.TrimSpace(line))
			}
			for end, story := range ends {
				if !slices.Contains(want, end) {
					t.Errorf("%s\n%s", end, story)
				}
			}
			for _, end := range want {
				if ends[end] == "" {
					t.Errorf("no order ends with %s", end)
				}
			}
		})
	}
}

// fate says what became of a job, and whether its queue is paused.
func fate(t testing.TB, q *Queue, id int64) string {
	t.Helper()
	var status, by, history string
	ok(t, q.pool.QueryRow(t.Context(), `select coalesce(max(status), 'gone'), coalesce(max(', asked by ' || cancelled_by), ''),
			coalesce('; ' || max((select string_agg(a ->> 'outcome', ' ') from jsonb_array_elements(errors) a)), '')
		from (select status, cancelled_by, errors from leasetop.jobs where id = $1
			union all select 'archived', cancelled_by, errors from leasetop.jobs_archive where id = $1) as places having count(*) < 2`, id).Scan(&status, &by, &history))
	for _, p := range must[[]Pause](t)(q.Pauses(t.Context())) {
		by += ", paused by " + p.By
	}
	return status + by + history
}
