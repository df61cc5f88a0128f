package workers

import (
	"context"
	"log/slog"
	"os"
	ossignal "os/signal"
	"syscall"
	"time"
)

// passedOn is how long after the first signal others are the same one again: a
// terminal's Ctrl-C reaches a program and also make, timeout or the shell it was
// started by, and those pass it on.
const passedOn = 500 * time.Millisecond

// Run starts the pool and returns once it has stopped: after SIGINT, SIGTERM,
// SIGHUP or the end of ctx, when it drains as [Pool.Stop] does, or after a Stop
// called elsewhere. A second signal, half a second or more after the first,
// cancels the handlers at once; from then on signals do what they do without Run,
// so that a third kills. A signal that the process was started to ignore, as by
// nohup, stays ignored. Run returns what Stop does, or [ErrStopped] when the pool
// was stopped before. It may be called for a pool that was started before.
func (p *Pool) Run(ctx context.Context) error {
	signals := make(chan os.Signal, 4)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !ossignal.Ignored(s) {
			ossignal.Notify(signals, s)
		}
	}
	defer ossignal.Stop(signals)
	if err := p.Start(ctx); err != nil {
		return err
	}
	var first time.Time
	over := ctx.Done() // of a pool that was started before, with another context
	for {
		select {
		case <-over:
			over = nil
			p.life.end(ErrStopped)
		case <-p.life.ended():
			return p.whatIsLeft()
		case s := <-signals:
			switch {
			case first.IsZero():
				first = time.Now()
				p.life.end(ErrStopped)
				p.log(slog.LevelInfo, "draining; once more forces", slog.String("signal", s.String()))
			case time.Since(first) < passedOn:
				p.log(slog.LevelDebug, "the same signal, passed on", slog.String("signal", s.String()))
			default:
				ossignal.Stop(signals)
				p.force()
				p.log(slog.LevelWarn, "forced; once more kills", slog.String("signal", s.String()))
			}
		}
	}
}
