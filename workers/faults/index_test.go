package faults

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/leasetop/leasetop/queue"
)

const readyIndex = "SELECT coalesce((SELECT pg_get_indexdef(indexrelid) || indisvalid::text FROM pg_index WHERE indexrelid = to_regclass('leasetop.jobs_ready')), '')"

func TestReadyIndexIsBuiltAsTheMigrationDoes(t *testing.T) {
	t.Parallel()
	q, _ := open(t)
	before := value[string](t, q, readyIndex)
	if err := BuildReadyIndex(t.Context(), q, nil); err != nil {
		t.Errorf("where it is whole: %v", err)
	}
	for range 2 {
		if err := DropReadyIndex(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	if now := value[string](t, q, readyIndex); now != "" || before == "" {
		t.Errorf("after it was dropped it is %q, before %q", now, before)
	}
	if err := BuildReadyIndex(t.Context(), q, nil); err != nil {
		t.Fatal(err)
	}
	if now := value[string](t, q, readyIndex); now != before {
		t.Errorf("it is %q, was %q", now, before)
	}
}

func TestInterruptedBuildOfTheReadyIndexIsMadeGood(t *testing.T) {
	t.Parallel()
	q, _ := open(t)
	enqueue(t, q, make([]queue.NewJob, 10)...)
	before := value[string](t, q, readyIndex)
	if err := DropReadyIndex(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	release, err := PinVacuum(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = release() })
	ctx, cancel := context.WithCancel(t.Context())
	built := make(chan error, 1)
	var progress atomic.Int64
	go func() { built <- BuildReadyIndex(ctx, q, func(done, of int64) { progress.Store(max(done, of)) }) }()
	until(t, q, "SELECT count(*) = 1 FROM pg_stat_progress_create_index WHERE datname = current_database() AND phase LIKE 'waiting for%old snapshots'")
	cancel()
	if err := receive(t, "the build to end", built); err == nil {
		t.Error("an interrupted build succeeded")
	}
	if now := value[string](t, q, readyIndex); now == "" || now == before {
		t.Errorf("it left %q", now)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if err := BuildReadyIndex(t.Context(), q, nil); err != nil {
		t.Fatal(err)
	}
	if now := value[string](t, q, readyIndex); now != before {
		t.Errorf("it is %q, was %q", now, before)
	}
}

func TestBuildOfTheReadyIndexTellsHowFarItHasCome(t *testing.T) {
	t.Parallel()
	q, _ := open(t)
	run(t, q, "INSERT INTO leasetop.jobs (queue) SELECT 'q' FROM generate_series(1, 20000)")
	if err := DropReadyIndex(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	release, err := PinVacuum(t.Context(), q) // so that it takes as long as the test wants
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan [2]int64, 1000)
	built := make(chan error, 1)
	go func() { built <- BuildReadyIndex(t.Context(), q, func(done, of int64) { told <- [2]int64{done, of} }) }()
	if p := receive(t, "a word about progress", told); p[0] < 0 || p[0] > p[1] || p[1] == 0 {
		t.Errorf("%d of %d", p[0], p[1])
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, "the index", built); err != nil {
		t.Error(err)
	}
}
