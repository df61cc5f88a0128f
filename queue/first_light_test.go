package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	leasesql "github.com/leasetop/leasetop/sql"
)

// firstLight is a program of the first release: its statements, as they were, and
// what it made of their rows.
type firstLight struct {
	conn *pgx.Conn
	text map[string]string
}

func openFirstLight(t *testing.T, q *Queue) *firstLight {
	t.Helper()
	f := &firstLight{must[*pgx.Conn](t)(pgx.ConnectConfig(t.Context(), q.ConnConfig())), map[string]string{}}
	t.Cleanup(func() { f.conn.Close(context.Background()) })
	for _, file := range must[[]string](t)(filepath.Glob("testdata/first_light/*.sql")) {
		f.text[strings.TrimSuffix(filepath.Base(file), ".sql")] = string(must[[]byte](t)(os.ReadFile(file)))
	}
	must[any](t)(f.conn.Exec(t.Context(), f.text["read_committed"]))
	return f
}

// ask runs a statement and collects what read makes of its rows.
func ask[T any](ctx context.Context, f *firstLight, statement string, read func(pgx.CollectableRow) (T, error), args ...any) ([]T, error) {
	found, err := f.conn.Query(ctx, f.text[statement], args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", statement, err)
	}
	all, err := pgx.CollectRows(found, read)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", statement, err)
	}
	return all, nil
}

// askOne is ask for statements of one row at most, with one value; none is its zero.
func askOne[T any](ctx context.Context, f *firstLight, statement string, args ...any) (v T, err error) {
	all, err := ask(ctx, f, statement, pgx.RowTo[T], args...)
	if err == nil && len(all) == 1 {
		v = all[0]
	}
	if len(all) > 1 {
		err = fmt.Errorf("%s: %d rows", statement, len(all))
	}
	return v, err
}

// enqueue adds jobs alike to one queue and returns the positions and ids of those added.
func (f *firstLight) enqueue(ctx context.Context, queue string, keys ...*string) (map[int64]int64, error) {
	n := len(keys)
	type added struct{ position, id int64 }
	all, err := ask(ctx, f, "enqueue", func(row pgx.CollectableRow) (a added, err error) {
		err = row.Scan(&a.position, &a.id)
		return a, err
	}, slices.Repeat([]string{queue}, n), slices.Repeat([]string{"send"}, n), slices.Repeat([]string{`{"n": 1970670598291982290}`}, n),
		make([]*Time, n), make([]float64, n), slices.Repeat([]int32{5}, n), keys)
	byPosition := map[int64]int64{}
	for _, a := range all {
		byPosition[a.position] = a.id
	}
	return byPosition, err
}

func (f *firstLight) claim(ctx context.Context, queue, owner string, limit int) ([]Job, error) {
	return ask(ctx, f, "claim", func(row pgx.CollectableRow) (j Job, err error) {
		err = row.Scan(&j.ID, &j.Queue, &j.Kind, (*[]byte)(&j.Payload), &j.Status, &j.Attempts, &j.MaxAttempts, &j.RunAt,
			&j.LockedAt, &j.LockedBy, &j.LeaseExpiresAt, &j.LastError, &j.IdempotencyKey, &j.CreatedAt, &j.UpdatedAt)
		return j, err
	}, queue, owner, 60.0, limit, start.runAt, start.id)
}

// list runs one of the statements that list jobs.
func (f *firstLight) list(ctx context.Context, statement string, args ...any) ([]Job, error) {
	return ask(ctx, f, statement, func(row pgx.CollectableRow) (j Job, err error) {
		err = row.Scan(&j.ID, &j.Queue, &j.Kind, &j.Status, &j.Attempts, &j.MaxAttempts, &j.RunAt, &j.LockedAt,
			&j.LockedBy, &j.LeaseExpiresAt, &j.LastError, &j.Fingerprint, &j.IdempotencyKey, &j.DiedAt, &j.CreatedAt, &j.UpdatedAt)
		return j, err
	}, args...)
}

