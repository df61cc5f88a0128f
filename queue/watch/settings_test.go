package watch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// What an administrator may have set for the role, the database or the server, and what
// none of the feed's three connections may be moved by.
var oddSettings = map[string]string{
	"timezone":                            "Asia/Kathmandu",
	"datestyle":                           "German",
	"intervalstyle":                       "sql_standard",
	"bytea_output":                        "escape",
	"extra_float_digits":                  "-15",
	"standard_conforming_strings":         "off",
	"search_path":                         "nowhere",
	"default_transaction_isolation":       "serializable",
	"default_transaction_deferrable":      "on",
	"row_security":                        "off",
	"transform_null_equals":               "on",
	"lc_numeric":                          "C",
	"client_min_messages":                 "debug2",
	"synchronous_commit":                  "off",
	"idle_in_transaction_session_timeout": "1ms",
	"idle_session_timeout":                "3s",
	"wal_sender_timeout":                  "0",
	"track_activities":                    "off",
}

func TestOddSettingsOfTheRoleChangeNothing(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t, "autovacuum=off", "log_timezone=Pacific/Apia"))
	psql, q := client(t, url), open(t, url)
	exec(t, psql, "CREATE ROLE odd LOGIN SUPERUSER")
	for name, value := range oddSettings {
		exec(t, psql, fmt.Sprintf("ALTER ROLE odd SET %s = '%s'", name, value))
	}
	exec(t, psql, `INSERT INTO leasetop.jobs (queue, run_at) VALUES ('times', 'infinity'), ('times', '-infinity'),
		('times', '294276-12-31 23:59:59.999999Z'), ('times', '4713-01-01 00:00:00Z BC'), ('times', '2030-03-31 02:30:00 Europe/Berlin')`)
	for range 2 {
		enqueue(t, q, queue.NewJob{})
		claim(t, q, time.Hour)
	}
	f := start(t, open(t, strings.Replace(url, "postgres@", "odd@", 1)), Options{})
	s := exact(t, f, psql)
	if s.Server.User != "odd" || s.Server.ReadOnly || s.Clock.Skew.Abs() > time.Second {
		t.Errorf("%+v %+v", s.Server, s.Clock)
	}
	enqueue(t, q, queue.NewJob{})
	enqueue(t, q, queue.NewJob{Delay: time.Hour})
	job := claim(t, q, time.Hour)
	s = exact(t, f, psql)
	if l := s.Leases.List[2]; !l.LockedAt.Equal(*job.LockedAt) || l.Owner != job.LockedBy {
		t.Errorf("lease %+v of %+v", l, job)
	}
	do(t, q.Bury(t.Context(), job.Lease(), `C:\temp is 'full'`))
	s = await(t, f, "the dead letter", func(s *State) bool { return len(s.Dead.Latest) == 1 })
	exact(t, f, psql)
	var died time.Time
	do(t, psql.QueryRow(t.Context(), "SELECT died_at FROM leasetop.jobs WHERE id = $1", job.ID).Scan(&died))
	if d := s.Dead.Latest[0]; d.LastError != `C:\temp is 'full'` || d.DiedAt == nil || !d.DiedAt.Equal(died) {
		t.Errorf("%+v, died at %v", d, died)
	}
	if notes := healthOf(s); len(notes) > 0 {
		t.Errorf("health: %q", notes)
	}
}
