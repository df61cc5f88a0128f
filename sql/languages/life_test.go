package languages

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/leasetop/leasetop/queue"
)

// SIGTERM: nothing more is claimed, what runs finishes and is completed.
func TestStopDrains(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		q, url := open(t)
		id := enqueue(t, q, queue.NewJob{}, "wait")
		p := start(t, l, options{URL: url, Slots: 2})
		p.says(fmt.Sprintf("began %d 1 .*", id))
		p.signal(syscall.SIGTERM)
		p.says("stopping: 1 running, at most 30 s")
		later := enqueue(t, q, queue.NewJob{}, "nothing")
		p.tell(fmt.Sprintf("go %d", id))
		if code := p.exit(); code != 0 || p.count("left 0") != 1 {
			t.Errorf("exit status %d", code)
		}
		until(t, q, id, queue.Completed)
		if job := until(t, q, later, queue.Pending); job.Attempts != 0 {
			t.Errorf("after the signal it claimed a job: %+v", job)
		}
	})
}

// What does not finish within the grace period is stopped and given back unused.
func TestStopReleasesWhatDoesNotFinish(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		q, url := open(t)
		id := enqueue(t, q, queue.NewJob{}, "wait")
		p := start(t, l, options{URL: url, Grace: 0.5})
		p.says(fmt.Sprintf("began %d 1 .*", id))
		p.signal(syscall.SIGTERM)
		p.says(fmt.Sprintf("stopped %d Drained", id))
		if code := p.exit(); code != 0 {
			t.Errorf("exit status %d", code)
		}
		if job := until(t, q, id, queue.Pending); job.Attempts != 0 || len(job.Errors) != 0 || job.LastError != "" {
			t.Errorf("the job is %+v", job)
		}
	})
}

// A second signal does not wait for the grace period.
func TestSecondSignalForces(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		q, url := open(t)
		id := enqueue(t, q, queue.NewJob{}, "wait")
		p := start(t, l, options{URL: url, Grace: 3600})
		p.says(fmt.Sprintf("began %d 1 .*", id))
		p.signal(syscall.SIGTERM)
		p.says("stopping: 1 running, at most 3600 s")
		p.signal(syscall.SIGINT)
		p.says(fmt.Sprintf("stopped %d Drained", id))
		if code := p.exit(); code != 0 {
			t.Errorf("exit status %d", code)
		}
	})
}

// A handler that ignores its stop keeps its lease, so that nobody runs the job beside
// it; the worker names it and ends all the same.
func TestHandlerThatIgnoresItsStopIsNamed(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		q, url := open(t)
		id := enqueue(t, q, queue.NewJob{}, "ignore stop")
		p := start(t, l, options{URL: url, Grace: 0.5})
		p.says(fmt.Sprintf("began %d 1 .*", id))
		p.signal(syscall.SIGTERM)
		p.says(fmt.Sprintf("job %d is left: .*", id))
		if code := p.exit(); code != 1 {
			t.Errorf("exit status %d", code)
		}
		if job := until(t, q, id, queue.Processing); job.Attempts != 1 {
			t.Errorf("the job is %+v", job)
		}
	})
}

// A running job that is cancelled hears of it at once, and ends dead.
func TestCancelStopsTheHandler(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		q, url := open(t)
		id := enqueue(t, q, queue.NewJob{}, "wait")
		p := start(t, l, options{URL: url, Lease: 3600}) // a heartbeat every twenty minutes
		p.says(fmt.Sprintf("began %d 1 .*", id))
		if asked, err := q.Cancel(t.Context(), "ann", id); err != nil || len(asked.Asked) != 1 {
			t.Fatalf("%+v, %v", asked, err)
		}
		p.says(fmt.Sprintf("stopped %d Cancelled", id))
		if job := until(t, q, id, queue.Dead); job.LastError != "cancelled by ann" || job.Attempts != 1 {
			t.Errorf("the job is %+v", job)
		}
	})
}

// A paused queue is left alone until it is resumed; others go on.
func TestPausedQueueIsLeftAlone(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		q, url := open(t)
		if _, err := q.Pause(t.Context(), "ann", "the mail server moves", "emails"); err != nil {
			t.Fatal(err)
		}
		paused, other := enqueue(t, q, queue.NewJob{}, "nothing"), enqueue(t, q, queue.NewJob{Queue: "reports"}, "nothing")
		start(t, l, options{URL: url, Queues: []string{"emails", "reports"}})
		until(t, q, other, queue.Completed)
		if job := until(t, q, paused, queue.Pending); job.Attempts != 0 {
			t.Errorf("the job is %+v", job)
		}
		if _, err := q.Resume(t.Context(), "emails"); err != nil {
			t.Fatal(err)
		}
		until(t, q, paused, queue.Completed)
	})
}

