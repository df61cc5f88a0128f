package workers

// signals let tests wait for what happened inside instead of for time. The zero
// value, in production, does nothing.
type signals struct {
	idle     signal[string] // a worker found nothing in any of its queues
	began    signal[int64]  // a job's handler is called now
	beat     signal[error]  // a heartbeat was answered, or failed
	shy      signal[bool]   // no claim for now, since the heartbeats of those before were refused
	looked   signal[error]  // the reaper looked
	retained signal[bool]   // retention had its turn, or found that another has it
	listens  signal[string] // LISTEN stands
	held     signal[int64]  // an outcome waits because its worker is frozen
	locked   signal[int64]  // an outcome found its row locked
	dropped  signal[int64]  // a result was dropped because its worker crashed
	refused  signal[int64]  // an outcome was refused by the server
	troubled signal[string] // an operation began to fail
}

// signal is a channel that nobody need listen to.
type signal[T any] struct{ ch chan T }

// listen must be called before the pool is started. The buffer is large enough
// for any test; what overflows it is dropped rather than holding up the pool.
func (s *signal[T]) listen() <-chan T {
	s.ch = make(chan T, 10_000)
	return s.ch
}

func (s *signal[T]) send(v T) {
	select {
	case s.ch <- v:
	default:
	}
}
