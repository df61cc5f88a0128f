package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	leasesql "github.com/leasetop/leasetop/sql"
)

// ways are how an owner's rules can keep the rows of a kind, "refused", from being changed.
// said is part of the server's reason.
var ways = []struct{ name, rule, said string }{
	{"check", "alter table leasetop.jobs add constraint app_rule check (kind <> 'refused') not valid", "app_rule"},
	{"raise", `create function app_raise() returns trigger language plpgsql as $$begin raise exception 'frozen by the app' using detail = 'ask the app'; end$$;
		create trigger app_raise before update on leasetop.jobs for each row when (new.kind = 'refused') execute function app_raise()`, "frozen by the app"},
	{"raise with its own code", `create function app_raise() returns trigger language plpgsql as $$begin raise exception 'frozen by the app' using errcode = 'APP01'; end$$;
		create trigger app_raise after update on leasetop.jobs for each row when (new.kind = 'refused') execute function app_raise()`, "frozen by the app"},
	{"raise with the code of a lock", `create function app_raise() returns trigger language plpgsql as $$begin raise exception 'frozen by the app' using errcode = 'lock_not_available'; end$$;
		create trigger app_raise before update on leasetop.jobs for each row when (new.kind = 'refused') execute function app_raise()`, "frozen by the app"},
	{"raise with the code of a cancelled statement", `create function app_raise() returns trigger language plpgsql as $$begin raise exception 'frozen by the app' using errcode = 'query_canceled'; end$$;
		create trigger app_raise before update on leasetop.jobs for each row when (new.kind = 'refused') execute function app_raise()`, "frozen by the app"},
	{"skip", `create function app_skip() returns trigger language plpgsql as $$begin return null; end$$;
		create trigger app_skip before update on leasetop.jobs for each row when (new.kind = 'refused') execute function app_skip()`, "a trigger or a row policy of the table leaves the row as it was"},
	{"at commit", `create function app_late() returns trigger language plpgsql as $$begin raise exception 'refused at commit'; end$$;
		create constraint trigger app_late after update on leasetop.jobs deferrable initially deferred
		for each row when (new.kind = 'refused') execute function app_late()`, "refused at commit"},
	{"value", `create domain app_small as int check (value < 1);
		create function app_value() returns trigger language plpgsql as $$begin perform (new.id / 0)::app_small; return new; end$$;
		create trigger app_value before update on leasetop.jobs for each row when (new.kind = 'refused') execute function app_value()`, "division by zero"},
	{"no right of the trigger's", `create function app_broken() returns trigger language plpgsql as $$begin perform from no_such_table; return new; end$$;
		create trigger app_broken before update on leasetop.jobs for each row when (new.kind = 'refused') execute function app_broken()`, "no_such_table"},
	{"policy", "policy", "row-level security policy"},
}

// refuse has the server refuse every update of these rows, to the queue returned.
func refuse(t *testing.T, q *Queue, rule string) *Queue {
	t.Helper()
	if rule != "policy" {
		exec(t, q, rule, pgx.QueryExecModeSimpleProtocol)
		return q
	}
	exec(t, q, "alter table leasetop.jobs enable row level security")
	exec(t, q, "create policy app_rule on leasetop.jobs using (true) with check (kind <> 'refused')")
	return openAs(t, q, "usage on schema leasetop", "select, insert, update, delete on all tables in schema leasetop", "usage on all sequences in schema leasetop")
}

