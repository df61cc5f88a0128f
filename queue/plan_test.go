package queue

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// The plans are pinned: which index carries each statement, whichever plan the
// server's cache takes, with statistics as they should be and as they are when
// nobody analyzed since the table was empty.
func TestPlans(t *testing.T) {
	t.Parallel()
	const (
		queue = "'emails'"
		token = "'host:1:boot/w1#7'"
		text  = `'$[7] like_regex "421" flag "iq"'`
		start = ", '', '-infinity', 0"
		steps = start + ", 'emails', now(), 250000"
	)
	// The jobs in processing, and 900 more.
	arrays := func(n int) string {
		ids, owners := make([]string, n), make([]string, n)
		for i := range n {
			ids[i], owners[i] = fmt.Sprint(200001+i), fmt.Sprint("worker ", 1+i)
		}
		return fmt.Sprintf("'{%s}', '{%s}'", strings.Join(ids, ","), strings.Join(owners, ","))
	}
	large := []string{"jobs", "jobs_archive", "once"}
	tables := map[string]*Queue{"fresh": planTable(t), "stale": planTable(t)}
	exec(t, tables["fresh"], "vacuum analyze")
	for _, c := range []struct {
		statement, args string
		indexes         []string // every index that the plan may use
		sorts           bool     // it may sort
		custom          bool     // it is planned anew each time
		large           bool     // with stale statistics it may read the table whole: for a thousand rows of this one that is no slower
		as              string   // the statement that says how it is planned: without a bitmap
	}{
		{statement: "claim", args: queue + "," + token + ", 30, 1, '-infinity', 0, '{}'", indexes: []string{"jobs_ready", "jobs_pkey", "queues_pkey"}},
		{statement: "claim", args: queue + "," + token + ", 30, 1000, now() - interval '1 hour', 7, '{1,2,3}'", indexes: []string{"jobs_ready", "jobs_pkey", "queues_pkey"}},
		{statement: "claimable", args: queue + ", 100, '{}'", indexes: []string{"jobs_ready", "queues_pkey"}},
		{statement: "claim_these", args: queue + "," + token + ", 30, '{1,2,3}'", indexes: []string{"jobs_pkey", "queues_pkey"}},
		{statement: "hold", args: arrays(100) + ", array_fill(3, array[100])", indexes: []string{"jobs_pkey"}, sorts: true},
		{statement: "versions", args: "'{1,2,3}'", indexes: []string{"jobs_pkey"}},
		{statement: "next_due", args: "array['emails', 'reports'], '{}'", indexes: []string{"jobs_ready", "queues_pkey"}},
		{statement: "heartbeat", args: arrays(1) + ", array[30], array[3]", indexes: []string{"jobs_pkey"}, sorts: true},
		{statement: "heartbeat", args: arrays(100) + ", array_fill(30, array[100]), array_fill(3, array[100])", indexes: []string{"jobs_pkey"}, sorts: true},
		{statement: "heartbeat", args: arrays(1000) + ", array_fill(30, array[1000]), array_fill(3, array[1000])", indexes: []string{"jobs_pkey"}, sorts: true, large: true},
		{statement: "lease_owners", args: "array[1, 2, 3], array['a', 'b', 'c']", indexes: []string{"jobs_pkey"}},
		{statement: "complete", args: arrays(1), indexes: []string{"jobs_pkey"}},
		{statement: "complete", args: arrays(100), indexes: []string{"jobs_pkey"}},
		{statement: "complete", args: arrays(1000), indexes: []string{"jobs_pkey"}, large: true},
		{statement: "complete_unlocked", args: arrays(1), indexes: []string{"jobs_pkey"}, sorts: true},
		{statement: "complete_unlocked", args: arrays(100), indexes: []string{"jobs_pkey"}, sorts: true},
		{statement: "complete_unlocked", args: arrays(1000), indexes: []string{"jobs_pkey"}, sorts: true, large: true},
		{statement: "retry", args: "200001," + token + ", 'x', 60", indexes: []string{"jobs_pkey"}},
		{statement: "bury", args: "200001," + token + ", 'x'", indexes: []string{"jobs_pkey"}},
		{statement: "release", args: "200001," + token + ", 0", indexes: []string{"jobs_pkey"}},
		{statement: "reclaimable", args: "100, null, '{}'", indexes: []string{"jobs_active"}, sorts: true},
		{statement: "reclaim", args: "100, null, '{}', null", indexes: []string{"jobs_active", "jobs_pkey"}, sorts: true},
		{statement: "reclaim", args: "100, '{emails,reports}', '{1,2,3}', null", indexes: []string{"jobs_active", "jobs_pkey"}, sorts: true},
		{statement: "next_expiry", args: "null, '{}'", indexes: []string{"jobs_active"}},
		{statement: "next_expiry", args: "'{emails,reports}', '{}'", indexes: []string{"jobs_active"}},
		{statement: "expiry_to_come", args: "null, '{}'", indexes: []string{"jobs_active"}},
		{statement: "expiry_to_come", args: "'{emails,reports}', '{}'", indexes: []string{"jobs_active"}},
		{statement: "leases", args: "100", indexes: []string{"jobs_active"}, sorts: true},
		{statement: "redrive", args: "array[220101, 220102], 'ann', false", indexes: []string{"jobs_pkey", "redrive_jobs_once"}, sorts: true},
		{statement: "redrive", args: "array[220101], 'ann', true", indexes: []string{"jobs_pkey", "redrive_jobs_once"}, sorts: true},
		{statement: "edit", args: "220101, '{}', '{\"n\": 1}', 'ann', 'why'", indexes: []string{"jobs_pkey"}},
		{statement: "run_now", args: "array[200001, 200200], 'ann'", indexes: []string{"jobs_pkey"}, sorts: true},
		{statement: "take_back", args: "200001," + token + ", 'ann'", indexes: []string{"jobs_pkey"}},
		{statement: "why_waiting", args: "1, 10000", indexes: []string{"jobs_pkey", "jobs_ready", "jobs_active", "queues_pkey"}},
		{statement: "get_archived", args: "1, null", indexes: []string{"jobs_archive_pkey"}, sorts: true},
		{statement: "whereabouts", args: "1", indexes: []string{"jobs_pkey", "jobs_archive_pkey"}},
		{statement: "cancel", args: "array[200001, 200200], 'ann', false", indexes: []string{"jobs_pkey"}, sorts: true},
		{statement: "cancel", args: "array[200001], 'ann', true", indexes: []string{"jobs_pkey"}, sorts: true},
		{statement: "discard", args: "array[220101, 220102], 'ann', 'why', 1", indexes: []string{"jobs_pkey", "jobs_archive_pkey"}, sorts: true},
		{statement: "archived_by_act", args: "1", indexes: []string{"jobs_archive_act"}, sorts: true},
		{statement: "restore", args: "array[1, 2], 'ann'", indexes: []string{"jobs_pkey", "jobs_archive_pkey"}, sorts: true},
		{statement: "purge_completed", args: "'5', 60, null, 2000", indexes: []string{"jobs_pkey"}, sorts: true},
		{statement: "purge_completed", args: "'5', 60, 'emails', 2000", indexes: []string{"jobs_pkey"}, sorts: true},
		{statement: "purge_archive", args: "'5', 60, null, 2000", indexes: []string{"jobs_archive_pkey"}, sorts: true, large: true},
		{statement: "purge_once", args: "'key 5', 60, null, 2000", indexes: []string{"once_pkey"}, sorts: true},
		{statement: "archive", args: "null, 9223372036854775807, 50", indexes: []string{"jobs_archive_pkey"}},
		{statement: "archived_payloads", args: "array[1, 2], null, 1000000", indexes: []string{"jobs_archive_pkey"}, sorts: true},
		{statement: "payloads", args: "array[1, 220101, 0], 100, 1000000", indexes: []string{"jobs_pkey"}, sorts: true},
		{statement: "list_dead", args: "null, 'infinity', 9223372036854775807, null, false, 50, 51", indexes: []string{"jobs_dead", "jobs_pkey"}, sorts: true, custom: true, as: "depth_plan"},
		{statement: "list_dead", args: "'{emails}', now(), 5, null, false, 50, 51", indexes: []string{"jobs_dead", "jobs_pkey"}, sorts: true, custom: true, as: "depth_plan"},
		{statement: "list_dead", args: "null, 'infinity', 9223372036854775807, " + text + ", false, 50, 10000", indexes: []string{"jobs_dead", "jobs_pkey"}, sorts: true, custom: true, as: "depth_plan"},
		{statement: "dead_since", args: "null", indexes: []string{"jobs_dead"}},
		{statement: "dead_since", args: "'{emails}'", indexes: []string{"jobs_dead"}, sorts: true}, // of nothing
		{statement: "dead_steps", args: "null" + start + ", 1000, 100", indexes: []string{"jobs_dead"}, sorts: true, custom: true, as: "dead_plan"},
		{statement: "dead_steps", args: queue + start + ", 1, 1000", indexes: []string{"jobs_dead"}, sorts: true, custom: true, as: "dead_plan"},
		{statement: "dead_matching", args: "null" + steps + ", null, null, false", indexes: []string{"jobs_dead"}, custom: true, as: "dead_plan"},
		{statement: "dead_matching", args: queue + steps + ", '{dead}', " + text + ", true", indexes: []string{"jobs_dead"}, custom: true, as: "dead_plan"},
		{statement: "dead_groups", args: "null" + steps + ", null, null, false, array[now() - interval '1 day', now() - interval '1 hour']", indexes: []string{"jobs_dead"}, custom: true, as: "dead_plan"},
		{statement: "dead_groups", args: queue + steps + ", now(), " + text + ", true, array[now() - interval '1 day', now() - interval '1 hour']", indexes: []string{"jobs_dead"}, custom: true, as: "dead_plan"},
		{statement: "list", args: "null, null, null, null, false, 9223372036854775807, 50", indexes: []string{"jobs_pkey"}, custom: true},
		{statement: "list", args: "null, '{processing}', null, " + text + ", false, 9223372036854775807, 50", indexes: []string{"jobs_active", "jobs_pkey"}, sorts: true, custom: true},
		{statement: "scan", args: "null, null, null, null, false, 9223372036854775807, 100, 10000", indexes: []string{"jobs_pkey"}, custom: true, as: "depth_plan"},
		{statement: "scan", args: "'rare', '{completed}', null, " + text + ", false, 9223372036854775807, 100, 10000", indexes: []string{"jobs_pkey"}, custom: true, as: "depth_plan"},
		{statement: "scan_up", args: "'rare', '{pending}', true, " + text + ", true, 0, 100, 10000", indexes: []string{"jobs_pkey"}, custom: true, as: "depth_plan"},
		{statement: "scan_indexed", args: "null, '{pending}', false, null, false, 0, 9223372036854775807, false, 100, 10001", indexes: []string{"jobs_ready", "jobs_pkey"}, sorts: true, custom: true, as: "depth_plan"},
		{statement: "scan_indexed", args: queue + ", '{processing,failed}', null, " + text + ", false, 0, 9223372036854775807, true, 100, 10001", indexes: []string{"jobs_active", "jobs_dead", "jobs_ready", "jobs_pkey"}, sorts: true, custom: true, as: "depth_plan"},
		{statement: "by_id", args: "array[1, 220101, 0]", indexes: []string{"jobs_pkey"}, sorts: true},
		{statement: "get", args: "1, null", indexes: []string{"jobs_pkey"}, sorts: true},
		{statement: "key_holders", args: "array['emails'], array['k']", indexes: []string{"jobs_idempotency"}},
		{statement: "depth", args: "1000, 1", indexes: []string{"jobs_ready", "jobs_active", "jobs_dead"}, sorts: true, custom: true, as: "depth_plan"},
		{statement: "depth", args: "null, 100", indexes: []string{"jobs_ready", "jobs_active", "jobs_dead"}, sorts: true, custom: true, as: "depth_plan"},
		{statement: "vitals", args: "null, 100000, 600, 5", indexes: []string{"jobs_ready", "jobs_active", "jobs_dead"}, sorts: true, custom: true, as: "depth_plan"},
		{statement: "vitals", args: queue + ", 100000, 600, 5", indexes: []string{"jobs_ready", "jobs_active", "jobs_dead"}, sorts: true, custom: true, as: "depth_plan"},
	} {
		for statistics, q := range tables {
			for _, mode := range []string{"custom", "generic"} {
				if c.custom && mode == "generic" {
					continue
				}
				t.Run(fmt.Sprintf("%s(%.40s) %s %s", c.statement, c.args, statistics, mode), func(t *testing.T) {
					t.Parallel()
					for _, node := range planOf(t, q, c.statement, c.args, mode, c.as) {
						switch {
						case node.Index != "" && !slices.Contains(c.indexes, node.Index):
							t.Errorf("uses %s", node.Index)
						case node.Type == "Seq Scan" && slices.Contains(large, node.Relation) && !(c.large && statistics == "stale"):
							t.Errorf("reads the whole table")
						case strings.HasPrefix(node.Type, "Bitmap") && c.as != "":
							t.Errorf("makes a bitmap of %s", node.Index)
						case strings.Contains(node.Type, "Sort") && !c.sorts:
							t.Errorf("sorts")
						}
					}
				})
			}
		}
	}
}

