package faults

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local"
	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/workers"
)

func TestWorkersFollowTheirServerThroughARestart(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t)
	url := testdb.On(t, server)
	q := openThrough(t, url, nil)
	enqueue(t, q, queue.NewJob{})
	p := start(t, ProcessOptions{URL: url, Name: "w", Handlers: "waiting"})
	shows(t, p, running(1))
	looked := errors.New("looked around")
	err := RestartServer(t.Context(), server, local.Immediate, func() error {
		if conn, err := pgx.Connect(t.Context(), url); err == nil {
			_ = conn.Close(t.Context())
			t.Error("it answers while it is down")
		}
		return looked
	})
	if !errors.Is(err, looked) {
		t.Fatal(err)
	}
	letGo(t, p)
	shows(t, p, func(w workers.Snapshot) bool { return w.Completed == 1 })
	if err := RestartServer(t.Context(), server, local.Fast, nil); err != nil {
		t.Fatal(err)
	}
	until(t, openThrough(t, url, nil), "SELECT count(*) = 1 FROM leasetop.jobs WHERE status = 'completed'")
}
