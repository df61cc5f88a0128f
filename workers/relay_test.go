package workers

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// relay stands between a queue and its server: it delays every chunk of bytes in
// each direction, and can hold all of them back.
type relay struct {
	up, down time.Duration

	mu    sync.Mutex
	flows chan struct{} // closed while bytes flow; open while they are held back
	conns []net.Conn
	wait  sync.WaitGroup
}

func newRelay(t testing.TB, up, down time.Duration) *relay {
	r := &relay{up: up, down: down, flows: make(chan struct{})}
	close(r.flows)
	t.Cleanup(func() {
		r.resume()
		r.mu.Lock()
		for _, c := range r.conns {
			c.Close()
		}
		r.mu.Unlock()
		r.wait.Wait()
	})
	return r
}

// through has a queue's connections go through the relay.
func (r *relay) through(config *pgxpool.Config) {
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		server, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		client, end, err := socketPair()
		if err != nil {
			server.Close()
			return nil, err
		}
		r.mu.Lock()
		r.conns = append(r.conns, server, end)
		r.mu.Unlock()
		r.wait.Go(func() { r.pump(end, server, r.up) })
		r.wait.Go(func() { r.pump(server, end, r.down) })
		return client, nil
	}
}

// socketPair is a pair of TCP connections, which have the deadlines pgx needs.
func socketPair() (client, server net.Conn, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	if client, err = net.Dial("tcp", l.Addr().String()); err != nil {
		return nil, nil, err
	}
	server, err = l.Accept()
	return client, server, err
}

// stall holds all bytes back, in both directions, until resume.
func (r *relay) stall() {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.flows:
		r.flows = make(chan struct{})
	default:
	}
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

func (r *relay) flowing() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.flows
}

func (r *relay) pump(from, to net.Conn, delay time.Duration) {
	type chunk struct {
		due   time.Time
		bytes []byte
	}
	chunks := make(chan chunk, 1024)
	go func() {
		defer close(chunks)
		for {
			buffer := make([]byte, 32<<10)
			n, err := from.Read(buffer)
			if n > 0 {
				chunks <- chunk{time.Now().Add(delay), buffer[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	for c := range chunks {
		time.Sleep(time.Until(c.due))
		<-r.flowing()
		if _, err := to.Write(c.bytes); err != nil {
			break
		}
	}
	from.Close()
	to.Close()
	for range chunks { // until the reader has seen the close
	}
}
