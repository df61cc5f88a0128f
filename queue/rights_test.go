package queue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// openAs returns the queue as a role of its own sees it, with nothing but these grants.
func openAs(t *testing.T, owner *Queue, grants ...string) *Queue {
	t.Helper()
	role := fmt.Sprintf("leasetop_test_%08x", rand.Uint32())
	exec(t, owner, "create role "+role)
	t.Cleanup(func() {
		// The owner's pool is closed later, the database dropped last.
		for _, sql := range []string{"drop owned by " + role, "drop role " + role} {
			if _, err := owner.Pool().Exec(context.Background(), sql); err != nil {
				t.Error(err)
			}
		}
	})
	for _, grant := range grants {
		exec(t, owner, "grant "+grant+" to "+role)
	}
	q := must[*Queue](t)(Open(t.Context(), owner.Pool().Config().ConnString()+"&role="+role, Options{MaxConns: 2}))
	t.Cleanup(q.Close)
	return q
}

// grants are those that the README gives for these purposes.
func grants(t *testing.T, purposes ...string) (wanted []string) {
	t.Helper()
	readme := string(must[[]byte](t)(os.ReadFile("../README.md")))
	for _, purpose := range purposes {
		lines := regexp.MustCompile(`(?m)^GRANT (.+) TO app; +-- `+purpose+`\b`).FindAllStringSubmatch(readme, -1)
		if len(lines) == 0 {
			t.Fatalf("the README has no GRANT to %s", purpose)
		}
		for _, line := range lines {
			wanted = append(wanted, line[1])
		}
	}
	return wanted
}

// The rights that the README gives for each purpose are enough for all of it, and
// those for looking let nothing be changed.
func TestRightsOfTheREADME(t *testing.T) {
	t.Parallel()
	look := []string{"ping", "migrate", "next due", "next expiry", "expiry to come", "pauses", "archive", "archived by act", "archived ids", "archived payloads", "depth", "list", "list dead", "list filtered", "dead letters", "dead groups", "matching", "matching dead", "by id", "scan", "scan indexed", "scan filtered", "leases", "get", "payloads", "originals", "key holder", "why waiting", "acts", "vitals", "plan", "plans", "plan jobs"}
	enqueue := []string{"enqueue", "enqueue one", "enqueue many", "enqueue tx"}
	work := []string{"claim", "heartbeat", "lost", "complete", "complete tx", "retry", "bury", "release", "snooze", "reclaim", "once", "take chore", "purge completed"}
	for purpose, c := range map[string]struct{ purposes, operations []string }{
		"look":    {[]string{"look"}, look},
		"enqueue": {[]string{"look", "enqueue"}, slices.Concat(look, enqueue)},
		"work":    {[]string{"look", "work"}, slices.Concat(look, work)},
		"operate": {[]string{"look", "enqueue", "work", "operate"}, slices.Collect(maps.Keys(every(nil, Lease{}, 0)))},
	} {
		t.Run(purpose, func(t *testing.T) {
			t.Parallel()
			owner := open(t)
			lease, dead := claimed(t, owner, NewJob{}, time.Minute), buried(t, owner, NewJob{})
			q := openAs(t, owner, grants(t, c.purposes...)...)
			before := rowOf(t, owner, lease.ID)
			for operation, do := range every(q, lease, dead) {
				err := do(t.Context())
				if allowed := slices.Contains(c.operations, operation); allowed && err != nil {
					t.Errorf("%s: %v", operation, err)
				} else if !allowed && purpose == "look" && (!errors.Is(err, ErrForbidden) || rowOf(t, owner, lease.ID) != before) {
					t.Errorf("%s: %v", operation, err)
				}
			}
		})
	}
}

// CASES "Table names and roles": row-level security. A role works on the rows that it
// may see, whatever way they come in, and is told of the policy when it may not.
func TestRightsUnderRowLevelSecurity(t *testing.T) {
	t.Parallel()
	owner := open(t)
	q := openAs(t, owner, grants(t, "look", "enqueue", "work", "operate")...)
	exec(t, owner, "alter table leasetop.jobs enable row level security")
	exec(t, owner, "create policy ours on leasetop.jobs using (queue = 'emails')")
	theirs := enqueue(t, owner, NewJob{Queue: "reports"})

	id := enqueue(t, q, NewJob{})
	many := must[[]Enqueued](t)(q.EnqueueMany(t.Context(), []NewJob{{Queue: "emails", Delay: time.Hour}, {Queue: "emails", RunAt: Time{Infinity: -1}, Payload: []byte(`{"n": 1}`)}}))
	if job := get(t, q, many[1].ID); !job.RunAt.Always() || string(job.Payload) != `{"n": 1}` {
		t.Errorf("brought in %+v", job)
	}
	if job := get(t, q, many[0].ID); job.RunAt.Sub(job.CreatedAt) != time.Hour {
		t.Errorf("brought in %+v", job)
	}
	for range 2 {
		ok(t, q.Complete(t.Context(), claim(t, q, time.Minute).Lease()))
	}
	if d := must[Depths](t)(q.Depth(t.Context(), 0)); len(d.Queues) != 1 || d.Queues[0].Completed != 2 || get(t, q, id).Status != Completed {
		t.Errorf("%+v", d)
	}
	if jobs := take(t, q, "reports", 10); len(jobs) != 0 || get(t, owner, theirs).Status != Pending {
		t.Errorf("claimed %v", jobs)
	}
	if _, err := q.Get(t.Context(), theirs); !errors.Is(err, ErrNotFound) {
		t.Errorf("it sees another's job: %v", err)
	}
	_, one := q.Enqueue(t.Context(), NewJob{Queue: "reports"})
	_, bulk := q.EnqueueMany(t.Context(), []NewJob{{Queue: "reports"}})
	for _, err := range []error{one, bulk} {
		if !errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), `for table "jobs": row-level security is on, so a policy of the table must let role leasetop_test_`) {
			t.Errorf("error %v", err)
		}
	}
}

