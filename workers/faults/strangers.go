package faults

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
)

// strangePrefix begins the names of the queues that faults make for themselves, by which
// those of a program that was killed are known.
const strangePrefix = "leasetop-fault-"

// strangeQueue makes up the name of a queue of which nobody else has jobs.
func strangeQueue(name string) string {
	var some [3]byte
	rand.Read(some[:]) // never fails since Go 1.24
	return strangePrefix + name + "-" + hex.EncodeToString(some[:])
}

// sweep removes what killed programs left in such queues. It reads the whole table.
func sweep(ctx context.Context, q *queue.Queue) error {
	rows, _ := q.Pool().Query(ctx, q.Schema().Query("fault_queues"), strangePrefix)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for i := 0; err == nil && i < len(names); i++ {
		_, err = unheld(ctx, q, names[i], func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, q.Schema().Query("fault_clean"), names[i])
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("remove the jobs of workers that are gone: %w", err)
	}
	return nil
}

// strangers are workers of somebody else's making, on a queue of their own that is always
// filled again. They know no heartbeat, no wake-up and no retry.
type strangers struct {
	q     *queue.Queue
	queue string
	app   string // the application name of their connections
	claim Claimer
	// within has them work inside the transaction of the claim.
	within bool
	stop   context.CancelFunc
	all    sync.WaitGroup

	short chan struct{}      // there are no more jobs
	ids   map[int64]struct{} // of the jobs there are: keepFilled's

	mu      sync.Mutex
	claimed map[int64]int // how often each of the last jobs was claimed
	jobs    int
	twice   int
	took    time.Duration // a claim, the last few weighing most
}

const (
	strangeWork  = 30 * time.Millisecond // what a job takes
	strangeLease = time.Minute           // longer than any of them takes
	strangeBatch = 200
)

func strange(name string, claim Claimer, within bool) func(context.Context, Target) (*Active, error) {
	return func(ctx context.Context, t Target) (*Active, error) {
		s := &strangers{
			q: t.Queue, queue: strangeQueue(name), app: "leasetop " + name + " worker", claim: claim, within: within,
			claimed: map[int64]int{}, short: make(chan struct{}, 1), ids: map[int64]struct{}{},
		}
		held, err := takeHold(ctx, t.Queue, s.queue)
		if err != nil {
			return nil, err
		}
		if err := s.fill(ctx); err != nil {
			held.letGo()
			return nil, err
		}
		var working context.Context
		working, s.stop = context.WithCancel(context.WithoutCancel(ctx))
		s.all.Go(func() { s.keepFilled(working) })
		for i := range strangerCount {
			s.all.Go(func() { s.work(working, fmt.Sprintf("%s-%d", name, i+1)) })
		}
		return &Active{
			did:      fmt.Sprintf("%d %s workers on queue %s", strangerCount, name, s.queue),
			progress: s.stands,
			heal: func(ctx context.Context) error {
				s.stop()
				s.all.Wait()
				if err := s.clean(ctx); err != nil {
					return err
				}
				held.letGo()
				return nil
			},
		}, nil
	}
}

func (s *strangers) fill(ctx context.Context) error {
	added, err := s.q.EnqueueMany(ctx, slices.Repeat([]queue.NewJob{{Queue: s.queue, Kind: "strange"}}, strangeBatch))
	for _, one := range added {
		s.ids[one.ID] = struct{}{}
	}
	return err
}

// forget removes the jobs that are done.
func (s *strangers) forget(ctx context.Context) error {
	rows, _ := s.q.Pool().Query(ctx, s.q.Schema().Query("fault_forget"), slices.Collect(maps.Keys(s.ids)), s.queue)
	left, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	clear(s.ids)
	for _, id := range left {
		s.ids[id] = struct{}{}
	}
	return nil
}

// clean removes all jobs, also those of whose insertion no answer came.
func (s *strangers) clean(ctx context.Context) error {
	if _, err := s.q.Pool().Exec(ctx, s.q.Schema().Query("fault_clean"), s.queue); err != nil {
		return fmt.Errorf("remove the jobs of %s: %w", s.queue, err)
	}
	return nil
}

// keepFilled adds jobs whenever there are no more, and removes those that are done. While
// the database is away the next round tries again.
func (s *strangers) keepFilled(ctx context.Context) {
	for {
		select {
		case <-s.short:
			_ = s.forget(ctx)
			_ = s.fill(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// work goes on until the end of ctx, over a new connection where one was lost.
func (s *strangers) work(ctx context.Context, owner string) {
	for ctx.Err() == nil {
		_ = s.connection(ctx, owner)
		rest(ctx, time.Second)
	}
}

func rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (s *strangers) connection(ctx context.Context, owner string) error {
	conn, _, err := s.q.Connect(ctx, func(c *pgx.ConnConfig) { c.RuntimeParams["application_name"] = s.app })
	if err != nil {
		return err
	}
	defer closeSoon(conn)
	for {
		found, err := s.one(ctx, conn, owner)
		if err != nil {
			return err
		}
		if !found {
			select {
			case s.short <- struct{}{}:
			default:
			}
			rest(ctx, 100*time.Millisecond)
		}
	}
}

// one does one job, if there is any.
func (s *strangers) one(ctx context.Context, conn *pgx.Conn, owner string) (found bool, err error) {
	if s.within {
		tx, err := conn.Begin(ctx)
		if err != nil {
			return false, err
		}
		defer func() {
			if commit := tx.Commit(ctx); err == nil {
				err = commit
			}
		}()
	}
	began := time.Now()
	id, found, err := s.claim(ctx, conn, s.q.Schema(), s.queue, owner, strangeLease)
	if err != nil || !found {
		return false, err
	}
	s.note(id, time.Since(began))
	rest(ctx, strangeWork)
	_, err = Finish(ctx, conn, s.q.Schema(), id, owner)
	return true, err
}

// remembered is how many jobs are told apart: many more than are done at a time.
const remembered = 100 * strangeBatch

func (s *strangers) note(id int64, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.claimed) > remembered {
		clear(s.claimed)
	}
	s.claimed[id]++
	switch s.claimed[id] {
	case 1:
		s.jobs++
	case 2:
		s.twice++
	}
	s.took += (took - s.took) / 8
}

// stands says what came of it so far.
func (s *strangers) stands() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%d jobs, %d done twice · a claim takes %v", s.jobs, s.twice, s.took.Round(time.Millisecond))
}
