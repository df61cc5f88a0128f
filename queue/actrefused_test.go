package queue

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// hurried is a context under which acts hardly wait for locks.
func hurried(ctx context.Context) context.Context { return waiting(ctx, 2*lockPause) }

// waiting is a context under which acts wait so long for locks.
func waiting(ctx context.Context, d time.Duration) context.Context {
	p := &patience{}
	p.left.Store(int64(d))
	return context.WithValue(ctx, entryKey{}, &entry{patience: p})
}

// hinder has something stand in the way of one job, until the test ends it.
type hinder struct {
	name  string
	begin func(t *testing.T, q *Queue, table string, id int64) (what string, end func())
}

var hinders = []hinder{
	{"CHECK NOT VALID", func(t *testing.T, q *Queue, table string, id int64) (string, func()) {
		exec(t, q, fmt.Sprintf("alter table leasetop.%s add constraint app_rule check (id <> %d) not valid", table, id))
		return `the server refuses it: new row for relation "` + table + `" violates check constraint "app_rule" [Failing row contains (`,
			func() { exec(t, q, fmt.Sprintf("alter table leasetop.%s drop constraint app_rule", table)) }
	}},
	{"a trigger that raises", func(t *testing.T, q *Queue, table string, id int64) (string, func()) {
		return "the server refuses it: not this one [ask the app team]",
			trigger(t, q, table, id, "before", "raise 'not this one' using detail = 'ask the app team', errcode = 'APP01'")
	}},
	{"a trigger that raises at the commit", func(t *testing.T, q *Queue, table string, id int64) (string, func()) {
		return "the server refuses it: not this one [ask the app team]",
			trigger(t, q, table, id, "after", "raise 'not this one' using detail = 'ask the app team'")
	}},
	{"a trigger that returns NULL", func(t *testing.T, q *Queue, table string, id int64) (string, func()) {
		return "a trigger or a row policy of the table leaves the row as it was", trigger(t, q, table, id, "before", "return null")
	}},
	{"a foreign key", func(t *testing.T, q *Queue, table string, id int64) (string, func()) {
		exec(t, q, "create table ref (job_id bigint references leasetop."+table+")")
		exec(t, q, "insert into ref values ($1)", id)
		return fmt.Sprintf(`violates foreign key constraint "ref_job_id_fkey" on table "ref" [Key (id)=(%d) is still referenced from table "ref".]`, id),
			func() { exec(t, q, "drop table ref") }
	}},
	{"a lock", func(t *testing.T, q *Queue, table string, id int64) (string, func()) {
		return locks(t, q, table, id, "for update")
	}},
	{"two locks", func(t *testing.T, q *Queue, table string, id int64) (string, func()) {
		first, end := locks(t, q, table, id, "for share")
		second, endToo := locks(t, q, table, id, "for share")
		return first + " or " + second, func() { end(); endToo() }
	}},
}

// locks has another session lock one row.
func locks(t *testing.T, q *Queue, table string, id int64, how string) (string, func()) {
	t.Helper()
	tx := begin(t, q)
	must[any](t)(tx.Exec(t.Context(), "select from leasetop."+table+" where id = $1 "+how, id))
	return fmt.Sprintf("locked by pid %d (leasetop, postgres, ", tx.Conn().PgConn().PID()), func() { ok(t, tx.Rollback(t.Context())) }
}

// trigger has a trigger of the database's owner do something when one row is to change.
func trigger(t *testing.T, q *Queue, table string, id int64, when, does string) (end func()) {
	t.Helper()
	exec(t, q, "create function app() returns trigger language plpgsql as $$ begin "+does+"; end $$")
	kind, deferred := "trigger", ""
	if when == "after" {
		kind, deferred = "constraint trigger", "deferrable initially deferred"
	}
	for name, event := range map[string]string{"app": "update", "app_new": "insert", "app_gone": "delete"} {
		row := "new"
		if event != "insert" {
			row = "old"
		}
		exec(t, q, fmt.Sprintf("create %s %s %s %s on leasetop.%s %s for each row when (%s.id = %d) execute function app()", kind, name, when, event, table, deferred, row, id))
	}
	return func() { exec(t, q, "drop function app() cascade") }
}

