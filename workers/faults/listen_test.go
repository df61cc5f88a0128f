package faults

import (
	"context"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// never is a poll interval that no test lives to see.
const never = time.Hour

// listening starts a pool with one worker whose queue has an application name, and
// returns it once it listens.
func listening(t *testing.T, url, app string, do workers.Handler) (*queue.Queue, *workers.Pool) {
	t.Helper()
	q, err := queue.Open(t.Context(), url, queue.Options{AppName: app, MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	h := workers.NewHandlers()
	h.Queue("q", do)
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
	return q, p
}

const listeners = "SELECT count(*) = $1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = $2"

func TestOnlyTheListenersThatAreMeantAreTerminatedAndTheyComeBack(t *testing.T) {
	t.Parallel()
	psql, url := open(t)
	done := make(chan int64, 10)
	q, _ := listening(t, url, "one", func(_ context.Context, job *queue.Job) error {
		done <- job.ID
		return nil
	})
	listening(t, url, "other", func(context.Context, *queue.Job) error { return nil })
	for _, name := range []string{"one", "other"} {
		until(t, psql, listeners, 1, workers.ListenerName(name))
	}
	session := func(app string) int32 {
		return value[int32](t, psql, "SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()", workers.ListenerName(app))
	}
	one, other := session("one"), session("other")
	if n, err := TerminateListeners(t.Context(), psql, "one", "nobody", "no one", "none", "nothing"); err != nil || n != 1 {
		t.Errorf("%d were ended: %v", n, err)
	}
	until(t, psql, "SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database() AND pid <> $2", workers.ListenerName("one"), one)
	if session("other") != other {
		t.Error("another pool's listener was ended, too")
	}
	if n, err := TerminateListeners(t.Context(), q); err != nil || n != 1 {
		t.Errorf("without a name %d were ended: %v", n, err)
	}
}
