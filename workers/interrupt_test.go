package workers

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

func TestSignalDrainsAWorkerProcess(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			url := testdb.New(t)
			q := openAt(t, url, nil)
			ids := enqueue(t, q, many(2, queue.NewJob{})...)
			p := runProcess(t, url, "heedful")
			p.hear(t, "began")
			p.signal(t, s)
			p.hear(t, "draining; once more forces")
			p.open(t) // the handler finishes, and its outcome lands, after the signal
			if status, said := p.end(t); status.ExitStatus() != 0 {
				t.Errorf("it ended with status %d:\n%s", status.ExitStatus(), said)
			}
			for i, want := range []queue.Status{queue.Completed, queue.Pending} {
				if job := get(t, q, ids[i]); job.Status != want || job.Attempts != 1-i {
					t.Errorf("job %d is %s, attempts %d; want %s, %d", ids[i], job.Status, job.Attempts, want, 1-i)
				}
			}
		})
	}
}

// make, timeout and shells pass on the signal that the terminal sent to all.
func TestSignalThatIsPassedOnIsOneWithTheFirst(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	q := openAt(t, url, nil)
	id := enqueue(t, q, queue.NewJob{})[0]
	p := runProcess(t, url, "heedful")
	p.hear(t, "began")
	p.signal(t, syscall.SIGINT)
	p.signal(t, syscall.SIGTERM)
	p.hear(t, "passed on")
	p.open(t)
	if status, said := p.end(t); status.ExitStatus() != 0 {
		t.Errorf("it ended with status %d:\n%s", status.ExitStatus(), said)
	}
	if job := get(t, q, id); job.Status != queue.Completed {
		t.Errorf("the job is %s: the second signal forced", job.Status)
	}
}

func TestSecondSignalForcesAWorkerProcess(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	q := openAt(t, url, nil)
	id := enqueue(t, q, queue.NewJob{})[0]
	p := runProcess(t, url, "heedful")
	p.hear(t, "began")
	p.insist(t)
	if status, said := p.end(t); status.ExitStatus() != 0 {
		t.Errorf("it ended with status %d:\n%s", status.ExitStatus(), said)
	}
	if job := get(t, q, id); job.Status != queue.Pending || job.Attempts != 0 {
		t.Errorf("the job is %s, attempts %d; want it released", job.Status, job.Attempts)
	}
}

// insist signals twice, with what it takes between them not to be taken for one.
func (p *process) insist(t testing.TB) {
	t.Helper()
	p.signal(t, syscall.SIGTERM)
	p.hear(t, "draining; once more forces")
	time.Sleep(passedOn)
	p.signal(t, syscall.SIGTERM)
	p.hear(t, "forced; once more kills")
}

func TestWorkerProcessEndsWithinItsGraceAndNamesWhatItLeft(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	q := openAt(t, url, nil)
	stubborn := enqueue(t, q, queue.NewJob{Kind: "stubborn"})[0]
	p := runProcess(t, url, "hasty")
	p.hear(t, "began")
	other := enqueue(t, q, queue.NewJob{})[0]
	p.hear(t, "began") // beside the one that does not end
	p.signal(t, syscall.SIGTERM)
	status, said := p.end(t)
	if want := "left: stopped with jobs left, whose leases run out by themselves: job 1 (q/stubborn) on w1: handler ignores its cancelled context"; status.ExitStatus() != 1 || !strings.Contains(said, want) {
		t.Errorf("it ended with status %d and said\n%s\nwant 1 and %q", status.ExitStatus(), said, want)
	}
	if job := get(t, q, stubborn); job.Status != queue.Processing {
		t.Errorf("the stubborn job is %s: its handler did not end", job.Status)
	}
	if job := get(t, q, other); job.Status != queue.Completed {
		t.Errorf("the other job is %s", job.Status)
	}
}

func TestSecondSignalForcesAHandlerThatIgnoresItsContext(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	enqueue(t, openAt(t, url, nil), queue.NewJob{Kind: "stubborn"})
	p := runProcess(t, url, "stubborn")
	p.hear(t, "began")
	p.insist(t)
	if status, said := p.end(t); status.ExitStatus() != 1 || !strings.Contains(said, "job 1 (q/stubborn) on w1: handler ignores") {
		t.Errorf("it ended with status %d and said\n%s", status.ExitStatus(), said)
	}
}

func TestThirdSignalKillsAWorkerProcess(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	enqueue(t, openAt(t, url, nil), queue.NewJob{Kind: "stubborn"})
	p := runProcess(t, url, "undying")
	p.hear(t, "began")
	p.insist(t)
	p.signal(t, syscall.SIGTERM)
	if status, said := p.end(t); !status.Signaled() || status.Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %#x, not by the signal, and said\n%s", status, said)
	}
}