// acts are the statements that change many rows, on five jobs of which the server refuses
// the middle one. do returns the ids it was done to, and the refusals.
var refusable = []struct {
	name    string
	act     string
	running bool
	do      func(t *testing.T, q *Queue, queue string, leases []Lease) (ids []int64, refusals []*Refusal)
}{
	{"claim", "claim", false, func(t *testing.T, q *Queue, queue string, _ []Lease) (ids []int64, refusals []*Refusal) {
		return claimAll(t, q, queue, 10)
	}},
	{"claim one by one", "claim", false, func(t *testing.T, q *Queue, queue string, _ []Lease) (ids []int64, refusals []*Refusal) {
		return claimAll(t, q, queue, 1)
	}},
	{"heartbeat", "renew", true, func(t *testing.T, q *Queue, _ string, leases []Lease) (ids []int64, refusals []*Refusal) {
		renewals := make([]Renewal, len(leases))
		for i, l := range leases {
			renewals[i] = Renewal{Lease: l, For: time.Hour}
		}
		beat := must[Beat](t)(q.Heartbeat(t.Context(), renewals))
		if len(beat.Lost)+len(beat.Contended) > 0 {
			t.Errorf("heartbeat: %+v", beat)
		}
		for _, r := range beat.Refused {
			refusals = append(refusals, r.Refusal)
		}
		for _, l := range beat.Renewed {
			ids = append(ids, l.ID)
		}
		return ids, refusals
	}},
	{"complete", "complete", true, func(t *testing.T, q *Queue, _ string, leases []Lease) (ids []int64, refusals []*Refusal) {
		lost, err := q.CompleteMany(t.Context(), leases)
		if len(lost) > 0 {
			t.Errorf("lost %v", lost)
		}
		return completedOf(t, q, leases), onlyRefusals(t, err)
	}},
	{"complete unlocked", "complete", true, func(t *testing.T, q *Queue, _ string, leases []Lease) (ids []int64, refusals []*Refusal) {
		locked, lost, err := q.CompleteUnlocked(t.Context(), leases)
		if len(lost)+len(locked) > 0 {
			t.Errorf("lost %v, locked %v", lost, locked)
		}
		return completedOf(t, q, leases), onlyRefusals(t, err)
	}},
	{"reclaim", "reclaim", true, func(t *testing.T, q *Queue, queue string, leases []Lease) (ids []int64, refusals []*Refusal) {
		taken, err := q.Reclaim(t.Context(), 10, queue)
		for _, r := range taken {
			ids = append(ids, r.ID)
		}
		if in, ok, err := q.NextExpiry(t.Context(), queue); ok || err != nil {
			t.Errorf("the next expiry is in %v, %v, with nothing left to take back", in, err)
		}
		return ids, onlyRefusals(t, err)
	}},
	{"retry", "retry", true, oneByOne(func(ctx context.Context, q *Queue, l Lease) error {
		return errorOf(q.Retry(ctx, l, "503", time.Minute))
	})},
	{"bury", "bury", true, oneByOne(func(ctx context.Context, q *Queue, l Lease) error { return q.Bury(ctx, l, "bad") })},
	{"release", "release", true, oneByOne(func(ctx context.Context, q *Queue, l Lease) error { return errorOf(q.Release(ctx, l)) })},
	{"complete in a transaction", "complete", true, oneByOne(func(ctx context.Context, q *Queue, l Lease) error {
		return pgx.BeginFunc(ctx, q.Pool(), func(tx pgx.Tx) error { return q.CompleteTx(ctx, tx, l) })
	})},
}

// A row that the server refuses to change stops only itself, whatever the statement and the
// reason, and is named with that.
func TestRefusedRowStopsNoOther(t *testing.T) {
	t.Parallel()
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			owner := open(t)
			leases := map[string][]Lease{}
			jobs := map[string][]int64{}
			for _, c := range refusable {
				for i := range 5 {
					kind := ""
					if i == 2 {
						kind = "refused"
					}
					jobs[c.name] = append(jobs[c.name], enqueue(t, owner, NewJob{Queue: c.name, Kind: kind}))
				}
				if c.running {
					for range jobs[c.name] {
						leases[c.name] = append(leases[c.name], claimFrom(t, owner, c.name, time.Hour).Lease())
					}
				}
				if c.name == "reclaim" {
					expire(t, owner, jobs[c.name]...)
				}
			}
			q := refuse(t, owner, way.rule)
			for _, c := range refusable {
				ids := jobs[c.name]
				done, refusals := c.do(t, q, c.name, leases[c.name])
				slices.Sort(done)
				if want := []int64{ids[0], ids[1], ids[3], ids[4]}; !slices.Equal(done, want) {
					t.Errorf("%s: done to %v, want %v", c.name, done, want)
				}
				if c.name == "complete in a transaction" {
					if !(way.name == "at commit" || len(refusals) == 1 && refusals[0].JobID == ids[2]) { // the COMMIT is the caller's
						t.Errorf("%s: refused %v", c.name, refusals)
					}
					continue
				}
				if len(refusals) != 1 || refusals[0].JobID != ids[2] || refusals[0].Act != c.act || !strings.Contains(refusals[0].Reason, way.said) {
					t.Errorf("%s: refused %v, want job %d by %q", c.name, refusals, ids[2], way.said)
					continue
				}
				q.notes.written.Wait()
				noted := must[*Refused](t)(owner.RefusedJob(t.Context(), ids[2]))
				if r := refusals[0]; noted == nil || noted.Act != c.act || noted.Reason != r.Reason || noted.Detail != r.Detail || noted.SQLSTATE != r.SQLSTATE || noted.Queue != c.name || noted.By == "" {
					t.Errorf("%s: noted %+v of %+v", c.name, noted, r)
				}
			}
			if all := must[[]Refused](t)(owner.Refused(t.Context(), 100)); len(all) != len(refusable)-1 {
				t.Errorf("listed %+v", all)
			}
		})
	}
}