// Queues are claimed from strictly in the order given.
func TestQueuesAreClaimedInOrder(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		q, url := open(t)
		low := enqueue(t, q, queue.NewJob{Queue: "low"}, "nothing")
		high := []int64{enqueue(t, q, queue.NewJob{Queue: "high"}, "nothing"), enqueue(t, q, queue.NewJob{Queue: "high"}, "nothing")}
		p := start(t, l, options{URL: url, Queues: []string{"high", "low"}})
		until(t, q, low, queue.Completed)
		for _, id := range high {
			if n := p.count(fmt.Sprintf("began %d 1 .*", id)); n != 1 {
				t.Errorf("job %d of high ran %d times before low", id, n)
			}
		}
	})
}

// Every session is terminated while a job runs: the worker connects again and completes it.
func TestLostConnectionsAreReplaced(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		q, url := open(t)
		id := enqueue(t, q, queue.NewJob{}, "wait")
		p := start(t, l, options{URL: url, Lease: 3})
		p.says(fmt.Sprintf("began %d 1 .*", id))
		conn := connect(t, url)
		const sessions = `select count(*) from pg_stat_activity where datname = current_database() and application_name = 'leasetop `
		settled(t, conn, sessions+l.name+`'`, 3)
		if n := value[int](t, conn, `select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = current_database() and application_name = $1`, "leasetop "+l.name); n != 3 {
			t.Errorf("%d sessions were terminated", n)
		}
		p.tell(fmt.Sprintf("go %d", id))
		if job := until(t, q, id, queue.Completed); job.Attempts != 1 {
			t.Errorf("attempt %d", job.Attempts)
		}
		next := enqueue(t, q, queue.NewJob{}, "nothing")
		until(t, q, next, queue.Completed)
		settled(t, conn, sessions+l.name+`'`, 3)
	})
}

// A network that goes silent: the handler is stopped by the worker's own clock, the job
// is done elsewhere, and the worker is of use again when the network is back.
func TestSilentNetworkEndsTrust(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		q, url := open(t)
		id := enqueue(t, q, queue.NewJob{}, "wait")
		r := newRelay(t, url)
		p := start(t, l, options{URL: r.url, Lease: 2})
		p.says(fmt.Sprintf("began %d 1 .*", id))
		r.stall()
		p.says(fmt.Sprintf("stopped %d LeaseLost", id))
		if n := p.count(fmt.Sprintf("job %d stops: lease lost: no heartbeat got through in time", id)); n != 1 {
			t.Error("it was stopped for another reason")
		}
		p.says("heartbeats: .*") // it found out that its connection is of no use
		r.resume()
		p.says("heartbeats: working again")
		p.says(fmt.Sprintf("began %d 2 .*", id))
		p.tell(fmt.Sprintf("go %d", id))
		until(t, q, id, queue.Completed)
	})
}

// The file alone, run as its first lines say.
func TestCommandLine(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		q, url := open(t)
		id := enqueue(t, q, queue.NewJob{Queue: "reports"}, "nothing")
		p := launch(t, l, []string{l.worker, "emails", "reports"}, "DATABASE_URL="+url)
		p.says(fmt.Sprintf(`job %d of reports, attempt 1: \{"do": "nothing"\}`, id))
		until(t, q, id, queue.Completed)
		p.signal(syscall.SIGTERM)
		if code := p.exit(); code != 0 {
			t.Errorf("exit status %d", code)
		}
		if code := launch(t, l, []string{l.worker}, "DATABASE_URL="+url).exit(); code != 2 {
			t.Errorf("without a queue: exit status %d", code)
		}
	})
}

// relay stands between a worker and its server and can hold all bytes back.
type relay struct {
	url string

	mu    sync.Mutex
	flows chan struct{} // closed while bytes flow
}

func newRelay(t *testing.T, server string) *relay {
	t.Helper()
	config, err := pgx.ParseConfig(server)
	if err != nil {
		t.Fatal(err)
	}
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	to := url.URL{Scheme: "postgres", User: url.User(config.User), Host: front.Addr().String(), Path: config.Database, RawQuery: "sslmode=disable"}
	r := &relay{url: to.String(), flows: make(chan struct{})}
	close(r.flows)
	network, address := pgconn.NetworkAddress(config.Host, config.Port)
	ctx, cancel := context.WithCancel(context.Background())
	var open sync.WaitGroup
	open.Go(func() {
		for {
			client, err := front.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial(network, address)
			if err != nil {
				client.Close()
				continue
			}
			context.AfterFunc(ctx, func() { client.Close(); server.Close() })
			open.Go(func() { r.pump(client, server) })
			open.Go(func() { r.pump(server, client) })
		}
	})
	t.Cleanup(func() {
		front.Close()
		cancel()
		r.resume()
		open.Wait()
	})
	return r
}

func (r *relay) pump(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		r.mu.Lock()
		flows := r.flows
		r.mu.Unlock()
		<-flows
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (r *relay) stall() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flows = make(chan struct{})
}

func (r *relay) resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.flows:
	default:
		close(r.flows)
	}
}