// nohup and the like start programs that are not to end with their terminal.
func TestSignalIgnoredFromTheStartStaysIgnored(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	q := openAt(t, url, nil)
	p := runProcess(t, url, "hasty", "/bin/sh", "-c", `trap "" HUP; exec "$0"`)
	enqueue(t, q, queue.NewJob{})
	p.hear(t, "began")
	p.signal(t, syscall.SIGHUP)
	p.signal(t, syscall.SIGTERM)
	if line := p.hear(t, "draining; once more forces"); !strings.Contains(line, "signal=terminated") {
		t.Errorf("it drains because of another signal: %s", line)
	}
	if status, said := p.end(t); status.ExitStatus() != 0 {
		t.Errorf("it ended with status %d:\n%s", status.ExitStatus(), said)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for _, started := range []bool{false, true} {
		q := openQueue(t)
		p := newPool(t, q, on(nothing), Options{})
		spawn(t, p, 1, "q")
		if started {
			if err := p.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- p.Run(ctx) }()
		waitStatus(t, p, enqueue(t, q, queue.NewJob{})[0], queue.Completed)
		cancel()
		if err := receive(t, "Run to return", ended); err != nil {
			t.Error(err)
		}
		if err := p.Run(t.Context()); !errors.Is(err, ErrStopped) {
			t.Errorf("run again: %v, want ErrStopped", err)
		}
	}
}

func TestRunEndsWithStop(t *testing.T) {
	t.Parallel()
	q := openQueue(t)
	g := newGate(t)
	p, err := New(q, on(func(context.Context, *queue.Job) error { <-g.ch; return nil }), Options{Grace: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	began := p.signals.began.listen()
	spawn(t, p, 1, "q")
	enqueue(t, q, queue.NewJob{})
	ended := make(chan error, 1)
	go func() { ended <- p.Run(t.Context()) }()
	receive(t, "the handler", began)
	if err := p.Stop(t.Context()); !errors.Is(err, ErrLeft) {
		t.Errorf("stop: %v, want ErrLeft", err)
	}
	if err := receive(t, "Run to return", ended); !errors.Is(err, ErrLeft) {
		t.Errorf("run: %v, want what Stop returns", err)
	}
}

// Two hundred short jobs, a SIGTERM at a random moment, fifty times. The effect is a
// transaction of its own, which nothing guards: only that every handler which began
// also ends, and that its outcome is written after the signal, keeps the two equal.
func TestSIGTERMInMidResultLeavesEffectsEqualToCompletedJobs(t *testing.T) {
	t.Parallel()
	const streams, rounds, jobs = 5, 10, 200
	for stream := range streams {
		t.Run(strconv.Itoa(stream), func(t *testing.T) {
			t.Parallel()
			url := testdb.New(t)
			q := openAt(t, url, nil)
			newLedger(t, q)
			for round := range rounds {
				exec(t, q, "DELETE FROM leasetop.jobs WHERE status = 'pending'")
				enqueue(t, q, many(jobs, queue.NewJob{})...)
				p := runProcess(t, url, "scribe")
				moment := 1 + rand.N(jobs-1)
				for range moment {
					p.hear(t, "began")
				}
				p.signal(t, syscall.SIGTERM)
				if status, said := p.end(t); status.ExitStatus() != 0 {
					t.Fatalf("round %d, after %d jobs: it ended with %#x:\n%s", round, moment, status, said)
				}
				for what, query := range map[string]string{
					"effects without a completed job":  "SELECT count(*) FROM ledger WHERE job NOT IN (SELECT id FROM leasetop.jobs WHERE status = 'completed')",
					"completed jobs without an effect": "SELECT count(*) FROM leasetop.jobs WHERE status = 'completed' AND id NOT IN (SELECT job FROM ledger)",
					"effects that happened twice":      "SELECT count(*) FROM (SELECT FROM ledger GROUP BY job HAVING count(*) > 1) AS twice",
					"jobs that were neither done at the first attempt nor left untouched": `SELECT count(*) FROM leasetop.jobs
						WHERE NOT (status = 'completed' AND attempts = 1 OR status = 'pending' AND attempts = 0) OR errors <> '[]'`,
				} {
					if n := count(t, q, query); n != 0 {
						t.Errorf("round %d, after %d jobs: %d %s", round, moment, n, what)
					}
				}
				if n := count(t, q, "SELECT count(*) FROM ledger"); n < moment {
					t.Errorf("round %d: %d effects after %d jobs", round, n, moment)
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}
