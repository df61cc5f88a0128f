package command

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/ui/mask"
)

// secretive fills a database with secrets, wherever people or programs write freely.
const secretive = `
	insert into leasetop.jobs (queue, status, payload, last_error, errors)
	select 'q', 'dead', '{"password": "s3cret-1"}', 'login with password=s3cret-2 failed',
		'[{"attempt": 1, "at": "2026-07-01T12:00:00Z", "worker": "w1", "outcome": "buried", "error": "password=s3cret-3"}]'
	from generate_series(1, 9);
	insert into leasetop.jobs (queue, payload, last_error) values ('q', '{"password": "s3cret-1"}', 'password=s3cret-2');
	insert into leasetop.jobs_archive (id, queue, payload, status, attempts, max_attempts, run_at, last_error, created_at, updated_at, kind, errors, archived_by, archived_why)
	select 100, queue, payload, status, 5, 5, run_at, last_error, created_at, updated_at, kind, errors, 'ann', 'password=s3cret-4' from leasetop.jobs where id = 1;
	insert into leasetop.originals (job_id, by_whom, reason, payload) values (2, 'ann', 'password=s3cret-5', '{"password": "s3cret-6"}');
	insert into leasetop.queues (queue, paused_at, paused_by, paused_why) values ('paused', now(), 'ann', 'password=s3cret-7');
	insert into leasetop.redrive_plans (by_whom, filter, reason, canary, wait, pace, stop_at, state, state_by, why, total)
	values ('ann', 'error:"password=s3cret-8"', 'password=s3cret-9', 0, false, 0, 0, 'paused', 'ann', 'password=s3cret-10', 1);
	insert into leasetop.redrive_jobs (plan, position, job_id, state, reason) values (1, 1, 9, 'skipped', 'password=s3cret-11');
	insert into leasetop.operator_log (by_whom, what, filter, reason, error, ended)
	values ('ann', 'redrive', 'error:"password=s3cret-12"', 'password=s3cret-13', 'password=s3cret-14', now())`

// Whatever a command prints for people, secrets in it are masked: for every command that
// there is, and for what flags have it print.
func TestSecretsAreMaskedInWhatEveryCommandPrints(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), secretive); err != nil {
		t.Fatal(err)
	}
	shows := []string{ // each shows something of a secret's surroundings
		"show 2", "show 100", "jobs", "jobs --payload", "jobs --archived --payload", "dead list", "dead list --payload", "dead groups",
		"redrive 2 --dry-run", "discard 2 --dry-run", "restore 100 --dry-run", "cancel 10 --dry-run",
		"edit 2 --payload {\"password\":\"s3cret-new\"} --dry-run", "plan list", "plan show 1 --jobs skipped", "log", "depth", "pause paused",
	}
	for i, line := range append(shows, commandLines()...) {
		out, _ := said(t, url, nil, line)
		if strings.Contains(out, "s3cret") {
			t.Errorf("leasetop %s printed\n%s", line, out)
		}
		if i < len(shows) && !strings.Contains(out, mask.Mask) {
			t.Errorf("leasetop %s shows nothing of a secret, not even that there is one:\n%s", line, out)
		}
	}
}
