package faults

import (
	"bytes"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// window is how many bytes may be on their way in one direction before the sender has
// to wait, as for the buffers of two kernels.
const window = 512 << 10

// wire is one connection that leads through a cable. It keeps what is on its way, so
// that a write returns though nothing arrives, as with TCP. Deadlines are its own: the
// connection below never has one.
type wire struct {
	inner net.Conn

	mu       sync.Mutex
	turn     *sync.Cond // anything below has changed
	stalled  bool
	delay    time.Duration
	up, down flow
	closed   bool // by this end
	snapped  bool // by the cable
	reading  deadline
	writing  deadline
}

// flow is what is on its way in one direction.
type flow struct {
	chunks []chunk
	size   int
	failed error // the far end takes no more
}

type chunk struct {
	due   time.Time
	bytes []byte
	end   error // there is nothing behind it
}

func newWire(inner net.Conn, stalled bool, delay time.Duration) *wire {
	w := &wire{inner: inner, stalled: stalled, delay: delay}
	w.turn = sync.NewCond(&w.mu)
	return w
}

// set tells the wire what has become of its cable. Less delay is for what is on its way, too.
func (w *wire) set(stalled bool, delay time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stalled = stalled
	if delay < w.delay {
		for _, f := range []*flow{&w.up, &w.down} {
			for i := range f.chunks {
				f.chunks[i].due = f.chunks[i].due.Add(delay - w.delay)
			}
		}
	}
	w.delay = delay
	w.turn.Broadcast()
	w.wakeAt(&w.up)
	w.wakeAt(&w.down)
}

// wakeAt has everybody look again when the first chunk of a flow is due. The lock is held.
func (w *wire) wakeAt(f *flow) {
	if len(f.chunks) == 0 {
		return
	}
	if left := time.Until(f.chunks[0].due); left > 0 {
		time.AfterFunc(left, func() {
			w.mu.Lock() // or whoever has just looked would miss it
			defer w.mu.Unlock()
			w.turn.Broadcast()
		})
	}
}

// snap breaks the connection at both ends.
func (w *wire) snap() {
	w.mu.Lock()
	w.snapped = true
	w.turn.Broadcast()
	w.mu.Unlock()
	_ = w.inner.Close()
}

// put has a chunk set out. The lock is held.
func (w *wire) put(f *flow, c chunk) {
	c.due = time.Now().Add(w.delay)
	f.chunks = append(f.chunks, c)
	f.size += len(c.bytes)
	w.turn.Broadcast()
	if len(f.chunks) == 1 {
		w.wakeAt(f)
	}
}

// arrived reports whether the first chunk of a flow is at the other end. The lock is held.
func (w *wire) arrived(f *flow) bool {
	return !w.stalled && len(f.chunks) > 0 && !time.Now().Before(f.chunks[0].due)
}

// drop takes the first chunk off. The lock is held.
func (w *wire) drop(f *flow) {
	f.size -= len(f.chunks[0].bytes)
	f.chunks[0] = chunk{}
	f.chunks = f.chunks[1:]
	w.turn.Broadcast()
	w.wakeAt(f)
}

// upload carries to the server what was written here, all of it, also when this end was
// closed meanwhile.
func (w *wire) upload() {
	defer func() { _ = w.inner.Close() }()
	for {
		w.mu.Lock()
		for !w.snapped && !w.arrived(&w.up) && (!w.closed || len(w.up.chunks) > 0) {
			w.turn.Wait()
		}
		if w.snapped || len(w.up.chunks) == 0 {
			w.mu.Unlock()
			return
		}
		next := w.up.chunks[0].bytes
		w.mu.Unlock()
		_, err := w.inner.Write(next)
		w.mu.Lock()
		w.drop(&w.up)
		if err != nil {
			w.up.failed = err
			w.turn.Broadcast()
			for !w.closed && !w.snapped { // there may be something to read yet
				w.turn.Wait()
			}
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
	}
}

// download fetches what the server sends, its end included.
func (w *wire) download() {
	buffer := make([]byte, 32<<10)
	for {
		n, err := w.inner.Read(buffer)
		w.mu.Lock()
		for w.down.size >= window && !w.closed && !w.snapped {
			w.turn.Wait()
		}
		if w.snapped || w.closed && err != nil {
			w.mu.Unlock()
			return
		}
		if n > 0 && !w.closed { // else nobody will ever read it
			w.put(&w.down, chunk{bytes: bytes.Clone(buffer[:n])})
		}
		if err != nil {
			w.put(&w.down, chunk{end: err})
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
	}
}

// Read implements [net.Conn].
func (w *wire) Read(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		switch err := w.cannot("read", &w.reading); {
		case err != nil:
			return 0, err
		case len(p) == 0:
			return 0, nil
		case w.arrived(&w.down):
			first := &w.down.chunks[0]
			if first.end != nil {
				return 0, first.end
			}
			n := copy(p, first.bytes)
			if n == len(first.bytes) {
				w.drop(&w.down)
				return n, nil
			}
			first.bytes = first.bytes[n:]
			w.down.size -= n
			w.turn.Broadcast()
			return n, nil
		}
		w.turn.Wait()
	}
}

// Write implements [net.Conn]. It returns once the bytes are on their way.
func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		switch err := w.cannot("write", &w.writing); {
		case err != nil:
			return 0, err
		case w.up.failed != nil && !w.stalled:
			return 0, w.up.failed
		case w.up.size < window:
			if len(p) > 0 {
				w.put(&w.up, chunk{bytes: bytes.Clone(p)})
			}
			return len(p), nil
		}
		w.turn.Wait()
	}
}

// cannot says why there is nothing to be read or written any more. The lock is held.
func (w *wire) cannot(what string, by *deadline) error {
	var err error
	switch {
	case w.closed:
		err = net.ErrClosed
	case w.snapped:
		err = os.NewSyscallError(what, syscall.ECONNRESET)
	case by.passed:
		err = os.ErrDeadlineExceeded
	default:
		return nil
	}
	return &net.OpError{Op: what, Net: w.inner.RemoteAddr().Network(), Source: w.LocalAddr(), Addr: w.RemoteAddr(), Err: err}
}

// Close implements [net.Conn]. What was written is still carried to the server.
func (w *wire) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return net.ErrClosed
	}
	w.closed = true
	w.down.chunks, w.down.size = nil, 0
	w.reading.clear()
	w.writing.clear()
	w.turn.Broadcast()
	return nil
}

// LocalAddr implements [net.Conn].
func (w *wire) LocalAddr() net.Addr { return w.inner.LocalAddr() }

// RemoteAddr implements [net.Conn].
func (w *wire) RemoteAddr() net.Addr { return w.inner.RemoteAddr() }