func claimAll(t *testing.T, q *Queue, queue string, limit int) (ids []int64, refusals []*Refusal) {
	t.Helper()
	due := true
	mark := q.marks.of(queue)
	// What was passed over for long enough is due again, and refused again. The time that
	// claims take does not count, so that this has an end however slow they are.
	for idle, giveUp := 0, time.Now().Add(5*time.Minute); idle < 20 && time.Now().Before(giveUp); idle++ {
		began := time.Now()
		mark.mu.Lock()
		mark.fullDue = time.Time{} // as after a second
		mark.mu.Unlock()
		jobs := must[[]Job](t)(q.Claim(t.Context(), ClaimRequest{
			Queue: queue, Owner: owner(), Lease: time.Minute, Limit: limit,
			Refused: func(r *Refusal) { refusals, idle = append(refusals, r), 0 },
		}))
		for _, j := range jobs {
			ids, idle = append(ids, j.ID), 0
		}
		q.passedClaims.shift(time.Since(began))
		if len(jobs) == 0 {
			in, ok, err := q.NextDue(t.Context(), []string{queue})
			if due = ok && in <= 0; err != nil || !due {
				break
			}
		}
	}
	if due {
		t.Error("a job is said to be due that is passed over")
	}
	return ids, refusals
}

func completedOf(t *testing.T, q *Queue, leases []Lease) (ids []int64) {
	t.Helper()
	for _, l := range leases {
		if get(t, q, l.ID).Status == Completed {
			ids = append(ids, l.ID)
		}
	}
	return ids
}

// onlyRefusals are those of an error that says nothing else.
func onlyRefusals(t *testing.T, err error) []*Refusal {
	t.Helper()
	if err != nil && !errors.Is(err, ErrRowRefused) {
		t.Error(err)
	}
	return Refusals(err)
}

func oneByOne(do func(context.Context, *Queue, Lease) error) func(*testing.T, *Queue, string, []Lease) ([]int64, []*Refusal) {
	return func(t *testing.T, q *Queue, _ string, leases []Lease) (ids []int64, refusals []*Refusal) {
		for _, l := range leases {
			err := do(t.Context(), q, l)
			if err == nil {
				ids = append(ids, l.ID)
			} else if refused := Refusals(err); len(refused) > 0 {
				refusals = append(refusals, refused...)
			} else if errors.Is(err, ErrLeaseLost) {
				t.Error(err)
			}
		}
		return ids, refusals
	}
}

// A refused job is passed over, tried again when it was changed, and named until then.
func TestRefusedJobIsClaimedOnceItWasChanged(t *testing.T) {
	t.Parallel()
	q := open(t)
	bad := enqueue(t, q, NewJob{Kind: "refused"})
	refuse(t, q, ways[0].rule)
	good := enqueue(t, q, NewJob{})
	if ids, refusals := claimAll(t, q, "emails", 1); !slices.Equal(ids, []int64{good}) || len(refusals) != 1 || refusals[0].For != passAtFirst {
		t.Fatalf("claimed %v, refused %v", ids, refusals)
	}
	q.notes.written.Wait()
	if r := must[*Refused](t)(q.RefusedJob(t.Context(), bad)); r == nil || !strings.Contains(r.Detail, "refused") {
		t.Errorf("noted %+v", r)
	}
	q.passedClaims.shift(time.Hour) // however slow this is
	if ids, refusals := claimAll(t, q, "emails", 1); len(ids)+len(refusals) != 0 {
		t.Errorf("passed over, and claimed %v, refused %v", ids, refusals)
	}
	q.passedClaims.shift(-time.Hour - 2*passAtFirst) // as time would
	if _, refusals := claimAll(t, q, "emails", 1); len(refusals) != 1 || refusals[0].For != 2*passAtFirst {
		t.Errorf("refused again %v", refusals)
	}
	q.notes.written.Wait() // a note is about the row as it is when the note is written
	exec(t, q, "update leasetop.jobs set kind = 'fine' where id = $1", bad)
	q.passedClaims.shift(-passLooks)
	if ids, refusals := claimAll(t, q, "emails", 1); !slices.Equal(ids, []int64{bad}) || len(refusals) != 0 {
		t.Errorf("changed, and claimed %v, refused %v", ids, refusals)
	}
	if r := must[*Refused](t)(q.RefusedJob(t.Context(), bad)); r != nil {
		t.Errorf("changed, and noted %+v", r)
	}
}

// shift moves the times of what is passed over.
func (p *passed) shift(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.looked = p.looked.Add(by)
	for _, row := range p.rows {
		row.until = row.until.Add(by)
	}
}

