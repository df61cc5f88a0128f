package cli

import (
	"sync"
	"time"
)

// listening is how long the end of the work waits for whoever reads what is told: a
// terminal may have been stopped with ctrl+s, a pipe may be full and stay so.
const listening = 2 * time.Second

// teller writes one thing after the other, in a goroutine of its own, so that a reader
// who reads no more holds up the work but not its end.
type teller struct {
	hurry  <-chan struct{} // closed when the end has begun
	writes chan func()
	deaf   chan struct{} // closed when nothing more is written
	once   sync.Once
}

func newTeller(hurry <-chan struct{}) *teller {
	t := &teller{hurry: hurry, writes: make(chan func()), deaf: make(chan struct{})}
	go func() {
		for {
			select {
			case write := <-t.writes:
				write()
			case <-t.deaf:
				return
			}
		}
	}()
	return t
}

// tell has something written, and waits for that. In the end it gives up after a while,
// and with it everybody who has something to tell.
func (t *teller) tell(write func()) {
	var tooLong <-chan time.Time
	writes, hurry, written := t.writes, t.hurry, make(chan struct{})
	for {
		select {
		case writes <- func() { write(); close(written) }:
			writes = nil
		case <-written:
			return
		case <-hurry:
			hurry = nil
			timer := time.NewTimer(listening)
			defer timer.Stop()
			tooLong = timer.C
		case <-tooLong:
			t.stop()
		case <-t.deaf:
			return
		}
	}
}

// stop ends the telling.
func (t *teller) stop() { t.once.Do(func() { close(t.deaf) }) }

// stopped tells whether nothing more is written.
func (t *teller) stopped() bool {
	select {
	case <-t.deaf:
		return true
	default:
		return false
	}
}
