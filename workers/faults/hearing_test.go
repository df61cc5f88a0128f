package faults

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/workers"
)

func TestStalledListenerHearsOfNothingUntilItIsHealed(t *testing.T) {
	t.Parallel()
	url, cable, done := testdb.New(t), newCable(t), make(chan int64, 10)
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 4
	config.ConnConfig.RuntimeParams["application_name"] = "deaf"
	cable.ThroughListener(config.ConnConfig, "deaf")
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	q, err := queue.New(pool, "")
	if err != nil {
		t.Fatal(err)
	}
	h := workers.NewHandlers()
	h.Queue("q", func(_ context.Context, job *queue.Job) error {
		done <- job.ID
		return nil
	})
	p, err := workers.New(q, h, workers.Options{PollMin: never, PollMax: never})
	if err == nil {
		_, err = p.Spawn([]string{"q"}, 1)
	}
	if err == nil {
		err = p.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop(context.Background()) })
	psql := openThrough(t, url, nil)
	until(t, psql, listeners, 1, workers.ListenerName("deaf"))
	first := enqueue(t, psql, queue.NewJob{})
	if got := receive(t, "the job that is announced", done); got != first[0] {
		t.Errorf("it is job %d, want %d", got, first[0])
	}

	cable.Stall()
	second := enqueue(t, psql, queue.NewJob{})
	held(t, cable) // the announcement
	if !pending(done) {
		t.Error("a job was announced over a stalled cable")
	}
	if _, err := q.Depth(t.Context(), 10); err != nil {
		t.Errorf("the other connections are to be well: %v", err)
	}
	cable.Heal()
	if got := receive(t, "the job that was announced late", done); got != second[0] {
		t.Errorf("it is job %d, want %d", got, second[0])
	}

	cable.Cut()
	third := enqueue(t, psql, queue.NewJob{})
	cable.Heal()
	if got := receive(t, "the job that is looked for once the pool listens again", done); got != third[0] {
		t.Errorf("it is job %d, want %d", got, third[0])
	}
}
