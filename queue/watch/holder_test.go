package watch

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local/testdb"
)

// Rows of partitions and of tables that inherit change under other names than the table's: the
// feed polls, says why, and counts them.
func TestRowsThatLieInOtherTables(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t)
	for where, harm := range map[string]string{
		"tables that inherit from it": "create table leasetop.jobs_old () inherits (leasetop.jobs); insert into leasetop.jobs_old (id, queue) values (7, 'emails')",
		"its partitions": `create table leasetop.parts (like leasetop.jobs including defaults including generated) partition by list (queue);
			create table leasetop.jobs_emails partition of leasetop.parts default;
			alter table leasetop.jobs rename to jobs_before; alter table leasetop.parts rename to jobs;
			insert into leasetop.jobs (id, queue) values (7, 'emails')`,
	} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			url := testdb.On(t, server)
			_, err := client(t, url).Exec(t.Context(), harm, pgx.QueryExecModeSimpleProtocol)
			if err != nil {
				t.Fatal(err)
			}
			f := start(t, open(t, url), Options{})
			s := await(t, f, "the reason, or the stream", func(s *State) bool { return s.Depths.Source == Polled && strings.Contains(s.WAL.Reason, where) })
			if len(s.Depths.Queues) != 1 || s.Depths.Queues[0].Ready != 1 {
				t.Errorf("%+v", s.Depths.Queues)
			}
		})
	}
}

// A table that gets its first such row while the feed streams is polled from the next checkup on.
func TestRowsThatComeToLieInOtherTables(t *testing.T) {
	t.Parallel()
	url := testdb.On(t, testdb.Server(t))
	f := start(t, open(t, url), Options{})
	await(t, f, "the reason, or the stream", func(s *State) bool { return s.Depths.Source == FromWAL })
	exec(t, client(t, url), "create table leasetop.jobs_old () inherits (leasetop.jobs)")
	f.Refresh()
	await(t, f, "the reason, or the stream", func(s *State) bool {
		return s.Depths.Source == Polled && strings.Contains(s.WAL.Reason, "tables that inherit from it")
	})
}