// planTable is a queue that has seen some work, its statistics from when it was empty.
func planTable(t *testing.T) *Queue {
	t.Helper()
	q := open(t)
	for _, table := range []string{"jobs", "jobs_archive", "once"} {
		exec(t, q, "alter table leasetop."+table+" set (autovacuum_enabled = off)")
		exec(t, q, "analyze leasetop."+table)
	}
	exec(t, q, "insert into leasetop.once select 'key ' || n from generate_series(1, 50000) n")
	exec(t, q, `insert into leasetop.jobs_archive (id, queue, payload, status, attempts, max_attempts, run_at, created_at, updated_at, kind, errors, archived_by)
		select 1000000 + n, 'emails', '{}', 'dead', 5, 5, now(), now(), now(), '', '[]', 'ann' from generate_series(1, 50000) n`)
	exec(t, q, `insert into leasetop.jobs (queue, status, run_at, attempts, locked_by, lease_expires_at, idempotency_key)
		select (array['emails', 'images', 'reports'])[1 + n % 3],
			case when n <= 200000 then 'completed' when n <= 200100 then 'processing' when n <= 220100 then 'pending' else 'dead' end,
			now() + (n % 7200 - 7000) * interval '1 second', 1,
			case when n between 200001 and 200100 then 'worker ' || n - 200000 end,
			case when n between 200001 and 200100 then now() + (n % 60 - 5) * interval '1 second' end,
			case when n % 10 = 0 then 'key ' || n end
		from generate_series(1, 250100) n`)
	return q
}

