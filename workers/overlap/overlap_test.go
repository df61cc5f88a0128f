package overlap

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/internal/without"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// patience only ends tests that fail.
const patience = time.Minute

func receive[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("waited in vain for: %s", what)
		panic("unreachable")
	}
}

func until(t *testing.T, what string, seen func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !seen(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// stage is two pools on one queue under one recorder. Handlers wait until they are let go,
// or cancelled.
type stage struct {
	runs     Recorder
	q        *queue.Queue
	cut      func() // the first pool from its server
	began    chan *queue.Job
	letGo    chan struct{}
	returned chan error
	pools    [2]*workers.Pool
	ctx      context.Context
}

func newStage(t *testing.T, ctx context.Context) *stage {
	t.Helper()
	s := &stage{ctx: ctx, began: make(chan *queue.Job, 8), letGo: make(chan struct{}), returned: make(chan error, 8)}
	url := testdb.New(t)
	s.q = openAt(t, url, nil)
	far, cut := openFar(t, url)
	s.cut = cut
	h := workers.NewHandlers()
	h.Use(s.runs.Wrap)
	h.Queue("q", func(ctx context.Context, job *queue.Job) error {
		s.began <- job
		select {
		case <-s.letGo:
		case <-ctx.Done():
		}
		s.returned <- context.Cause(ctx)
		return nil
	})
	for i, q := range []*queue.Queue{far, s.q} {
		p, err := workers.New(q, h, workers.Options{Lease: 2 * time.Second, Grace: time.Second, PollMin: 10 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Stop(context.Background()) }) // what was cut off may have jobs left
		if _, err := p.Spawn([]string{"q"}, 1); err != nil {
			t.Fatal(err)
		}
		s.pools[i] = p
	}
	if _, err := s.q.Enqueue(t.Context(), queue.NewJob{Queue: "q"}); err != nil {
		t.Fatal(err)
	}
	s.start(t, 0)
	receive(t, "the first run", s.began)
	return s
}

func (s *stage) start(t *testing.T, i int) {
	t.Helper()
	if err := s.pools[i].Start(s.ctx); err != nil {
		t.Fatal(err)
	}
}

func openAt(t *testing.T, url string, change func(*pgxpool.Config)) *queue.Queue {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 6
	if change != nil {
		change(config)
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	q, err := queue.New(pool, "")
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// openFar opens a queue whose connections can be cut, for good.
func openFar(t *testing.T, url string) (q *queue.Queue, cut func()) {
	var mu sync.Mutex
	var conns []net.Conn
	down := false
	q = openAt(t, url, func(config *pgxpool.Config) {
		dial := config.ConnConfig.DialFunc
		config.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			mu.Lock()
			defer mu.Unlock()
			if down {
				return nil, net.ErrClosed
			}
			conn, err := dial(ctx, network, addr)
			if err == nil {
				conns = append(conns, conn)
			}
			return conn, err
		}
	})
	return q, func() {
		mu.Lock()
		defer mu.Unlock()
		down = true
		for _, conn := range conns {
			conn.Close()
		}
	}
}

// A worker is cut off, and another gets its job: one after the other by the trust
// deadline, both at a time without it.
func TestOverlapOfAPartitionedWorkerIsNoneThanksToItsTrust(t *testing.T) {
	t.Parallel()
	t.Run("with trust", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, context.Background())
		s.cut()
		s.start(t, 1)
		receive(t, "the second run", s.began)
		if s.runs.Count() != 0 || s.runs.Worst() != 0 {
			t.Errorf("%d overlaps, the worst of %v; want none", s.runs.Count(), s.runs.Worst())
		}
		close(s.letGo)
	})
	t.Run("without trust", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, without.With(context.Background(), without.Trust))
		s.cut()
		s.start(t, 1)
		receive(t, "the second run", s.began)
		if s.runs.Count() != 1 {
			t.Fatalf("%d overlaps, want 1", s.runs.Count())
		}
		first := s.runs.Worst()
		until(t, "the overlap grows while it lasts", func() bool { return s.runs.Worst() > first })
		close(s.letGo)
		until(t, "it has ended", func() bool {
			s.runs.mu.Lock()
			defer s.runs.mu.Unlock()
			return len(s.runs.under) == 0 && len(s.runs.running) == 0
		})
		lasted := s.runs.Worst()
		if lasted <= first || s.runs.Count() != 1 || s.runs.Worst() != lasted {
			t.Errorf("%d overlaps, the worst of %v, then %v; want 1 of more than %v that grows no more", s.runs.Count(), lasted, s.runs.Worst(), first)
		}
	})
}

// What a zombie's handler does while another has the job is fenced: it is no runner.
func TestFrozenAndKilledWorkersAreNoRunners(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(*workers.Pool, string) error{
		"frozen": (*workers.Pool).Freeze, "killed": (*workers.Pool).Kill,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, context.Background())
			if err := fault(s.pools[0], "w1"); err != nil {
				t.Fatal(err)
			}
			s.start(t, 1)
			if job := receive(t, "the second run", s.began); job.Attempts != 2 {
				t.Errorf("attempt %d, want 2", job.Attempts)
			}
			if s.runs.Count() != 0 {
				t.Errorf("%d overlaps of %v, want none", s.runs.Count(), s.runs.Worst())
			}
			close(s.letGo)
		})
	}
}

// Where no pool calls the handlers only their return ends a run.
func TestRunsOfOneJobOverlapAndThoseOfOthersDoNot(t *testing.T) {
	t.Parallel()
	var r Recorder
	ctx := t.Context()
	endA, endOther := r.begin(ctx, 1), r.begin(ctx, 2)
	if r.Count() != 0 {
		t.Errorf("runs of two jobs overlap")
	}
	endB := r.begin(ctx, 1)
	endC := r.begin(ctx, 1) // with both
	if r.Count() != 3 {
		t.Errorf("%d overlaps of three runs of one job, want 3", r.Count())
	}
	endA()
	endB()
	endC()
	r.begin(ctx, 1)() // after all of them
	endOther()
	if r.Count() != 3 || r.Worst() == 0 {
		t.Errorf("%d overlaps of %v", r.Count(), r.Worst())
	}
	until(t, "all is forgotten", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.running) == 0 && len(r.under) == 0
	})
}
