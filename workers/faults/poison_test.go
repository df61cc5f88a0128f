package faults

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

func TestPoisonsOfAPoolDieAndTheirNeighboursDoNot(t *testing.T) {
	t.Parallel()
	q, _ := open(t)
	var pool *workers.Pool
	h := workers.NewHandlers()
	Poison(h, func(job *queue.Job) { KillWorker(pool, job) })
	h.Kind("fine", func(context.Context, *queue.Job) error { return nil })
	var again atomic.Int64
	var err error
	pool, err = workers.New(q, h, workers.Options{Lease: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	spawn := func() {
		if _, err := pool.Spawn([]string{"q"}, 1); err != nil {
			t.Error(err)
		}
		again.Add(1)
	}
	spawn()
	jobs := []queue.NewJob{{Kind: "fine"}, {Kind: "fine"}, {Kind: "fine"}}
	for _, kind := range []string{PoisonPermanent, PoisonPanic, PoisonKiller} {
		jobs = append(jobs, queue.NewJob{Kind: kind, MaxAttempts: 3})
	}
	enqueue(t, q, jobs...)
	if err := pool.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pool.Stop(context.Background()) }()
	for done := false; !done; {
		changed := pool.Changed()
		for _, w := range pool.Workers() {
			if w.State == workers.Crashed && pool.Remove(w.Name) == nil {
				spawn()
			}
		}
		done = value[bool](t, q, "SELECT count(*) FILTER (WHERE status = 'dead') = 3 AND count(*) FILTER (WHERE status = 'completed') = 3 FROM leasetop.jobs")
		if !done {
			receive(t, "the pool to change", changed)
		}
	}
	if again.Load() != 4 {
		t.Errorf("%d workers were needed, want 4", again.Load())
	}
	for kind, want := range map[string]string{PoisonPermanent: "the payload has no field", PoisonPanic: "panic: ", PoisonKiller: "worker lost 3 times"} {
		if got := value[string](t, q, "SELECT last_error FROM leasetop.jobs WHERE kind = $1", kind); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q", kind, got)
		}
		claims := map[bool]int{true: 3, false: 1}[kind == PoisonKiller]
		if got := value[int](t, q, "SELECT attempts FROM leasetop.jobs WHERE kind = $1", kind); got != claims {
			t.Errorf("%s was claimed %d times", kind, got)
		}
	}
}
