package workers

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// probeEvery is how long the LISTEN connection may be silent before it is asked
// for a sign of life, and probePatience how long that may take: a connection
// that died silently is replaced after both. Until then polling finds the work.
const (
	probeEvery    = 20 * time.Second
	probePatience = 5 * time.Second
)

// listen wakes workers when a queue gets work, and hears of cancels and of pauses that
// end. It keeps a connection of its own and replaces it when it fails.
func (p *Pool) listen(ctx context.Context) {
	again := pace{min: 100 * time.Millisecond, max: 5 * time.Second}
	slow := 0
	for p.heart.await(ctx) {
		stood, err := p.listenOnce(ctx, endured(connectPatience, slow))
		if ctx.Err() != nil {
			return
		}
		slow++
		if stood > 0 || !errors.Is(err, context.DeadlineExceeded) {
			slow = 0
		}
		again.worked(stood)
		p.trouble("wake-ups (LISTEN)", err)
		if !sleep(ctx, again.next()) {
			return
		}
	}
}

// listenOnce connects and listens until something fails. It returns for how long it listened.
func (p *Pool) listenOnce(ctx context.Context, patience time.Duration) (stood time.Duration, err error) {
	conn, idle, err := p.connectListener(ctx, patience)
	if err != nil {
		return 0, err
	}
	began, silence := p.clock(), probeEvery
	if idle > 0 { // or the server ends the session
		silence = min(silence, idle/2)
	}
	defer func() { stood = p.clock() - began }()
	defer func() {
		closing, cancel := context.WithTimeout(context.Background(), closePatience)
		defer cancel()
		_ = conn.Close(closing) // it is given up either way
	}()
	p.works("wake-ups (LISTEN)")
	p.wakeAll() // for what was announced while nobody listened
	p.hearCancels(func(int64) bool { return true })
	p.signals.listens.send(p.q.Schema().ReadyChannel())
	for {
		waiting, cancel := context.WithTimeout(ctx, silence)
		n, err := conn.WaitForNotification(waiting)
		silent := waiting.Err() != nil
		cancel()
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case err == nil && n.Channel == p.q.Schema().ControlChannel():
			p.hearControl(n.Payload)
		case err == nil && n.Payload == "":
			p.wakeAll()
		case err == nil:
			p.q.Forget(n.Payload) // the new job may stand before where claims look
			p.wakeOne(n.Payload, nil)
		case silent && !conn.IsClosed():
			probing, cancel := context.WithTimeout(ctx, probePatience)
			err := conn.Ping(probing)
			cancel()
			if err != nil {
				return 0, err
			}
		default:
			return 0, err
		}
	}
}

// nameKept is how much of an application name the server keeps, in bytes.
const nameKept = 63

// ListenerName is the application name of the session on which a pool hears of new work,
// whose queue has this one: pg_stat_activity tells it from the others by it.
func ListenerName(app string) string {
	if app == "" {
		app = "leasetop"
	}
	const suffix = " listen"
	return app[:min(len(app), nameKept-len(suffix))] + suffix
}

func (p *Pool) connectListener(ctx context.Context, patience time.Duration) (conn *pgx.Conn, idle time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, idle, err = p.q.Connect(ctx, func(c *pgx.ConnConfig) {
		c.RuntimeParams["application_name"] = ListenerName(c.RuntimeParams["application_name"])
	})
	if err != nil {
		return nil, 0, err
	}
	for _, statement := range []string{"listen_control", "listen_ready"} {
		if _, err := conn.Exec(ctx, p.q.Schema().Query(statement)); err != nil {
			_ = conn.Close(ctx)
			return nil, 0, err
		}
	}
	return conn, idle, nil
}

// wakeOne wakes one worker with a free slot for this queue, other than not. One
// is enough: a worker that fills all its slots from a queue wakes the next, and a
// slot that becomes free looks by itself. So no wake is lost and no herd runs.
// It reports whether there was one.
func (p *Pool) wakeOne(queue string, not *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	var chosen *worker
	for i := range p.workers {
		w := p.workers[(p.turn+i)%len(p.workers)]
		if w == not || !w.claiming() || w.free() <= 0 || !slices.Contains(w.queues, queue) {
			continue
		}
		if len(w.woken) == 0 { // asleep
			chosen = w
			p.turn = (p.turn + i + 1) % len(p.workers)
			break
		}
		if chosen == nil { // on its way already
			chosen = w
		}
	}
	if chosen == nil {
		return false
	}
	chosen.woken[queue] = true
	chosen.poke()
	return true
}

// wakeAll wakes every worker.
func (p *Pool) wakeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.workers {
		p.q.Forget(w.queues...)
		w.poke()
	}
}

// passOn hands wakes that this worker has no slot for to others.
func (w *worker) passOn() {
	w.pool.mu.Lock()
	queues := make([]string, 0, len(w.woken))
	for name := range w.woken {
		queues = append(queues, name)
	}
	clear(w.woken)
	w.pool.mu.Unlock()
	for _, name := range queues {
		w.pool.wakeOne(name, w)
	}
}

// passOnAll has others look at the queues of a worker that takes no more work,
// in case it had been woken for them.
func (p *Pool) passOnAll(w *worker) {
	for _, name := range w.queues {
		p.wakeOne(name, w)
	}
}
