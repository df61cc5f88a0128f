package scenariotest

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/workers/scenario"
)

// lookAgain is between two looks at what is left.
const lookAgain = 20 * time.Millisecond

// Left is what plays left behind in the database, in words; "" is nothing. Sessions that were closed end a moment later.
func Left(t *testing.T, g scenario.Ground) string {
	t.Helper()
	for began := time.Now(); ; time.Sleep(lookAgain) {
		left := found(t, g)
		if !strings.Contains(left, "sessions ") || time.Since(began) > time.Minute {
			return left
		}
	}
}

func found(t *testing.T, g scenario.Ground) string {
	t.Helper()
	var left string
	if err := g.Queue.Pool().QueryRow(context.WithoutCancel(t.Context()), `select concat_ws(' ',
		(select 'jobs ' || string_agg(queue, ',') from leasetop.jobs where queue <> 'stranger'),
		(select 'archive ' || string_agg(queue, ',') from leasetop.jobs_archive),
		(select 'keys ' || string_agg(key, ',') from leasetop.once),
		(select 'plans ' || string_agg(id::text, ',') from leasetop.redrive_plans),
		(select 'schemas ' || string_agg(nspname, ',' order by nspname) from pg_namespace where nspname like 'leasetop\_play%'),
		(select 'publications ' || string_agg(pubname, ',') from pg_publication where pubname like 'leasetop\_play%'),
		(select 'sessions ' || string_agg(application_name, ',') from pg_stat_activity
		  where datname = current_database() and (application_name = 'leasetop audience' or starts_with(application_name, 'leasetop scenario'))))`).Scan(&left); err != nil {
		t.Fatal(err)
	}
	return left
}

// Servers are the folders of the servers that plays have, or left behind.
func Servers(t *testing.T, g scenario.Ground) []string {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(g.Dir, "play-*"))
	if err != nil {
		t.Fatal(err)
	}
	return folders
}