// hinderedAct is an act on some jobs, of which one is hindered.
type hinderedAct struct {
	name   string
	table  string // whose rows the act locks
	writes string // where it writes; "" the same
	job    func(*testing.T, *Queue) int64
	ready  func(*testing.T, *Queue, []int64) // what comes before the act
	do     func(context.Context, *Queue, []int64) ([]int64, []Skip, error)
	never  []string // what cannot hinder it
}

var hinderedActs = []hinderedAct{
	{
		name: "redrive", table: "jobs", job: dead, never: []string{"a foreign key"},
		do: func(ctx context.Context, q *Queue, ids []int64) ([]int64, []Skip, error) {
			d, err := q.Redrive(ctx, ann, ids...)
			return d.IDs, d.Skipped, err
		},
	},
	{
		name: "redrive with keys", table: "jobs", never: []string{"a foreign key"},
		job: func(t *testing.T, q *Queue) int64 {
			return buried(t, q, NewJob{IdempotencyKey: fmt.Sprint(claims.Add(1))})
		},
		do: func(ctx context.Context, q *Queue, ids []int64) ([]int64, []Skip, error) {
			d, err := q.Redrive(ctx, ann, ids...)
			return d.IDs, d.Skipped, err
		},
	},
	{
		name: "cancel", table: "jobs", job: func(t *testing.T, q *Queue) int64 { return enqueue(t, q, NewJob{}) }, never: []string{"a foreign key"},
		do: func(ctx context.Context, q *Queue, ids []int64) ([]int64, []Skip, error) {
			d, err := q.Cancel(ctx, ann, ids...)
			return d.IDs, d.Skipped, err
		},
	},
	{
		name: "cancel of running jobs", table: "jobs", job: func(t *testing.T, q *Queue) int64 { return claimed(t, q, NewJob{}, time.Hour).ID }, never: []string{"a foreign key"},
		do: func(ctx context.Context, q *Queue, ids []int64) ([]int64, []Skip, error) {
			d, err := q.Cancel(ctx, ann, ids...)
			return d.Asked, d.Skipped, err
		},
	},
	{
		name: "discard", table: "jobs", job: dead, never: []string{"CHECK NOT VALID"},
		do: func(ctx context.Context, q *Queue, ids []int64) ([]int64, []Skip, error) {
			d, err := q.Discard(ctx, ann, "", ids...)
			return d.IDs, d.Skipped, err
		},
	},
	{
		name: "discard into the archive", table: "jobs", writes: "jobs_archive", job: dead, never: []string{"a foreign key"},
		do: func(ctx context.Context, q *Queue, ids []int64) ([]int64, []Skip, error) {
			d, err := q.Discard(ctx, ann, "", ids...)
			return d.IDs, d.Skipped, err
		},
	},
	{
		name: "restore", table: "jobs_archive", job: archived, never: []string{"CHECK NOT VALID"},
		do: func(ctx context.Context, q *Queue, ids []int64) ([]int64, []Skip, error) {
			d, err := q.Restore(ctx, ann, ids...)
			return d.IDs, d.Skipped, err
		},
	},
	{
		name: "restore into jobs", table: "jobs_archive", writes: "jobs", job: archived, never: []string{"a foreign key"},
		do: func(ctx context.Context, q *Queue, ids []int64) ([]int64, []Skip, error) {
			d, err := q.Restore(ctx, ann, ids...)
			return d.IDs, d.Skipped, err
		},
	},
	{
		name: "run now", table: "jobs", job: func(t *testing.T, q *Queue) int64 { return enqueue(t, q, NewJob{Delay: time.Hour}) }, never: []string{"a foreign key"},
		do: func(ctx context.Context, q *Queue, ids []int64) ([]int64, []Skip, error) {
			d, err := q.RunNow(ctx, ann, ids...)
			return d.IDs, d.Skipped, err
		},
	},
	{
		name: "release", table: "jobs", job: func(t *testing.T, q *Queue) int64 { return claimed(t, q, NewJob{}, time.Hour).ID }, never: []string{"a foreign key"},
		do: eachAlone(func(ctx context.Context, q *Queue, id int64) error {
			job, err := q.Get(ctx, id)
			if err != nil {
				return err
			}
			return q.TakeBack(ctx, ann, job.Lease())
		}),
	},
	{
		name: "edit", table: "jobs", job: dead, never: []string{"a foreign key"},
		do: eachAlone(func(ctx context.Context, q *Queue, id int64) error {
			return errorOf(q.EditPayload(ctx, ann, Edit{ID: id, Was: []byte("{}"), Payload: []byte(`{"n": 1}`)}))
		}),
	},
	{
		name: "edit and redrive", table: "jobs", job: dead, never: []string{"a foreign key"},
		do: eachAlone(func(ctx context.Context, q *Queue, id int64) error {
			return errorOf(q.EditPayload(ctx, ann, Edit{ID: id, Was: []byte("{}"), Payload: []byte(`{"n": 1}`), Redrive: true}))
		}),
	},
	{
		name: "plan", table: "jobs", job: dead, never: []string{"a foreign key"},
		do: func(ctx context.Context, q *Queue, ids []int64) ([]int64, []Skip, error) {
			p, err := q.StartPlan(ctx, ann, NewPlan{IDs: ids})
			if err != nil {
				return nil, nil, err
			}
			return carriedOut(ctx, q, p.ID, "redriven", "skipped")
		},
	},
	{
		name: "undo of a plan", table: "jobs", job: dead, never: []string{"a foreign key"},
		ready: func(t *testing.T, q *Queue, ids []int64) { executed(t, q, started(t, q, NewPlan{IDs: ids}).ID) },
		do: func(ctx context.Context, q *Queue, ids []int64) ([]int64, []Skip, error) {
			plans, err := q.Plans(ctx, 0, 1)
			if err != nil {
				return nil, nil, err
			}
			p, err := q.UndoPlan(ctx, ann, "", plans[0].ID)
			if err != nil {
				return nil, nil, err
			}
			return carriedOut(ctx, q, p.ID, "undone", "redriven")
		},
	},
	{
		name: "purge", table: "jobs", never: []string{"CHECK NOT VALID"},
		job: func(t *testing.T, q *Queue) int64 {
			l := claimed(t, q, NewJob{}, time.Hour)
			ok(t, q.Complete(t.Context(), l))
			return l.ID
		},
		do: purgesAll(PurgeCompleted, "jobs"),
	},
	{name: "purge of the archive", table: "jobs_archive", job: archived, never: []string{"CHECK NOT VALID"}, do: purgesAll(PurgeArchive, "jobs_archive")},
}

