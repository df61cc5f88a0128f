package workers

import (
	"context"
	"log/slog"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// Logging writes one line for each handler that ends: how it ended, after how
// long, and why its context was cancelled if it was. A nil logger is [slog.Default].
func Logging(to *slog.Logger) Middleware {
	return func(next Handler) Handler {
		return func(ctx context.Context, job *queue.Job) (err error) {
			began, returned := time.Now(), false
			defer func() { // deferred without recover, which would hide where a panic came from
				level, how := ending(err, returned)
				attrs := []slog.Attr{
					slog.Int64("job", job.ID), slog.String("queue", job.Queue), slog.String("kind", job.Kind),
					slog.Int("attempt", job.Attempts), slog.Duration("took", time.Since(began)),
				}
				if err != nil {
					attrs = append(attrs, slog.String("error", err.Error()))
				}
				if cause := context.Cause(ctx); cause != nil {
					attrs = append(attrs, slog.String("cause", cause.Error()))
				}
				logger := to
				if logger == nil {
					logger = slog.Default()
				}
				logger.LogAttrs(ctx, level, how, attrs...)
			}()
			err = next(ctx, job)
			returned = true
			return err
		}
	}
}

// ending names how a handler ended, and how bad that is.
func ending(err error, returned bool) (slog.Level, string) {
	_, snoozed := queue.IsSnooze(err)
	switch {
	case !returned:
		return slog.LevelError, "handler panicked"
	case err == nil:
		return slog.LevelInfo, "handler done"
	case snoozed:
		return slog.LevelInfo, "handler snoozed"
	case queue.IsPermanent(err):
		return slog.LevelError, "handler failed for good"
	}
	return slog.LevelWarn, "handler failed"
}
