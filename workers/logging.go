package workers

import (
	"context"
	"log/slog"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// Logging writes one line for each handler that ends: how it ended, after how
// long, and why its context was cancelled if it was. A nil logger is [slog.Default]. A
// logger that panics costs lines, and no job.
func Logging(to *slog.Logger) Middleware {
	return func(next Handler) Handler {
		return func(ctx context.Context, job *queue.Job) (err error) {
			began, returned := time.Now(), false
			// Deferred without recover of the handler's panic, which would hide where that came from.
			defer func() { logEnd(ctx, to, job, time.Since(began), read(err), returned) }()
			err = next(ctx, job)
			returned = true
			return err
		}
	}
}

func logEnd(ctx context.Context, to *slog.Logger, job *queue.Job, took time.Duration, v verdict, returned bool) {
	write := func() {
		level, how := ending(v, returned)
		attrs := []slog.Attr{
			slog.Int64("job", job.ID), slog.String("queue", job.Queue), slog.String("kind", job.Kind),
			slog.Int("attempt", job.Attempts), slog.Duration("took", took),
		}
		if v.err != nil {
			attrs = append(attrs, slog.String("error", v.text))
		}
		if cause := context.Cause(ctx); cause != nil {
			attrs = append(attrs, slog.String("cause", cause.Error()))
		}
		logger := to
		if logger == nil {
			logger = slog.Default()
		}
		logger.LogAttrs(ctx, level, how, attrs...)
	}
	if r, ok := ctx.Value(runKey{}).(*run); ok {
		r.worker.pool.call("the logger of Logging", write)
		return
	}
	guarded(write)
}

// ending names how a handler ended, and how bad that is.
func ending(v verdict, returned bool) (slog.Level, string) {
	switch {
	case !returned, v.crash != nil:
		return slog.LevelError, "handler panicked"
	case v.err == nil:
		return slog.LevelInfo, "handler done"
	case v.snoozed:
		return slog.LevelInfo, "handler snoozed"
	case v.permanent:
		return slog.LevelError, "handler failed for good"
	}
	return slog.LevelWarn, "handler failed"
}