func dead(t *testing.T, q *Queue) int64 { return buried(t, q, NewJob{}) }

func archived(t *testing.T, q *Queue) int64 {
	id := dead(t, q)
	must[Done](t)(q.Discard(t.Context(), ann, "", id))
	return id
}

func eachAlone(do func(context.Context, *Queue, int64) error) func(context.Context, *Queue, []int64) ([]int64, []Skip, error) {
	return func(ctx context.Context, q *Queue, ids []int64) (done []int64, left []Skip, err error) {
		for _, id := range ids {
			skip, err := Skipped(do(ctx, q, id))
			switch {
			case err != nil:
				return done, left, err
			case skip.Reason != "":
				left = append(left, skip)
			default:
				done = append(done, id)
			}
		}
		return done, left, nil
	}
}

// carriedOut executes a plan that hardly waits for locks.
func carriedOut(ctx context.Context, q *Queue, id int64, did, left string) ([]int64, []Skip, error) {
	e := newExecution(q, id, nil)
	e.stuck, e.away = planStuck, 0
	if err := e.run(ctx); err != nil {
		return nil, nil, err
	}
	jobs, err := q.PlanJobs(ctx, id, 0, 100)
	var done []int64
	var skipped []Skip
	for _, j := range jobs {
		switch j.State {
		case did:
			done = append(done, j.ID)
		case left:
			reason, detail, _ := strings.Cut(j.Reason, `: Failing row`)
			if detail != "" {
				detail = "Failing row" + detail
			} else {
				reason, detail, _ = strings.Cut(j.Reason, ": ask")
				if detail != "" {
					detail = "ask" + detail
				}
			}
			skipped = append(skipped, Skip{ID: j.ID, Reason: reason, Detail: detail, Failed: true})
		}
	}
	return done, skipped, err
}

