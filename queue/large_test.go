package queue

import (
	"context"
	"encoding/json"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// metered counts what comes in over a connection.
type metered struct {
	net.Conn
	in *atomic.Int64
}

func (m metered) Read(b []byte) (int, error) {
	n, err := m.Conn.Read(b)
	m.in.Add(int64(n))
	return n, err
}

// openMetered is the queue over connections that count what they read.
func openMetered(t *testing.T, q *Queue) (*Queue, *atomic.Int64) {
	t.Helper()
	in := new(atomic.Int64)
	config := must[*pgxpool.Config](t)(pgxpool.ParseConfig(q.Pool().Config().ConnString()))
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		return metered{conn, in}, err
	}
	pool := must[*pgxpool.Pool](t)(pgxpool.NewWithConfig(t.Context(), config))
	t.Cleanup(pool.Close)
	return must[*Queue](t)(New(pool, "")), in
}

// CASES "Payloads": 200 of 1 MB and one of 100 MB. Only who asks for a payload gets it:
// everything else reads what a few hundred rows without them take.
func TestOnlyWhoAsksForAPayloadLoadsIt(t *testing.T) {
	t.Parallel()
	plain := open(t)
	q, in := openMetered(t, plain)
	large := enqueue(t, q, NewJob{Payload: []byte(`"` + strings.Repeat("x", 1<<20) + `"`)})
	exec(t, q, "insert into leasetop.jobs (queue, payload, status) select 'emails', payload, 'dead' from leasetop.jobs, generate_series(1, 100)")
	exec(t, q, "insert into leasetop.jobs (queue, payload) select 'emails', payload from leasetop.jobs where id = 1")
	exec(t, q, "insert into leasetop.jobs_archive (id, queue, payload, status, attempts, max_attempts, run_at, created_at, updated_at, kind, errors, archived_by) select n, queue, payload, 'dead', 0, 1, run_at, created_at, updated_at, kind, errors, 'ann' from leasetop.jobs, generate_series(1001, 1099) n where id = 1")
	const mb = 1 << 20
	huge := must[[]Enqueued](t)(q.EnqueueMany(t.Context(), []NewJob{{Queue: "huge", Payload: []byte(`{"to": "` + strings.Repeat("y", 20*mb) + `"}`)}}))[0].ID

	job := claimFrom(t, q, "huge", time.Minute)
	if job.ID != huge || len(job.Payload) != 20*mb+len(`{"to": ""}`) {
		t.Errorf("claimed job %d with %d bytes", job.ID, len(job.Payload))
	}
	if read := in.Swap(0); read < 20*mb || read > 22*mb {
		t.Errorf("the claim read %d bytes", read)
	}
	preview := func(id int64, characters int, want string, whole int) {
		t.Helper()
		seen, length, err := q.Preview(t.Context(), id, characters)
		if err != nil || string(seen.Payload) != want || length != whole {
			t.Errorf("preview of %d bytes, of %d: %v", len(seen.Payload), length, err)
		}
	}
	preview(huge, 10, `{"to": "yy`, len(job.Payload))
	preview(large, 0, "", mb+2)
	if listed, _, err := q.List(t.Context(), Filter{}, Page{Limit: 1000}); err != nil || len(listed) != 103 || listed[0].Payload != nil {
		t.Errorf("listed %d, %v", len(listed), err)
	}
	for operation, do := range every(q, job.Lease(), large+1) {
		switch operation {
		case "claim", "payloads", "get", "archived payloads", "migrate":
			continue
		}
		before := in.Load()
		if err := do(t.Context()); err != nil {
			t.Errorf("%s: %v", operation, err)
		}
		if read := in.Load() - before; read > mb/10 {
			t.Errorf("%s read %d bytes", operation, read)
		}
	}
	if read := in.Load(); read > mb {
		t.Errorf("without any payload, %d bytes were read", read)
	}
	t.Logf("without any payload, %d bytes were read", in.Load())
}

// CASES "Payloads": nested 10,000 deep. What Go can read comes through, what it cannot
// is refused in words, and what another writer put there harms nobody.
func TestPayloadsNestedDeep(t *testing.T) {
	t.Parallel()
	q := open(t)
	nested := func(depth int) json.RawMessage {
		return json.RawMessage(strings.Repeat("[", depth) + strings.Repeat("]", depth))
	}
	deep := nested(10_000)
	ids := []int64{enqueue(t, q, NewJob{Queue: "a", Payload: deep})}
	ids = append(ids, must[[]Enqueued](t)(q.EnqueueMany(t.Context(), []NewJob{{Queue: "b", Payload: deep}}))[0].ID)
	for i, queue := range []string{"a", "b"} {
		if job := claimFrom(t, q, queue, time.Minute); string(job.Payload) != string(deep) {
			t.Errorf("%s was claimed with %d bytes", queue, len(job.Payload))
		}
		job, length, err := q.Preview(t.Context(), ids[i], 5)
		if err != nil || string(job.Payload) != "[[[[[" || length != len(deep) {
			t.Errorf("preview %s of %d, %v", job.Payload, length, err)
		}
	}
	_, err := q.Enqueue(t.Context(), NewJob{Queue: "a", Payload: nested(10_001)})
	if err == nil || !strings.Contains(err.Error(), "exceeded max depth") {
		t.Errorf("deeper: %v", err)
	}

	exec(t, q, "insert into leasetop.jobs (queue, payload) select 'c', (repeat('[', n) || repeat(']', n))::jsonb from generate_series(11000, 11000) n")
	if job := claimFrom(t, q, "c", time.Minute); len(job.Payload) != 22_000 {
		t.Errorf("claimed with %d bytes", len(job.Payload))
	}
}
