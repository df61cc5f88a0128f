package cli

import (
	"context"
	"errors"
	"testing"
)

// endless is standard input where nobody types; it gives up when it is read.
type endless struct{ read func() }

func (e endless) Read([]byte) (int, error) {
	e.read()
	select {}
}

func TestPayloadDoesNotWaitForStandardInput(t *testing.T) {
	t.Parallel()
	ctx, giveUp := context.WithCancel(t.Context())
	_, err := Payload(ctx, "-", endless{giveUp})
	if want := "read the payload on standard input: context canceled"; !errors.Is(err, context.Canceled) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
