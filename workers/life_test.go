package workers

import (
	"context"
	"errors"
	"testing"
)

func TestLifeEndsWithItsCause(t *testing.T) {
	t.Parallel()
	var l life
	cause := errors.New("enough")
	got := make(chan error, 1)
	started := l.start(context.Background(), func(ctx context.Context) {
		<-ctx.Done()
		got <- context.Cause(ctx)
	})
	if !started {
		t.Fatal("it did not start")
	}
	if l.start(context.Background(), func(context.Context) { t.Error("it started twice") }) {
		t.Error("a second start was accepted")
	}
	l.stop(cause)
	l.stop(errors.New("again"))
	if err := <-got; !errors.Is(err, cause) {
		t.Errorf("it ended because of %v, want %v", err, cause)
	}
}

func TestLifeEndedBeforeItsStartNeverRuns(t *testing.T) {
	t.Parallel()
	var l life
	l.stop(nil)
	if l.start(context.Background(), func(context.Context) { t.Error("it ran") }) {
		t.Error("it started after its end")
	}
	<-l.ended()
}

func TestLifeThatReturnsByItselfHasEnded(t *testing.T) {
	t.Parallel()
	var l life
	l.start(context.Background(), func(context.Context) {})
	<-l.ended()
	l.stop(nil)
}