// CASES "Table names and roles": whatever the search_path is, and whatever else goes
// by our names, or PostgreSQL's, elsewhere.
func TestNamesakesAndSearchPaths(t *testing.T) {
	t.Parallel()
	owner := open(t)
	exec(t, owner, `create schema evil;
		create table evil.jobs (id text); create table evil.queues (id text); create table evil.once (id text);
		create type evil.status as enum ('x'); create domain evil.payload as text; create type evil.text as (a int); create type evil.jsonb as (a int);
		create function evil.now() returns timestamptz language sql as $$ select timestamptz 'epoch' $$;
		create function evil.fingerprint(text) returns text language sql as $$ select text 'evil' $$;
		create function evil.with_attempt(jsonb, int, text, text, text) returns jsonb language sql as $$ select jsonb '[]' $$;
		create function evil.pg_notify(text, text) returns int language sql as $$ select 1/0 $$`, pgx.QueryExecModeSimpleProtocol)
	for name, path := range map[string]string{"theirs first": "evil,public", "theirs alone": "evil", "ours first": "leasetop,evil", "none": `""`, "a missing one": "nowhere"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := must[*Queue](t)(Open(t.Context(), owner.Pool().Config().ConnString()+"&search_path="+url.QueryEscape(path), Options{MaxConns: 3}))
			t.Cleanup(q.Close)
			queue := "q " + name
			ears := listen(t, q, q.Schema().ReadyChannel())
			ids := must[[]Enqueued](t)(q.EnqueueMany(t.Context(), []NewJob{{Queue: queue, IdempotencyKey: "k"}, {Queue: queue}}))
			lease := claimFrom(t, q, queue, time.Minute).Lease()
			must[Status](t)(q.Retry(t.Context(), lease, "timeout after 30 s", time.Hour))
			if job := get(t, q, lease.ID); job.Fingerprint != "timeout after ‹n› s" || len(job.Errors) != 1 || job.Errors[0].Worker != lease.Token || job.Status != Pending {
				t.Errorf("%+v", job)
			}
			if again := must[[]Enqueued](t)(q.Enqueue(t.Context(), NewJob{Queue: queue, IdempotencyKey: "k"})); !again[0].Existing || again[0].ID != ids[0].ID {
				t.Errorf("%+v", again)
			}
			exec(t, q, "insert into leasetop.jobs (queue) values ($1)", queue)
			for range 2 {
				ok(t, q.Complete(t.Context(), claimFrom(t, q, queue, time.Minute).Lease()))
			}
			if d := must[Depths](t)(q.Depth(t.Context(), 0)); !slices.ContainsFunc(d.Queues, func(d QueueDepth) bool { return d.Queue == queue && d.Completed == 2 && d.Scheduled == 1 }) {
				t.Errorf("%+v", d)
			}
			ok(t, q.Migrate(t.Context()))
			n, err := ears.conn.WaitForNotification(t.Context())
			ok(t, err)
			if n.Channel != q.Schema().ReadyChannel() {
				t.Errorf("%+v", n)
			}
		})
	}
}

// The schema belongs to a role that is no superuser and owns nothing else.
func TestSchemaOfAnotherOwner(t *testing.T) {
	t.Parallel()
	owner := open(t)
	exec(t, owner, "drop schema leasetop cascade")
	q := openAs(t, owner)
	exec(t, owner, "create schema leasetop authorization "+q.role())
	ok(t, q.Migrate(t.Context())) // it may create no publication, and needs none to work
	worker := openAs(t, owner, grants(t, "look", "enqueue", "work")...)
	enqueue(t, worker, NewJob{})
	ok(t, worker.Complete(t.Context(), claim(t, worker, time.Minute).Lease()))
	must[Depths](t)(owner.Depth(t.Context(), 0))
	exec(t, owner, "drop schema leasetop cascade") // before its owner
}
