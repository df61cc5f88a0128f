package scenario

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Others know that a play lives by two things: a session of its own holds its lock, and
// its heartbeat is not old. The session may break, with the server or by itself: the play
// takes its lock again on another. So only a play is taken for dead, and what it left
// swept away, whose lock is free and whose heartbeat is old.
const (
	beatEvery = 3 * time.Second
	beatTakes = 5 * time.Second // at most
	// lockTakes is how long the session waits for what somebody has locked, so that no
	// killed play's leftovers keep a new one from its beginning.
	lockTakes = time.Second
	deadAfter = 30 * time.Second
	backEvery = 250 * time.Millisecond // tries to connect again
	// surelyTakes is how long the clean-up tries to reach a server that is away.
	surelyTakes = 10 * time.Second
)

// errSwept is the end of a play that another took for dead.
var errSwept = errors.New("its jobs were removed by another play, which had no sign of life from it")

// takeLock opens a session, and takes the play's lock in it.
func (s *Stage) takeLock(ctx context.Context) error {
	conn, _, err := s.Q.Connect(ctx, func(c *pgx.ConnConfig) {
		c.RuntimeParams["application_name"] = "leasetop audience"
		c.RuntimeParams["lock_timeout"] = strconv.FormatInt(lockTakes.Milliseconds(), 10)
	})
	if err != nil {
		return err
	}
	s.lock = conn
	if got, err := s.tryLock(ctx, s.run); err != nil || !got {
		return errors.Join(err, fmt.Errorf("lock %s", s.run), s.closeLock(ctx))
	}
	return nil
}

func (s *Stage) closeLock(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	return s.lock.Close(ctx)
}

// letGo ends the play's life, as others see it.
func (s *Stage) letGo(ctx context.Context) error {
	if s.dies != nil {
		s.dies()
	}
	_ = s.closeLock(ctx) // the lock is gone with the session, if that broke
	return nil
}

// live has others know that the play lives, until it lets go. The session is its own
// from now on.
func (s *Stage) live() {
	ctx, stop := context.WithCancel(context.WithoutCancel(s.ctx))
	over := make(chan struct{})
	s.dies = func() {
		stop()
		<-over
	}
	go func() {
		defer close(over)
		for ctx.Err() == nil {
			err := s.beat(ctx)
			if err == nil {
				err = s.hearken(ctx)
			}
			if errors.Is(err, errSwept) {
				s.play.cancel(errSwept)
				return
			}
			if err != nil && ctx.Err() == nil {
				s.takeLockAgain(ctx)
			}
		}
	}()
}

// beat renews the heartbeat.
func (s *Stage) beat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, beatTakes)
	defer cancel()
	tag, err := s.lock.Exec(ctx, s.Q.Schema().Query("scenario_beat"), s.run)
	pg := (*pgconn.PgError)(nil)
	switch {
	case err == nil && tag.RowsAffected() == 0:
		return errSwept
	case errors.As(err, &pg) && (pg.Code == "42P01" || pg.Code == "3F000"): // with all the schema
		return errSwept
	}
	return err
}

// hearken waits until the next heartbeat is due. That the session breaks is heard at once.
func (s *Stage) hearken(ctx context.Context) error {
	due, cancel := context.WithTimeout(ctx, beatEvery)
	defer cancel()
	for {
		_, err := s.lock.WaitForNotification(due)
		switch {
		case err == nil: // nothing that it asked for
		case due.Err() != nil && !s.lock.IsClosed():
			return nil
		default:
			return err
		}
	}
}

// takeLockAgain takes the lock in another session, as soon as there can be one. It waits
// before the first try, too: a session that is no better than the last is no sooner there.
func (s *Stage) takeLockAgain(ctx context.Context) {
	_ = s.closeLock(ctx)
	for pause(ctx, backEvery) {
		connecting, cancel := context.WithTimeout(ctx, beatTakes)
		err := s.takeLock(connecting)
		cancel()
		if err == nil {
			return
		}
	}
}

// pause waits, and tells whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
