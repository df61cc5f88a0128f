package queue

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue/filter"
)

// every names each operation that reads or writes the table, on a job that is running
// under lease and one that is dead.
func every(q *Queue, running Lease, dead int64) map[string]func(context.Context) error {
	only := func(err error) error {
		if errors.Is(err, ErrLeaseLost) { // an earlier operation ended it
			return nil
		}
		return err
	}
	still := func(err error) error {
		if errors.Is(err, ErrEdited) || errors.Is(err, ErrNotFound) { // an earlier operation did
			return nil
		}
		return err
	}
	jobs := []NewJob{{Queue: "emails"}, {Queue: "emails", IdempotencyKey: "k"}}
	inTx := func(ctx context.Context, do func(pgx.Tx) error) error {
		return pgx.BeginFunc(ctx, q.Pool(), do)
	}
	return map[string]func(context.Context) error{
		"ping":         q.Ping,
		"migrate":      q.Migrate,
		"enqueue":      func(ctx context.Context) error { _, err := q.Enqueue(ctx, jobs...); return err },
		"enqueue one":  func(ctx context.Context) error { _, err := q.Enqueue(ctx, jobs[0]); return err },
		"enqueue many": func(ctx context.Context) error { _, err := q.EnqueueMany(ctx, jobs); return err },
		"enqueue tx": func(ctx context.Context) error {
			return inTx(ctx, func(tx pgx.Tx) error { _, err := q.EnqueueTx(ctx, tx, jobs...); return err })
		},
		"claim": func(ctx context.Context) error {
			_, err := q.Claim(ctx, ClaimRequest{Queue: "emails", Owner: owner(), Lease: time.Minute, Limit: 1})
			return err
		},
		"heartbeat": func(ctx context.Context) error {
			_, err := q.Heartbeat(ctx, []Renewal{{Lease: running, For: time.Minute}})
			return err
		},
		"lost": func(ctx context.Context) error {
			_, err := q.Heartbeat(ctx, []Renewal{{Lease: Lease{dead, "x"}, For: time.Minute}})
			return err
		},
		"complete": func(ctx context.Context) error { return only(q.Complete(ctx, running)) },
		"complete tx": func(ctx context.Context) error {
			return inTx(ctx, func(tx pgx.Tx) error { return only(q.CompleteTx(ctx, tx, running)) })
		},
		"retry":          func(ctx context.Context) error { _, err := q.Retry(ctx, running, "503", 0); return only(err) },
		"bury":           func(ctx context.Context) error { return only(q.Bury(ctx, running, "poison")) },
		"release":        func(ctx context.Context) error { return only(errorOf(q.Release(ctx, running))) },
		"snooze":         func(ctx context.Context) error { return only(errorOf(q.Snooze(ctx, running, time.Minute))) },
		"reclaim":        func(ctx context.Context) error { _, err := q.Reclaim(ctx, 10); return err },
		"next due":       func(ctx context.Context) error { _, _, err := q.NextDue(ctx, []string{"emails"}); return err },
		"expiry to come": func(ctx context.Context) error { _, _, err := q.ExpiryToCome(ctx); return err },
		"next expiry":    func(ctx context.Context) error { _, _, err := q.NextExpiry(ctx); return err },
		"once": func(ctx context.Context) error {
			return inTx(ctx, func(tx pgx.Tx) error { _, err := q.Once(ctx, tx, "k"); return err })
		},
		"redrive": func(ctx context.Context) error { _, err := q.Redrive(ctx, "ann", dead); return err },
		"cancel":  func(ctx context.Context) error { _, err := q.Cancel(ctx, "ann", running.ID); return err },
		"edit": func(ctx context.Context) error {
			return still(errorOf(q.EditPayload(ctx, "ann", Edit{ID: dead, Was: []byte(`{}`), Payload: []byte(`{"n": 1}`)})))
		},
		"edit and redrive": func(ctx context.Context) error {
			return still(errorOf(q.EditPayload(ctx, "ann", Edit{ID: dead, Was: []byte(`{}`), Payload: []byte(`{}`), Redrive: true})))
		},
		"originals":   func(ctx context.Context) error { _, err := q.Originals(ctx, dead); return err },
		"key holder":  func(ctx context.Context) error { _, err := q.KeyHolder(ctx, "emails", "k"); return err },
		"run now":     func(ctx context.Context) error { _, err := q.RunNow(ctx, "ann", dead); return err },
		"take back":   func(ctx context.Context) error { return only(q.TakeBack(ctx, "ann", running)) },
		"why waiting": func(ctx context.Context) error { _, err := q.WhyWaiting(ctx, dead); return still(err) },
		"logged": func(ctx context.Context) error {
			return q.Logged(ctx, Act{By: "ann", What: "redrive"}, func(context.Context) (int, int, error) { return 0, 0, nil })
		},
		"acts":       func(ctx context.Context) error { _, err := q.Acts(ctx, 0, 10); return err },
		"pause":      func(ctx context.Context) error { _, err := q.Pause(ctx, "ann", "", "emails"); return err },
		"resume":     func(ctx context.Context) error { _, err := q.Resume(ctx, "emails"); return err },
		"plan":       func(ctx context.Context) error { return still(errorOfPlan(q.Plan(ctx, 4711))) },
		"plans":      func(ctx context.Context) error { _, err := q.Plans(ctx, 0, 10); return err },
		"plan jobs":  func(ctx context.Context) error { _, err := q.PlanJobs(ctx, 4711, 0, 10, "skipped"); return err },
		"pause plan": func(ctx context.Context) error { return still(errorOfPlan(q.PausePlan(ctx, "ann", "", 4711))) },
		"redrive plan": func(ctx context.Context) error {
			p, err := q.StartPlan(ctx, "ann", NewPlan{IDs: []int64{dead}})
			for _, next := range []func(context.Context, string, string, int64) (Plan, error){q.PausePlan, q.ResumePlan, nil, q.UndoPlan, nil} {
				switch {
				case err != nil:
				case next == nil:
					p, err = q.ExecutePlan(ctx, p.ID, nil)
				default:
					p, err = next(ctx, "ann", "", p.ID)
				}
			}
			return err
		},
		"pauses":            func(ctx context.Context) error { _, err := q.Pauses(ctx); return err },
		"discard":           func(ctx context.Context) error { _, err := q.Discard(ctx, "ann", "", dead); return err },
		"restore":           func(ctx context.Context) error { _, err := q.Restore(ctx, "ann", dead); return err },
		"archive":           func(ctx context.Context) error { _, err := q.Archive(ctx, "", 0, 10); return err },
		"archived by act":   func(ctx context.Context) error { _, err := q.ArchivedByAct(ctx, 1); return err },
		"archived ids":      func(ctx context.Context) error { _, err := q.ArchivedIDs(ctx, ""); return err },
		"archived payloads": func(ctx context.Context) error { return firstError(q.ArchivedPayloads(ctx, 0, dead)) },
		"purge completed":   func(ctx context.Context) error { _, err := q.Purge(ctx, Purge{What: PurgeCompleted}, nil); return err },
		"purge archive":     func(ctx context.Context) error { _, err := q.Purge(ctx, Purge{What: PurgeArchive}, nil); return err },
		"purge plans":       func(ctx context.Context) error { _, err := q.Purge(ctx, Purge{What: PurgePlans}, nil); return err },
		"purge once":        func(ctx context.Context) error { _, err := q.Purge(ctx, Purge{What: PurgeOnce}, nil); return err },
		"keep chore":        func(ctx context.Context) error { return q.KeepChore(ctx, "retention", time.Hour) },
		"take chore":        func(ctx context.Context) error { _, err := q.TakeChore(ctx, "retention", time.Hour); return err },
		"depth":             func(ctx context.Context) error { _, err := q.Depth(ctx, 10); return err },
		"vitals":            func(ctx context.Context) error { _, err := q.Vitals(ctx, VitalsOf{}); return err },
		"list":              func(ctx context.Context) error { _, _, err := q.List(ctx, Filter{}, Page{}); return err },
		"list dead": func(ctx context.Context) error {
			_, _, err := q.List(ctx, Filter{Statuses: DeadLetters}, Page{})
			return err
		},
		"list filtered": func(ctx context.Context) error {
			_, _, err := q.List(ctx, Filter{Where: saying("x")}, Page{})
			return err
		},
		"dead letters": func(ctx context.Context) error {
			_, err := q.DeadLetters(ctx, saying(`!error:"\\d+' --"`), DeadStretch{})
			return err
		},
		"dead groups": func(ctx context.Context) error {
			_, err := q.DeadGroups(ctx, saying("queue:emails,images payload.to:ann"), 0)
			return err
		},
		"matching": func(ctx context.Context) error {
			_, err := q.Matching(ctx, Filter{Where: saying("x")}, nil)
			return err
		},
		"matching dead": func(ctx context.Context) error {
			_, err := q.Matching(ctx, Filter{Statuses: DeadLetters, Where: saying("x")}, nil)
			return err
		},
		"by id": func(ctx context.Context) error { _, err := q.ByID(ctx, dead); return err },
		"scan":  func(ctx context.Context) error { _, err := q.Scan(ctx, Filter{}, Stretch{}); return err },
		"scan indexed": func(ctx context.Context) error {
			_, err := q.Scan(ctx, Filter{Statuses: DeadLetters}, Stretch{})
			return err
		},
		"scan filtered": func(ctx context.Context) error {
			_, err := q.Scan(ctx, Filter{Statuses: DeadLetters, Where: saying("queue:emails,images x")}, Stretch{})
			return err
		},
		"leases": func(ctx context.Context) error { _, err := q.Leases(ctx, 10); return err },
		"get": func(ctx context.Context) error {
			_, err := q.Get(ctx, dead)
			if errors.Is(err, ErrNotFound) { // discarded
				return nil
			}
			return err
		},
		"payloads": func(ctx context.Context) error { return firstError(q.Payloads(ctx, 0, dead)) },
	}
}