// node is one node of a plan.
type node struct {
	Type     string `json:"Node Type"`
	Index    string `json:"Index Name"`
	Relation string `json:"Relation Name"`
	Cond     string `json:"Index Cond"`
	CTE      string `json:"CTE Name"`
	Plans    []node
}

// planOf returns every node of the plan that the server's plan cache would take.
func planOf(t *testing.T, q *Queue, statement, args, mode, as string) (all []node) {
	t.Helper()
	var text string
	ok(t, pgx.BeginFunc(t.Context(), q.Pool(), func(tx pgx.Tx) error {
		if args != "" {
			args = "(" + args + ")"
		}
		before := []string{"deallocate all", "set local plan_cache_mode = force_" + mode + "_plan"}
		if as != "" {
			before = append(before, q.Schema().Query(as))
		}
		for _, sql := range append(before, "prepare planned as "+q.Schema().Query(statement)) {
			if _, err := tx.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
				return err
			}
		}
		err := tx.QueryRow(t.Context(), "explain (format json) execute planned"+args, pgx.QueryExecModeSimpleProtocol).Scan(&text)
		if err == nil {
			_, err = tx.Exec(t.Context(), "deallocate planned")
		}
		return err
	}))
	var plans []struct{ Plan node }
	ok(t, json.Unmarshal([]byte(text), &plans))
	left := []node{plans[0].Plan}
	for len(left) > 0 {
		n := left[0]
		left = append(left[1:], n.Plans...)
		all = append(all, n)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(text)
		}
	})
	return all
}
