package e2e

import "testing"

// Jobs are found by queue and status over a real terminal and database, and what becomes
// of them, by another's SQL and by an act of one's own, comes to the screen by itself.
func TestJobsAreFoundByQueueAndStatus(t *testing.T) {
	t.Parallel()
	s := start(t, 120, 36)
	s.exec(`insert into leasetop.jobs (queue, kind, status, last_error)
		select 'archive', 'pack', case when n % 40 = 7 then 'failed' else 'completed' end, case when n % 40 = 7 then 'disk full at ' || n end
		from generate_series(1, 400) n`)
	s.Press("2")
	s.find(`JOBS all ~?\d+`)
	s.Press("Q")
	s.Expect("JOBS OF WHICH QUEUE")
	for _, letter := range "chiv" {
		s.Press(string(letter))
	}
	s.find(`▸ archive`)
	s.Press("enter")
	s.find(`JOBS archive · any status ~?400`)
	s.Press("S")
	s.Expect("no job is dead in archive")
	s.Press("S")
	s.find(`JOBS archive · failed 10 `)
	s.find(`▸ *\d+ +pack +✗ failed .* disk full at 367`)

	s.exec(`delete from leasetop.jobs where last_error = 'disk full at 367'`)
	s.find(`▸ *\d+ +pack +✗ failed .* disk full at 327`)
	s.Press("r")
	s.confirm("REDRIVE JOB")
	s.find(`✓ redriven: pending again`)
	s.find(`▸ *\d+ +pack +✗ failed .* disk full at 287`)
	s.find(`JOBS archive · failed 8 `)

	s.Press("s")
	s.Press("s")
	s.Press("s")
	s.find(`JOBS archive · ready 1 `)
	s.find(`▸ *\d+ +pack +○ ready .* disk full at 327`)
	s.Press("enter")
	s.find(`JOB \d+ archive/pack`)
	s.find(`status +pending`)
}