func (f *firstLight) get(ctx context.Context, id int64) (j Job, err error) {
	all, err := ask(ctx, f, "get", func(row pgx.CollectableRow) (j Job, err error) {
		var payload string
		var length int
		var errs []byte
		err = row.Scan(&j.ID, &j.Queue, &j.Kind, &payload, &length, &j.Status, &j.Attempts, &j.MaxAttempts, &j.RunAt,
			&j.LockedAt, &j.LockedBy, &j.LeaseExpiresAt, &j.LastError, &errs, &j.Fingerprint, &j.IdempotencyKey, &j.DiedAt, &j.CreatedAt, &j.UpdatedAt)
		j.Payload, j.Errors = json.RawMessage(payload), history(errs)
		return j, err
	}, id, nil)
	if err != nil || len(all) != 1 {
		return j, fmt.Errorf("get: %d rows, %w", len(all), err)
	}
	return all[0], nil
}

// life leads jobs of a queue of its own through everything that can happen to them, and
// returns the first thing that went another way than it did in the first release.
func (f *firstLight) life(ctx context.Context, queue string) (err error) {
	expect := func(what string, got, want any) {
		if err == nil && fmt.Sprint(got) != fmt.Sprint(want) {
			err = fmt.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	note := func(e error) {
		if err == nil {
			err = e
		}
	}
	claim := func() (j Job) {
		jobs, e := f.claim(ctx, queue, owner(), 1)
		note(e)
		if len(jobs) == 1 {
			j = jobs[0]
		}
		expect("claimed", len(jobs), 1)
		return j
	}
	status := func(what string, id int64, want string) {
		j, e := f.get(ctx, id)
		note(e)
		expect(what, fmt.Sprintf("%s %d/%d %s", j.Status, j.Attempts, j.MaxAttempts, j.LastError), want)
	}
	outcome := func(statement string, want string, args ...any) {
		got, e := askOne[string](ctx, f, statement, args...)
		note(e)
		expect(statement, got, want)
	}
	key := "k " + queue

	// Enqueue, by itself, and when a live job holds the key.
	added, e := f.enqueue(ctx, queue, nil)
	note(e)
	expect("enqueued", len(added), 1)
	id := added[1]
	again, e := f.enqueue(ctx, queue, &key, &key)
	note(e)
	expect("enqueued with one key", len(again), 1)
	holders, e := ask(ctx, f, "key_holders", pgx.RowToMap, []string{queue}, []string{key})
	note(e)
	expect("holders of the key", len(holders), 1)
	due, e := askOne[*float64](ctx, f, "next_due", []string{queue})
	note(e)
	expect("due", due != nil && *due <= 0, true)

	// Claim, heartbeat, retry; who comes late is told so.
	job := claim()
	expect("the claim", fmt.Sprint(job.ID, job.Kind, string(job.Payload), job.Attempts, job.Status), fmt.Sprint(id, "send", `{"n": 1970670598291982290}`, 1, "processing"))
	type held struct {
		ID    int64
		Owner string
	}
	beaten, e := ask(ctx, f, "heartbeat", pgx.RowToStructByPos[held], []int64{id}, []string{job.LockedBy}, []float64{60})
	note(e)
	expect("heartbeat", beaten, []held{{id, job.LockedBy}})
	owners, e := ask(ctx, f, "lease_owners", pgx.RowToMap, []int64{id})
	note(e)
	expect("owners", owners, []map[string]any{{"id": id, "status": "processing", "coalesce": job.LockedBy}})
	leases, e := f.list(ctx, "leases", 1000)
	note(e)
	expect("in the list of leases", slices.ContainsFunc(leases, func(j Job) bool { return j.ID == id && j.LockedBy == job.LockedBy }), true)
	expiry, e := askOne[*float64](ctx, f, "next_expiry")
	note(e)
	expect("an expiry", expiry != nil && *expiry > 0, true)
	outcome("retry", "pending", id, job.LockedBy, "SMTP 421", 0.0)
	outcome("retry", "", id, job.LockedBy, "SMTP 421", 0.0)
	status("retried", id, "pending 1/5 SMTP 421")

	// Release, bury, redrive, complete. The other job stands before the retried one.
	other := claim()
	outcome("release", queue, other.ID, other.LockedBy, 3600.0)
	job = claim()
	expect("claimed again", job.ID, id)
	buried, e := askOne[int64](ctx, f, "bury", id, job.LockedBy, "no template \"7\"", "buried")
	note(e)
	expect("bury", buried, id)
	status("buried", id, `dead 2/5 no template "7"`)
	dead, e := f.list(ctx, "list_dead", queue, "infinity", int64(1)<<62, 10)
	note(e)
	expect("dead letters", len(dead) == 1 && dead[0].ID == id && dead[0].Fingerprint == "no template ‹text›" && dead[0].DiedAt != nil, true)
	deadIDs, e := ask(ctx, f, "dead_ids", pgx.RowTo[int64], queue)
	note(e)
	expect("dead ids", deadIDs, []int64{id})
	outcome("redrive", queue, id, "ann")
	job = claim()
	expect("redriven", fmt.Sprint(job.ID, job.Attempts), fmt.Sprint(id, 1))
	done, e := ask(ctx, f, "complete", pgx.RowToStructByPos[held], []int64{id}, []string{job.LockedBy})
	note(e)
	expect("complete", done, []held{{id, job.LockedBy}})
	told, e := f.get(ctx, id)
	note(e)
	expect("history", len(told.Errors), 3)
	first, e := askOne[string](ctx, f, "once", key)
	note(e)
	expect("once", first, key)

	// A worker is lost: its lease is taken back.
	_, e = f.enqueue(ctx, queue, nil)
	note(e)
	lost := claim()
	_, e = f.conn.Exec(ctx, "update leasetop.jobs set lease_expires_at = now() - interval '1 second' where id = $1", lost.ID)
	note(e)
	reclaimed, e := ask(ctx, f, "reclaim", func(row pgx.CollectableRow) (r Reclaimed, err error) {
		var late float64
		err = row.Scan(&r.ID, &r.Queue, &r.Kind, &r.Attempts, &r.Status, &r.Owner, &late)
		return r, err
	}, 10)
	note(e)
	expect("reclaimed", reclaimed, []Reclaimed{{ID: lost.ID, Queue: queue, Kind: "send", Attempts: 1, Status: Pending, Owner: lost.LockedBy}})

	// What the screens ask for.
	pages, e := ask(ctx, f, "table_pages", pgx.RowToMap)
	note(e)
	expect("pages", len(pages), 1)
	depths, e := ask(ctx, f, "depth", func(row pgx.CollectableRow) (n QueueDepth, err error) {
		err = row.Scan(&n.Queue, &n.Ready, &n.Scheduled, &n.Processing, &n.Completed, &n.Failed, &n.Dead, new(*float64), new(any))
		return n, err
	}, nil, 100.0)
	note(e)
	depths = slices.DeleteFunc(depths, func(d QueueDepth) bool { return d.Queue != queue })
	expect("depth", depths, []QueueDepth{{Queue: queue, Ready: 1, Scheduled: 1, Completed: 1}})
	all, e := f.list(ctx, "list", queue, nil, int64(1)<<62, 10)
	note(e)
	expect("listed", len(all), 3)
	payloads, e := ask(ctx, f, "payloads", pgx.RowToMap, []int64{id})
	note(e)
	expect("payloads", payloads, []map[string]any{{"id": id, "payload": `{"n": 1970670598291982290}`}})
	_, e = f.conn.Exec(ctx, f.text["listen_ready"])
	note(e)
	_, e = f.conn.Exec(ctx, f.text["wake"], []string{queue})
	note(e)
	if err == nil {
		n, e := f.conn.WaitForNotification(ctx)
		note(e)
		expect("woken", fmt.Sprint(n.Channel, " ", n.Payload), "leasetop_ready "+queue)
	}
	_, e = f.conn.Exec(ctx, "unlisten *")
	note(e)
	return err
}

// shapes are the types of each statement's parameters and columns.
func (f *firstLight) shapes(ctx context.Context) (map[string]string, error) {
	shapes := map[string]string{}
	for name, text := range f.text {
		statement, err := f.conn.Prepare(ctx, name, text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		columns := make([]string, len(statement.Fields))
		for i, column := range statement.Fields {
			columns[i] = fmt.Sprint(column.Name, " ", column.DataTypeOID)
		}
		shapes[name] = fmt.Sprint(statement.ParamOIDs, columns)
		if err := f.conn.Deallocate(ctx, name); err != nil {
			return nil, err
		}
	}
	return shapes, nil
}

// works tells what a program of the first release would find wrong with the schema:
// nothing, when its statements mean what they meant and jobs live the life they led.
func (f *firstLight) works(ctx context.Context, queue string, meant map[string]string) error {
	shapes, err := f.shapes(ctx)
	if err != nil {
		return err
	}
	for name, shape := range shapes {
		if shape != meant[name] {
			return fmt.Errorf("%s: it was %s, and is %s", name, meant[name], shape)
		}
	}
	// What its live feed reads, where the server can stream.
	var unread *string
	err = f.conn.QueryRow(ctx, `select string_agg(name, ' ') from pg_publication_tables
		cross join unnest('{id,queue,kind,status,attempts,max_attempts,run_at,locked_at,locked_by,lease_expires_at,updated_at}'::name[]) name
		where pubname = 'leasetop_jobs' and tablename = 'jobs' and not name = any(attnames)`).Scan(&unread)
	if err != nil || unread != nil {
		return fmt.Errorf("the publication leaves out %v, %w", unread, err)
	}
	return f.life(ctx, queue)
}

// atFirstLight takes the schema back to the steps of the first release.
func atFirstLight(t *testing.T, q *Queue) {
	t.Helper()
	for {
		steps := must[[]leasesql.Migration](t)(leasesql.MigrationStatus(t.Context(), q.ConnConfig(), ""))
		if !slices.ContainsFunc(steps, func(m leasesql.Migration) bool { return m.Version > 3 && m.Applied }) {
			return
		}
		must[leasesql.Migration](t)(leasesql.MigrateDown(t.Context(), q.ConnConfig(), ""))
	}
}

// A program of the first release goes on while the schema is migrated under it, over
// the connections and with the prepared statements that it has.
func TestFirstLightOnTheNewestSchema(t *testing.T) {
	t.Parallel()
	q := open(t)
	atFirstLight(t, q)
	old := openFirstLight(t, q)
	meant := must[map[string]string](t)(old.shapes(t.Context()))
	if len(meant) < 33 {
		t.Fatalf("only %d statements", len(meant))
	}
	ok(t, old.works(t.Context(), "before", meant))
	ok(t, q.Migrate(t.Context()))
	ok(t, old.works(t.Context(), "after", meant))
	ok(t, openFirstLight(t, q).works(t.Context(), "connected afterwards", meant))
}

// Steps that would break the first release are found out by the test above.
func TestStepsThatBreakFirstLightAreFoundOut(t *testing.T) {
	t.Parallel()
	for _, step := range []string{
		"alter table leasetop.jobs drop column kind cascade",
		"alter table leasetop.jobs rename column errors to history",
		"alter table leasetop.jobs alter column payload drop default, alter column payload type text",
		"alter table leasetop.jobs alter column idempotency_key type varchar(1024)",
		"alter table leasetop.jobs alter column status drop default",
		"alter table leasetop.jobs add column tenant text not null",
		"alter table leasetop.jobs add constraint signed check (status <> 'dead' or cancelled_by is not null)",
		"alter table leasetop.once rename to effects",
		"drop index leasetop.jobs_idempotency",
		"alter function leasetop.with_attempt rename to with_entry",
		"alter publication leasetop_jobs set table leasetop.jobs (id, queue)",
		"create or replace function leasetop.fingerprint(error text) returns text language sql immutable as $$ select error $$",
		"", // for comparison
	} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			q := open(t)
			meant := must[map[string]string](t)(openFirstLight(t, q).shapes(t.Context()))
			if step == "" {
				ok(t, openFirstLight(t, q).works(t.Context(), "q", meant))
				return
			}
			exec(t, q, step)
			if err := openFirstLight(t, q).works(t.Context(), "q", meant); err == nil {
				t.Error("nothing was found wrong")
			} else {
				t.Log(err)
			}
		})
	}
}
