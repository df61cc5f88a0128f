package scenario

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/workers"
)

// losses are the leases that were lost in a play which has only a queue to itself. Then
// any reaper of the database may take them back, and only the play's own tell of it.
type losses struct {
	held map[queue.Lease]bool // those that were there at the last look
	gone map[queue.Lease]bool // those that were not there any more
	told map[queue.Lease]bool // guarded by the stage's lock
}

// first reports whether the end of a lease has not been told before.
func (s *Stage) first(lease queue.Lease) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.losses.told == nil {
		s.losses.told = map[queue.Lease]bool{}
	}
	told := s.losses.told[lease]
	s.losses.told[lease] = true
	return !told
}

// noteLosses tells of leases that strangers took back, as the jobs' history has it. It is
// a look late, so that the play's own reapers come first: they know it best. How soon
// strangers are is no figure of the play.
func (s *Stage) noteLosses(ctx context.Context, held map[queue.Lease]bool) {
	l := &s.losses
	if len(l.gone) > 0 && s.tellLosses(ctx, l.gone) != nil {
		return // they are looked for again
	}
	l.gone = map[queue.Lease]bool{}
	for lease := range l.held {
		if !held[lease] {
			l.gone[lease] = true
		}
	}
	l.held = held
}

func (s *Stage) tellLosses(ctx context.Context, gone map[queue.Lease]bool) error {
	var ids []int64
	for lease := range gone {
		ids = append(ids, lease.ID)
	}
	rows, err := s.Q.Pool().Query(ctx, s.Q.Schema().Query("scenario_lost"), ids)
	if err != nil {
		return err
	}
	var lease queue.Lease
	var attempt int
	var dead bool
	_, err = pgx.ForEachRow(rows, []any{&lease.ID, &lease.Token, &attempt, &dead}, func() error {
		if !gone[lease] || !s.first(lease) {
			return nil
		}
		e := Event{At: time.Now(), What: workers.ReapedBack, Text: fmt.Sprintf("job %d: lease lost by %s, back to pending after attempt %d", lease.ID, NameOf(lease.Token), attempt)}
		if dead {
			e.What, e.Text = workers.ReapedDead, fmt.Sprintf("job %d: lease lost by %s at attempt %d, the last: dead", lease.ID, NameOf(lease.Token), attempt)
		}
		s.event(e)
		s.runs.heard(workers.Event{At: e.At, What: e.What, JobID: lease.ID})
		return nil
	})
	return err
}