// saying is a filter that can be meant.
func saying(text string) filter.Filter {
	where, err := filter.Parse(text)
	if err != nil {
		panic(err)
	}
	return where
}

var (
	runGrant = regexp.MustCompile(`: run (GRANT [A-Z, ]+ ON [A-Za-z_. ]+ TO leasetop_test_[0-9a-f]+)$`)
	anyGrant = regexp.MustCompile(`GRANT [A-Z, ]+ ON [A-Za-z_. ]+ TO leasetop_test_[0-9a-f]+`)
)

// A role without any right is told in each operation's error which GRANT to run, and
// when all it was told has been run, the operation works.
func TestErrorsNameTheGrantThatCuresThem(t *testing.T) {
	t.Parallel()
	for operation := range every(nil, Lease{}, 0) {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			owner := open(t)
			lease, dead := claimed(t, owner, NewJob{}, time.Minute), buried(t, owner, NewJob{})
			exec(t, owner, "revoke execute on all functions in schema leasetop from public")
			q := openAs(t, owner)
			do := every(q, lease, dead)[operation]
			var run []string
			for {
				err := do(t.Context())
				if err == nil {
					break
				}
				grants := anyGrant.FindAllString(err.Error(), -1)
				if !errors.Is(err, ErrForbidden) || len(grants) == 0 || operation != "migrate" && !runGrant.MatchString(err.Error()) || slices.Contains(run, grants[0]) {
					t.Fatalf("after %q: %v", run, err)
				}
				for _, grant := range grants {
					exec(t, owner, grant)
				}
				run = append(run, grants...)
			}
			if len(run) == 0 {
				t.Error("it needs no right")
			}
			t.Log(strings.Join(run, "; "))
		})
	}
}
