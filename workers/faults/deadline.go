package faults

import (
	"net"
	"time"
)

// deadline is by when a read or a write is to have come to its end.
type deadline struct {
	timer  *time.Timer // nil for none
	passed bool
}

func (d *deadline) clear() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.passed = false
}

// SetDeadline implements [net.Conn].
func (w *wire) SetDeadline(t time.Time) error { return w.setDeadline(t, &w.reading, &w.writing) }

// SetReadDeadline implements [net.Conn].
func (w *wire) SetReadDeadline(t time.Time) error { return w.setDeadline(t, &w.reading) }

// SetWriteDeadline implements [net.Conn].
func (w *wire) SetWriteDeadline(t time.Time) error { return w.setDeadline(t, &w.writing) }

func (w *wire) setDeadline(t time.Time, which ...*deadline) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return net.ErrClosed
	}
	for _, d := range which {
		d.clear()
		if t.IsZero() {
			continue
		}
		left := time.Until(t)
		if left <= 0 {
			d.passed = true
			continue
		}
		var timer *time.Timer
		timer = time.AfterFunc(left, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			if d.timer == timer { // and no other was set meanwhile
				d.passed = true
				w.turn.Broadcast()
			}
		})
		d.timer = timer
	}
	w.turn.Broadcast()
	return nil
}
