package e2e

import (
	"testing"

	"github.com/leasetop/leasetop/ui/term"
)

// A queue paused from the screen is claimed from by nobody, in this process and in
// others, also after kill -9 and another start, until it is resumed.
func TestPausedQueueStaysPausedUntilItIsResumed(t *testing.T) {
	t.Parallel()
	s := start(t, 120, 36)
	s.find(`▸emails`)
	s.Press("P")
	s.confirm("PAUSE QUEUE emails")
	s.find(`✓ paused emails: what runs goes on`)
	s.find(`▸‖emails`)
	s.find(`‖ emails paused \d+s by \S+@\S+`)
	s.Until("what ran has ended", func(*term.Frame) bool {
		return query[int](s, `select count(*) from leasetop.jobs where queue = 'emails' and status = 'processing'`) == 0
	})
	claimed := func() int {
		return query[int](s, `select coalesce(sum(attempts), 0)::int from leasetop.jobs where queue = 'emails'`)
	}
	before := claimed()

	s.kill9()
	s.open(80, 24) // others than emails complete
	s.find(`▸‖emails`)
	s.find(`‖ emails paused .* by \S+@\S+`)
	s.Press("b") // most of them mails
	s.Until("mails waiting", func(*term.Frame) bool {
		return query[int](s, `select count(*) from leasetop.jobs where queue = 'emails' and status = 'pending'`) > 100
	})
	s.Until("images of the burst completing", func(*term.Frame) bool {
		return query[int](s, `select count(*) from leasetop.jobs where queue = 'images' and status = 'completed'`) > 5
	})
	if now := claimed(); now != before {
		t.Errorf("%d claims of mails while they were paused", now-before)
	}
	s.Press("P")
	s.confirm("RESUME QUEUE emails")
	s.find(`✓ resumed emails: workers claim from it again`)
	s.find(`▸emails `)
	s.Until("mails claimed", func(*term.Frame) bool { return claimed() > before })
}

// Somebody else's pause is seen, and a worker that heeds none is called out by name.
func TestForeignWorkerOnAPausedQueueIsNamed(t *testing.T) {
	t.Parallel()
	s := start(t, 160, 40)
	if out, err := s.leasetop("pause", "slow"); err != nil {
		t.Fatal(out, err)
	}
	s.find(`‖slow +0 +0 +0`) // it has no jobs
	s.exec(`insert into leasetop.jobs (queue, status, attempts, locked_at, locked_by, lease_expires_at)
		values ('slow', 'processing', 1, now() - interval '1 minute', 'node-worker-1', now() + interval '1 hour')`)
	s.find(`‖ slow paused .* · 1 still running: node-worker-1`)
	s.exec(`insert into leasetop.jobs (queue, status, attempts, locked_at, locked_by, lease_expires_at)
		values ('slow', 'processing', 1, now() + interval '3 seconds', 'node-worker-2', now() + interval '1 hour')`)
	s.find(`‖ slow paused .* · ! still claiming: node-worker-2`)
}
