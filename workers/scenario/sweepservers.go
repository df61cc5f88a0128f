package scenario

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/leasetop/leasetop/sql/local"
)

// beingMade is how long the folder of a server may be there before somebody holds it.
const beingMade = 5 * time.Second

// SweepServers removes the servers of plays that were killed, running or not, which nobody
// holds any more. dir is where they are kept, as [Ground] has it. What cannot be removed
// now is tried again by the next play.
func SweepServers(ctx context.Context, dir string) {
	folders, _ := local.Folders(dir, serverPrefix)
	for _, folder := range folders {
		info, err := os.Stat(folder)
		if err != nil || time.Since(info.ModTime()) < beingMade {
			continue
		}
		_ = local.Remove(ctx, local.Options{Dir: filepath.Dir(folder), Name: filepath.Base(folder)}) // ErrInUse: it lives
	}
}

// sweepServers does so beside the play, which does not wait for it.
func (s *Stage) sweepServers(ctx context.Context) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	over := make(chan struct{})
	s.Later("end the sweep of servers", func(context.Context) error {
		stop()
		<-over
		return nil
	})
	go func() {
		defer close(over)
		SweepServers(ctx, s.play.ground.Dir)
	}()
}