func purgesAll(what PurgeWhat, table string) func(context.Context, *Queue, []int64) ([]int64, []Skip, error) {
	return func(ctx context.Context, q *Queue, ids []int64) (done []int64, left []Skip, err error) {
		p, err := q.Purge(ctx, Purge{What: what}, nil)
		if err != nil {
			return nil, nil, err
		}
		for _, k := range p.First {
			id, err := strconv.ParseInt(k.Name, 10, 64)
			if err != nil {
				return nil, nil, err
			}
			left = append(left, Skip{ID: id, Reason: k.Reason, Detail: k.Detail, Failed: true})
		}
		for _, id := range ids {
			var there bool
			if err := q.pool.QueryRow(ctx, "select exists (select from leasetop."+table+" where id = $1)", id).Scan(&there); err != nil {
				return nil, nil, err
			}
			if !there {
				done = append(done, id)
			}
		}
		if int64(len(done)) != p.Deleted || p.Kept != int64(len(left)) {
			return nil, nil, fmt.Errorf("%d are gone: %+v", len(done), p)
		}
		return done, left, nil
	}
}

// What stands in the way of one job is named with it, soon, and the others are done.
func TestOneJobHoldsUpNoOthers(t *testing.T) {
	t.Parallel()
	for _, act := range hinderedActs {
		t.Run(act.name, func(t *testing.T) {
			t.Parallel()
			q := open(t)
			for _, h := range hinders {
				if !slices.Contains(act.never, h.name) {
					act.try(t, q, h)
				}
			}
		})
	}
}

func (a *hinderedAct) try(t *testing.T, q *Queue, h hinder) {
	t.Helper()
	exec(t, q, "truncate leasetop.jobs, leasetop.jobs_archive")
	var ids []int64
	for range 7 {
		ids = append(ids, a.job(t, q))
	}
	if a.ready != nil {
		a.ready(t, q, ids)
	}
	table := a.table
	if a.writes != "" && !strings.HasSuffix(h.name, "lock") && !strings.HasSuffix(h.name, "locks") {
		table = a.writes
	}
	bad := ids[4]
	want, end := h.begin(t, q, table, bad)
	defer end()
	rest := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return id == bad })

	ctx, cancel := context.WithTimeout(hurried(t.Context()), time.Minute)
	defer cancel()
	done, left, err := a.do(ctx, q, ids)
	slices.Sort(done)
	if err != nil || !slices.Equal(done, rest) || len(left) != 1 || left[0].ID != bad || !left[0].Failed {
		t.Errorf("%s: done %v, want %v; left %+v, want job %d; %v", h.name, done, rest, left, bad, err)
		return
	}
	said := left[0].Reason
	if left[0].Detail != "" {
		said += " [" + left[0].Detail + "]"
	}
	if !slices.ContainsFunc(strings.Split(want, " or "), func(w string) bool { return strings.Contains(said, w) }) {
		t.Errorf("%s: job %d is left: %q, want %q", h.name, bad, said, want)
	}
	if n := count(t, q, "select (select count(*) from leasetop.jobs where id = $1) + (select count(*) from leasetop.jobs_archive where id = $1)", bad); n != 1 {
		t.Errorf("%s: job %d is in %d places", h.name, bad, n)
	}
}

// While somebody has the table locked an act ends soon, names him, and changes nothing later.
func TestLockedTableHoldsUpNoActForLong(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := dead(t, q)
	tx := begin(t, q)
	must[any](t)(tx.Exec(t.Context(), "lock table leasetop.jobs"))
	want := fmt.Sprintf("the table jobs is locked by pid %d (leasetop, postgres, ", tx.Conn().PgConn().PID())
	fresh := must[*Queue](t)(Open(t.Context(), q.Pool().Config().ConnString(), Options{})) // which has prepared nothing
	defer fresh.Close()
	for name, act := range map[string]func(context.Context) error{
		"cancel":  func(ctx context.Context) error { _, err := fresh.Cancel(ctx, ann, id); return err },
		"discard": func(ctx context.Context) error { _, err := fresh.Discard(ctx, ann, "", id); return err },
		"redrive": func(ctx context.Context) error { _, err := fresh.Redrive(ctx, ann, id); return err },
		"edit": func(ctx context.Context) error {
			return errorOf(fresh.EditPayload(ctx, ann, Edit{ID: id, Was: []byte("{}"), Payload: []byte("[]")}))
		},
		"release": func(ctx context.Context) error { return fresh.TakeBack(ctx, ann, Lease{ID: id, Token: "x"}) },
	} {
		ctx, cancel := context.WithTimeout(hurried(t.Context()), time.Minute)
		if err := act(ctx); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		cancel()
	}
	ok(t, tx.Rollback(t.Context()))
	if job := get(t, q, id); job.Status != Dead || string(job.Payload) != "{}" || len(job.Errors) != 1 {
		t.Errorf("%+v", job)
	}
}
