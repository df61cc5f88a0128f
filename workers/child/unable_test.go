package child

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// restless is a handler that does not rest after a child that could not be started.
func restless(argv []string) workers.Handler {
	c := newCommand(argv, Options{})
	c.unable.least, c.unable.most = 0, 0
	return c.run
}

// givenBack tells whether the job comes back without an attempt used.
func givenBack(err error) bool {
	_, ok := queue.IsSnooze(err)
	return ok
}

// What the machine or a deployment lacks at the moment is not the job's fault.
func TestJobWhoseChildCannotStartIsGivenBack(t *testing.T) {
	t.Parallel()
	removed := script(t, "#!/bin/sh\n", 0o755)
	gone := restless([]string{removed})
	if err := os.Remove(removed); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		do   workers.Handler
		want error
	}{
		{"removed since", gone, syscall.ENOENT},
		{"no interpreter", restless([]string{script(t, "#!/no/such/shell\n", 0o755)}), syscall.ENOENT},
		{"no first line", restless([]string{script(t, "echo hello\n", 0o755)}), syscall.ENOEXEC},
		{"arguments too large", restless([]string{"true", strings.Repeat("x", 4<<20)}), syscall.E2BIG},
	} {
		if err := c.do(t.Context(), &queue.Job{ID: 1}); !givenBack(err) || !errors.Is(err, c.want) || !strings.Contains(err.Error(), "cannot start ") {
			t.Errorf("%s: %v, want the job given back for %v", c.name, err, c.want)
		}
	}
}

// The clock is the test's own: it goes on when everybody waits.
func TestSickMachineRestsLongerAndLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		why, told := errors.New("no memory"), 0
		u := unable{least: leastRest, most: mostRest, told: func(err error) {
			if told++; err != why {
				t.Errorf("told %v", err)
			}
		}}
		fail := func() time.Duration {
			began := time.Now()
			delay, ok := queue.IsSnooze(u.giveBack(t.Context(), why))
			if rested := time.Since(began); !ok || rested != min(delay, slotsRest) {
				t.Errorf("rested %v, put off by %v, %v", rested, delay, ok)
			}
			return delay
		}
		for _, want := range []time.Duration{1, 1, 2, 4, 8, 13, 18, 23, 28, 30, 30} {
			if got := fail(); got != want*time.Second {
				t.Errorf("put off by %v, want %v s", got, want)
			}
		}
		if told != 1 {
			t.Errorf("told %d times", told)
		}
		time.Sleep(2*mostRest + time.Second)
		if got := fail(); got != leastRest || told != 2 {
			t.Errorf("in a new spell: put off by %v, told %d times", got, told)
		}
	})
}

// A lack that lets a few children start ends neither the spell nor the rests.
func TestSlotsOfAMachineThatIsShortOfSomethingRestTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		told, failures, end := 0, 0, time.Now().Add(10*time.Minute)
		u := unable{least: leastRest, most: mostRest, told: func(error) { told++ }}
		var mu sync.Mutex
		var all sync.WaitGroup
		for range 30 {
			all.Go(func() {
				for time.Now().Before(end) {
					_ = u.giveBack(t.Context(), errors.New("too many open files"))
					mu.Lock()
					failures++
					mu.Unlock()
				}
			})
		}
		all.Wait()
		if told != 1 || failures > 30*(5+10*12) {
			t.Errorf("told %d times; %d failures in ten minutes", told, failures)
		}
	})
}

func TestRestEndsWithTheContext(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{workers.ErrDrained, queue.ErrCancelled, queue.ErrLeaseLost, workers.ErrTimeout} {
		u := unable{least: time.Hour, most: time.Hour}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		// Only the drained job keeps its place.
		if err := u.giveBack(ctx, errors.New("no memory")); errors.Is(err, cause) != (cause == workers.ErrDrained) || givenBack(err) == (cause == workers.ErrDrained) {
			t.Errorf("%v: %v", cause, err)
		}
	}
}

// The job of one attempt waits, and is done when the program is back.
func TestJobOutlastsAProgramThatIsAway(t *testing.T) {
	t.Parallel()
	tool(t, "true")
	path := script(t, "#!/bin/sh\n", 0o755)
	told := make(chan error, 100)
	c := newCommand([]string{path}, Options{Unable: func(err error) { told <- err }})
	c.unable.least = 10 * time.Millisecond
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	settled := make(chan workers.Settled, 1000)
	q, p := pool(t, c.run, workers.Options{Settled: func(s workers.Settled) { settled <- s }, PollMin: 10 * time.Millisecond})
	added, err := q.Enqueue(t.Context(), queue.NewJob{Queue: "q", MaxAttempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if s := receive(t, "an outcome", settled); !s.GaveBack || s.Status != queue.Pending {
			t.Fatalf("%+v", s)
		}
	}
	real, err := exec.LookPath("true")
	if err == nil {
		err = os.Symlink(real, path)
	}
	if err != nil {
		t.Fatal(err)
	}
	for s := receive(t, "an outcome", settled); s.Status != queue.Completed; s = receive(t, "an outcome", settled) {
		if !s.GaveBack {
			t.Fatalf("%+v", s)
		}
	}
	if err := p.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	if job, err := q.Get(t.Context(), added[0].ID); err != nil || job.Attempts != 1 || len(job.Errors) != 0 || len(told) != 1 {
		t.Errorf("%+v, %v, told %d times", job, err, len(told))
	}
}