// More refused jobs than claims look at at once, and before all others.
func TestManyRefusedJobsHoldUpNoClaim(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, "insert into leasetop.jobs (queue, kind, run_at) select 'emails', 'refused', now() - interval '1 hour' from generate_series(1, 120)")
	refuse(t, q, ways[0].rule)
	good := enqueue(t, q, NewJob{})
	ids, refusals := claimAll(t, q, "emails", 10)
	refused := map[int64]bool{} // some of them again, where this is slow
	for _, r := range refusals {
		refused[r.JobID] = true
	}
	if !slices.Equal(ids, []int64{good}) || len(refused) != 120 {
		t.Errorf("claimed %v, %d refused", ids, len(refused))
	}
}

// Where everything is refused the claim says so.
func TestClaimOfATableThatRefusesEverything(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, "insert into leasetop.jobs (queue, kind) select 'emails', 'refused' from generate_series(1, 5)")
	refuse(t, q, ways[0].rule)
	for id := range int64(passedMost - 3) {
		q.passedClaims.pass(-id, "emails", "")
	}
	q.passedClaims.looked = time.Now()
	jobs, err := q.Claim(t.Context(), ClaimRequest{Queue: "emails", Owner: owner(), Lease: time.Minute, Limit: 100})
	if len(jobs) > 0 || !errors.Is(err, ErrRowRefused) || !strings.Contains(err.Error(), "app_rule") {
		t.Errorf("claimed %d, %v", len(jobs), err)
	}
}

// A heartbeat of many leases keeps the healthy ones within three round trips.
func TestRefusedLeasesHoldUpNoHeartbeat(t *testing.T) {
	t.Parallel()
	q := open(t)
	exec(t, q, "insert into leasetop.jobs (queue, kind) select 'emails', case when n % 100 = 7 then 'refused' else '' end from generate_series(1, 300) n")
	var renewals []Renewal
	for _, job := range take(t, q, "emails", 300) {
		renewals = append(renewals, Renewal{Lease: job.Lease(), For: time.Minute})
	}
	refuse(t, q, ways[0].rule)
	beat := must[Beat](t)(q.Heartbeat(t.Context(), renewals))
	if len(beat.Renewed) != 297 || len(beat.Refused) != 3 || len(beat.Lost)+len(beat.Contended) != 0 {
		t.Errorf("%d renewed, refused %v", len(beat.Renewed), beat.Refused)
	}
	if n := count(t, q, "select count(*) from leasetop.jobs where lease_expires_at > now() + interval '50 seconds'"); n != 300 {
		t.Errorf("%d leases run", n)
	}
}

// claim_these.sql is claim.sql under another choice of rows.
func TestClaimTheseSetsWhatClaimSets(t *testing.T) {
	t.Parallel()
	q := &Queue{schema: must[*leasesql.Schema](t)(leasesql.ForSchema(""))}
	sets := func(statement, to string) string {
		_, text, _ := strings.Cut(q.schema.Query(statement), "SET ")
		text, _, found := strings.Cut(text, to)
		if !found {
			t.Fatalf("%s has no %q", statement, to)
		}
		return strings.Join(strings.Fields(text), " ")
	}
	if one, other := sets("claim", "WHERE id = ANY"), sets("claim_these", "FROM held"); one != other {
		t.Errorf("%s\n%s", one, other)
	}
}

// The row was changed before the note of its refusal could be written: the note is not about
// the row as it is.
func TestNoteOfARefusalHoldsForTheRowThatWasRefused(t *testing.T) {
	t.Parallel()
	q := open(t)
	id := enqueue(t, q, NewJob{Queue: "q"})
	exec(t, q, fmt.Sprintf("alter table leasetop.jobs add constraint app_rule check (id <> %d) not valid", id))
	lock := begin(t, q)
	must[any](t)(lock.Exec(t.Context(), "lock table leasetop.refusals in exclusive mode"))
	if jobs := take(t, q, "q", 1); len(jobs) > 0 {
		t.Fatalf("claimed %+v", jobs)
	}
	exec(t, q, "alter table leasetop.jobs drop constraint app_rule")
	exec(t, q, "update leasetop.jobs set payload = '1' where id = $1", id)
	ok(t, lock.Rollback(t.Context()))
	q.notes.written.Wait()
	if noted := count(t, q, "select count(*) from leasetop.refusals where job_id = $1", id); noted != 1 {
		t.Errorf("%d notes", noted)
	}
	if refused := must[*Refused](t)(q.RefusedJob(t.Context(), id)); refused != nil {
		t.Errorf("%+v", refused)
	}
}
