package languages

import (
	"math/rand/v2"
	"syscall"
	"testing"
)

// Processes are killed in mid-work, again and again: every job ends completed, and those
// that ran more often than once say so in their histories.
func TestKillsLoseNothing(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		_, url := open(t)
		conn := connect(t, url)
		const jobs, kills, seed = 300, 5, 7
		do(t, conn, `insert into leasetop.jobs (queue, max_attempts) select 'emails', 100 from generate_series(1, $1)`, jobs)
		dice, began := rand.New(rand.NewPCG(seed, seed)), 0
		for range kills {
			p := start(t, l, options{URL: url, Lease: 1, Slots: 1 + dice.IntN(5)})
			wait(t, func() bool { return p.count("began .*") > dice.IntN(40) }, func() string { return "it does not begin" })
			p.signal(syscall.SIGKILL)
			p.exit()
			began += p.count("began .*")
		}
		last := start(t, l, options{URL: url, Lease: 1, Slots: 5})
		settled(t, conn, `select count(*) from leasetop.jobs where status = 'completed'`, jobs)
		began += last.count("began .*")
		again := value[int](t, conn, `select coalesce(sum(attempts - 1), 0) from leasetop.jobs`)
		lost := value[int](t, conn, `select count(*) from leasetop.jobs, jsonb_array_elements(errors) where value ->> 'outcome' = 'lost'`)
		t.Logf("%d runs began, %d claims were lost", began, lost)
		if lost != again || began > jobs+lost || began < jobs {
			t.Errorf("%d runs of %d jobs: %d attempts too many, %d lost", began, jobs, again, lost)
		}
	})
}
