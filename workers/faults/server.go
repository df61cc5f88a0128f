package faults

import (
	"context"

	"github.com/leasetop/leasetop/sql/local"
)

// RestartServer stops a private server under everybody who uses it, has whoever wants to
// look around while it is down, and starts it again; it returns when the server takes
// connections. [local.Immediate] is a crash: what was committed is recovered from the WAL.
// away may be nil; should it fail, the server is started all the same.
func RestartServer(ctx context.Context, server *local.Server, mode local.Mode, away func() error) error {
	if err := server.Halt(ctx, mode); err != nil {
		return err
	}
	var failed error
	if away != nil {
		failed = away()
	}
	if err := server.Restart(context.WithoutCancel(ctx), mode); err != nil {
		return err
	}
	return failed
}
