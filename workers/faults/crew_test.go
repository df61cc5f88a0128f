package faults

import (
	"context"
	"errors"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// crew is one whose workers in this process and in others wait with what they run.
func crew(t testing.TB) (c *Crew, q *queue.Queue) {
	t.Helper()
	q, _ = open(t)
	gate := make(chan struct{})
	h := workers.NewHandlers()
	h.Queue("q", func(ctx context.Context, _ *queue.Job) error {
		select {
		case <-gate:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	c, err := NewCrew(q, h, "waiting", workers.Options{Lease: time.Second, Grace: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // at once
		_ = c.Stop(ctx)
	})
	return c, q
}

// has waits until a worker of the crew is as wanted.
func has(t testing.TB, c *Crew, name string, wanted func(workers.Snapshot) bool) workers.Snapshot {
	t.Helper()
	deadline := time.After(patience)
	for {
		changed := c.Changed()
		for _, w := range c.Workers() {
			if w.Name == name && wanted(w) {
				return w
			}
		}
		select {
		case <-changed:
		case <-time.After(100 * time.Millisecond): // leases that run out change nothing here
		case <-deadline:
			t.Fatalf("waited in vain for %s among %+v", name, c.Workers())
		}
	}
}

func eventsOf(c *Crew) string {
	events, _ := c.Events(0)
	var all strings.Builder
	for i, e := range events {
		if e.Seq != uint64(i+1) {
			return "the events are not counted"
		}
		all.WriteString(e.Worker + " " + string(e.What) + ": " + e.Text + "\n")
	}
	return all.String()
}

func spawnProcess(t testing.TB, c *Crew) (name string, pid int) {
	t.Helper()
	name, pid, err := c.SpawnProcess(t.Context(), []string{"q"}, 2)
	if err != nil {
		t.Fatal(err)
	}
	return name, pid
}

func TestKillOfACrewsProcessIsARealOneAndAnotherTakesItsJobsOver(t *testing.T) {
	t.Parallel()
	c, q := crew(t)
	name, pid := spawnProcess(t, c)
	jobs := enqueue(t, q, make([]queue.NewJob, 2)...)
	if w := has(t, c, name, running(2)); w.Pid != pid {
		t.Errorf("it shows process %d, not %d", w.Pid, pid)
	}
	here, err := c.Spawn([]string{"q"}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Kill(name); err != nil {
		t.Fatal(err)
	}
	has(t, c, name, func(w workers.Snapshot) bool { return w.State == workers.Crashed })
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d is not gone: %v", pid, err)
	}
	taken := has(t, c, here, running(2))
	if taken.Pid != 0 || taken.Running[0].Attempt != 2 || !slices.Contains(jobs, taken.Running[0].JobID) {
		t.Errorf("%+v took over", taken)
	}
	has(t, c, name, running(0)) // its leases ran out
	if all := eventsOf(c); !strings.Contains(all, name+" killed: SIGKILL to process") || strings.Count(all, "killed:") != 1 {
		t.Errorf("it tells:\n%s", all)
	}
	if err := c.Kill(name); err == nil {
		t.Error("it was killed twice")
	}
	if err := c.Remove(name); err != nil {
		t.Fatal(err)
	}
	if all := c.Workers(); len(all) != 1 {
		t.Errorf("there are %+v", all)
	}
}

func TestProcessThatSomebodyElseKilledIsTold(t *testing.T) {
	t.Parallel()
	c, _ := crew(t)
	name, pid := spawnProcess(t, c)
	if err := c.Remove(name); err == nil {
		t.Error("a process that runs was taken off the list")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	has(t, c, name, func(w workers.Snapshot) bool { return w.State == workers.Crashed })
	for deadline := time.After(patience); !strings.Contains(eventsOf(c), name+" killed: worker process"); {
		select {
		case <-c.Changed():
		case <-deadline:
			t.Fatalf("it tells:\n%s", eventsOf(c))
		}
	}
}

func TestFrozenProcessGoesOnWhenItsLeasesRanOutAndItsJobIsAnothers(t *testing.T) {
	t.Parallel()
	c, q := crew(t)
	name, _ := spawnProcess(t, c)
	enqueue(t, q, queue.NewJob{})
	has(t, c, name, running(1))
	here, err := c.Spawn([]string{"q"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Freeze(name); err != nil {
		t.Fatal(err)
	}
	if err := c.Freeze(name); err == nil {
		t.Error("it was frozen twice")
	}
	has(t, c, here, running(1))
	late := has(t, c, name, func(w workers.Snapshot) bool { return w.State == workers.Idle })
	if late.Lost+late.Fenced == 0 {
		t.Errorf("it did not notice that it was late: %+v", late)
	}
	if all := eventsOf(c); !strings.Contains(all, name+" frozen: SIGSTOP") || !strings.Contains(all, name+" thawed: SIGCONT") {
		t.Errorf("it tells:\n%s", all)
	}
}

func TestCrewsProcessIsPartedFromTheDatabaseByTheCrewsCable(t *testing.T) {
	t.Parallel()
	q, _ := open(t)
	cable := NewCable()
	own, end, err := cable.Open(t.Context(), q, 4, "leasetop workers of a test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	h := workers.NewHandlers()
	h.Queue("elsewhere", func(context.Context, *queue.Job) error { return nil })
	c, err := NewCrew(own, h, "waiting", workers.Options{Lease: time.Second, Grace: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	stopped := func() {
		cable.Heal()
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // at once
		_ = c.Stop(ctx)
	}
	t.Cleanup(stopped)
	name, _ := spawnProcess(t, c)
	enqueue(t, q, queue.NewJob{})
	has(t, c, name, running(1))
	for _, one := range []struct {
		harm func()
		told string
	}{
		{cable.Stall, string(workers.TrustEnded)},
		{cable.Cut, string(workers.DBTrouble)},
	} {
		_, before := c.Events(0)
		one.harm()
		for deadline := time.After(patience); ; {
			changed := c.Changed()
			events, _ := c.Events(before)
			if slices.ContainsFunc(events, func(e workers.Event) bool { return string(e.What) == one.told }) {
				break
			}
			select {
			case <-changed:
			case <-deadline:
				t.Fatalf("waited in vain for %q; it tells:\n%s", one.told, eventsOf(c))
			}
		}
		cable.Heal()
		has(t, c, name, running(1)) // it is back
	}
	folder := c.relay.folder
	stopped()
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the relay's folder is left: %v", err)
	}
}

func TestCrewsProcessesHaveTheOptionsOfTheCrew(t *testing.T) {
	t.Parallel()
	q, _ := open(t)
	h := workers.NewHandlers()
	h.Queue("q", func(context.Context, *queue.Job) error { return nil })
	o := workers.Options{
		Lease: 11 * time.Second, Margin: 2 * time.Second, PollMin: 3 * time.Second, PollMax: 4 * time.Second,
		Grace: 5 * time.Second, Reaps: []string{"q", "r"}, Retention: time.Hour,
	}
	c, err := NewCrew(q, h, "waiting", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop(context.Background()) })
	process, err := c.processOptions("p1", []string{"q"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	there := settingsOf(process)
	got, want := reflect.ValueOf(there.options()), reflect.ValueOf(o)
	for i := range want.NumField() {
		switch name := want.Type().Field(i).Name; name {
		case "Retention", "Logger", "Events", "Settled": // one process cares for it; what happens there is reported
		default:
			if want.Field(i).IsZero() {
				t.Errorf("the test says nothing of %s", name)
			}
			if !reflect.DeepEqual(got.Field(i).Interface(), want.Field(i).Interface()) {
				t.Errorf("%s is %v there, and %v here", name, got.Field(i), want.Field(i))
			}
		}
	}
}

// Another dashboard has a p1 too, and ends the sessions of its own.
func TestSessionsOfAWorkerProcessTellWhoseItIs(t *testing.T) {
	t.Parallel()
	q, url := open(t)
	p := start(t, ProcessOptions{URL: url, Name: "p1", Handlers: "waiting"})
	if of := strconv.Itoa(os.Getpid()); !strings.Contains(p.AppName(), of) {
		t.Errorf("they are called %q, which does not name process %s", p.AppName(), of)
	}
	until(t, q, "SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = $1", workers.ListenerName(p.AppName()))
	if n, err := TerminateListeners(t.Context(), q, processTitle("p1")); n != 0 || err != nil {
		t.Errorf("%d of them were ended, %v", n, err)
	}
	n, err := 0, error(nil)
	for end := time.Now().Add(time.Minute); n == 0 && err == nil && time.Now().Before(end); { // it may be on its way to another session
		n, err = TerminateListeners(t.Context(), q, p.AppName())
	}
	if n != 1 || err != nil {
		t.Errorf("%d of them were ended, %v", n, err)
	}
}

// The lease of a job may be its handler's, and longer than the others.
func TestFrozenProcessStandsStillForTheLongestLease(t *testing.T) {
	t.Parallel()
	q, _ := open(t)
	h := workers.NewHandlers()
	h.Queue("q", func(context.Context, *queue.Job) error { return nil }, workers.WithLease(3*time.Hour))
	c, err := NewCrew(q, h, "waiting", workers.Options{Lease: time.Second, Grace: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop(context.Background()) })
	name, _ := spawnProcess(t, c)
	if err := c.Freeze(name); err != nil {
		t.Fatal(err)
	}
	if all := eventsOf(c); !strings.Contains(all, "SIGCONT in 3h0m1s") {
		t.Errorf("it tells:\n%s", all)
	}
}

// A screen asks what there is while a worker is killed whose outcome is on its way.
func TestCrewAnswersWhileAWorkerIsKilled(t *testing.T) {
	t.Parallel()
	q, _ := open(t)
	cable := NewCable()
	own, end, err := cable.Open(t.Context(), q, 4, "leasetop workers of a test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	inside, gate := make(chan struct{}), make(chan struct{})
	h := workers.NewHandlers()
	h.Queue("q", func(context.Context, *queue.Job) error {
		close(inside)
		<-gate
		return nil
	})
	c, err := NewCrew(own, h, "waiting", workers.Options{Lease: time.Minute})
	if err == nil {
		_, err = c.Spawn([]string{"q"}, 1)
	}
	if err == nil {
		err = c.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cable.Heal()
		_ = c.Stop(context.Background())
	})
	enqueue(t, q, queue.NewJob{})
	receive(t, "the handler", inside)
	cable.Stall()
	close(gate)
	held(t, cable)
	killed := make(chan error, 1)
	go func() { killed <- c.Kill("w1") }()
	for deadline := time.Now().Add(patience); c.Pool.Workers()[0].State != workers.Crashed; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain for the kill")
		}
	}
	if !c.mu.TryLock() {
		t.Error("nobody is told anything of the crew meanwhile")
	} else {
		c.mu.Unlock()
	}
	if err := receive(t, "the end of the kill", killed); err != nil {
		t.Error(err)
	}
}

func TestCrewsProcessDrains(t *testing.T) {
	t.Parallel()
	c, q := crew(t)
	name, _ := spawnProcess(t, c)
	enqueue(t, q, queue.NewJob{})
	has(t, c, name, running(1))
	if err := c.Drain(name); err != nil {
		t.Fatal(err)
	}
	has(t, c, name, func(w workers.Snapshot) bool { return w.State == workers.Draining })
	c.mu.Lock()
	p := c.named(name).Process
	c.mu.Unlock()
	letGo(t, p)
	if w := has(t, c, name, func(w workers.Snapshot) bool { return w.State == workers.Stopped }); w.Completed != 1 {
		t.Errorf("%+v", w)
	}
	receive(t, "its end", p.Done())
	if err := p.Err(); err != nil {
		t.Error(err)
	}
}

// Handlers that wait give their jobs back, for others, even from a process that stands still.
func TestStopReleasesWhatProcessesRun(t *testing.T) {
	t.Parallel()
	c, q := crew(t)
	spawnProcess(t, c)
	frozen, _ := spawnProcess(t, c)
	ids := enqueue(t, q, queue.NewJob{}, queue.NewJob{})
	until(t, q, "SELECT count(*) = 2 FROM leasetop.jobs WHERE status = 'processing'")
	if err := c.Freeze(frozen); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Stop(ctx); err != nil && !errors.Is(err, workers.ErrLeft) {
		t.Fatal(err)
	}
	for _, w := range c.Workers() {
		if w.State != workers.Stopped && w.State != workers.Crashed {
			t.Errorf("%+v", w)
		}
	}
	until(t, q, "SELECT count(*) = 0 FROM leasetop.jobs WHERE status = 'processing' AND lease_expires_at > now()")
	for _, id := range ids {
		if job, err := q.Get(t.Context(), id); err != nil || job.Attempts > 1 {
			t.Errorf("%+v, %v", job, err)
		}
	}
	if _, _, err := c.SpawnProcess(t.Context(), []string{"q"}, 1); !errors.Is(err, workers.ErrStopped) {
		t.Errorf("a stopped crew spawns: %v", err)
	}
}
