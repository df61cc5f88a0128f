package watch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// chance is a client that does whatever its random numbers say.
type chance struct {
	*rand.Rand
	t    *testing.T
	q    *queue.Queue
	psql *pgx.Conn
	name string
	held []queue.Lease
	n    uint64
}

func (c *chance) queue() string { return []string{"emails", "images", "reports", "mail"}[c.IntN(4)] }

// library does something with the library.
func (c *chance) library(ctx context.Context) error {
	one := func() []int64 { return []int64{c.Int64N(400) + 1, c.Int64N(400) + 1, c.Int64N(400) + 1} }
	lease := func() (l queue.Lease, ok bool) {
		if len(c.held) == 0 {
			return l, false
		}
		i := c.IntN(len(c.held))
		l = c.held[i]
		c.held = slices.Delete(c.held, i, i+1)
		return l, true
	}
	switch n := c.IntN(17); n {
	case 0, 1:
		_, err := c.q.Enqueue(ctx, queue.NewJob{Queue: c.queue(), MaxAttempts: 1 + c.IntN(3), Delay: time.Duration(c.IntN(2)*c.IntN(200)) * time.Millisecond})
		return err
	case 2:
		jobs := make([]queue.NewJob, c.IntN(60)+1)
		for i := range jobs {
			jobs[i].Queue = c.queue()
		}
		_, err := c.q.EnqueueMany(ctx, jobs)
		return err
	case 3, 4, 5:
		c.n++
		jobs, err := c.q.Claim(ctx, queue.ClaimRequest{
			Queue: c.queue(), Limit: 1 + c.IntN(5), Lease: []time.Duration{time.Microsecond, time.Minute}[c.IntN(2)],
			Owner: queue.Token{Process: "host:1:" + c.name, Worker: "w1", Claim: c.n}.String(),
		})
		for _, j := range jobs {
			c.held = append(c.held, j.Lease())
		}
		return err
	case 6:
		var renewals []queue.Renewal
		for _, l := range c.held {
			renewals = append(renewals, queue.Renewal{Lease: l, For: time.Minute})
		}
		_, err := c.q.Heartbeat(ctx, renewals)
		return err
	case 7, 8, 9, 10:
		l, ok := lease()
		if !ok {
			return nil
		}
		var err error
		switch c.IntN(5) {
		case 0, 1:
			err = c.q.Complete(ctx, l)
		case 2:
			_, err = c.q.Retry(ctx, l, "timeout", time.Duration(c.IntN(2))*time.Hour)
		case 3:
			err = c.q.Bury(ctx, l, "bad input")
		case 4:
			_, err = c.q.Release(ctx, l)
		}
		return err
	case 11:
		_, err := c.q.Reclaim(ctx, 50)
		return err
	case 12:
		_, err := c.q.Redrive(ctx, c.name, one()...)
		return err
	case 13:
		_, err := c.q.Discard(ctx, c.name, "why not", one()...)
		return err
	case 14:
		_, err := c.q.Restore(ctx, c.name, one()...)
		return err
	case 15:
		_, err := c.q.Cancel(ctx, c.name, one()...)
		return err
	}
	if c.IntN(2) == 0 {
		_, err := c.q.Pause(ctx, c.name, "", "reports")
		return err
	}
	_, err := c.q.Resume(ctx, "reports")
	return err
}

// raw is somebody else's SQL.
func (c *chance) raw(ctx context.Context) error {
	statements := []string{
		"INSERT INTO leasetop.jobs (queue, status, run_at) SELECT $1, (array['pending', 'completed', 'failed', 'dead'])[1 + n % 4], (array[now(), now() + interval '0.2 s', 'infinity', '-infinity', '3000-01-01', '4000-01-01 BC'])[1 + n % 6] FROM generate_series(1, 24) AS n",
		"INSERT INTO leasetop.jobs (queue, payload) VALUES ($1, to_jsonb(repeat(md5(random()::text), 2000)))",
		"UPDATE leasetop.jobs SET queue = $1 WHERE id % 17 = 3",
		"UPDATE leasetop.jobs SET queue = $1 WHERE queue = 'mail'",
		"UPDATE leasetop.jobs SET id = id + 10000 WHERE id < 400 AND id % 13 = 1 AND $1 <> ''",
		"UPDATE leasetop.jobs SET status = 'pending', locked_by = NULL, locked_at = NULL, lease_expires_at = NULL WHERE id % 11 = 1 AND $1 <> ''",
		"UPDATE leasetop.jobs SET status = 'dead', queue = $1 WHERE id % 11 = 2",
		"UPDATE leasetop.jobs SET status = 'completed' WHERE id % 11 = 3 AND $1 <> ''",
		"UPDATE leasetop.jobs SET status = 'processing', locked_by = $1, locked_at = now(), lease_expires_at = now() WHERE id % 11 = 4",
		"UPDATE leasetop.jobs SET run_at = run_at + interval '1 hour' WHERE id % 11 = 5 AND $1 <> ''",
		"UPDATE leasetop.jobs SET payload = '{}', status = 'failed' WHERE id % 11 = 6 AND $1 <> ''",
		"UPDATE leasetop.jobs SET locked_by = 'somebody' WHERE status = 'processing' AND $1 <> ''",
		"DELETE FROM leasetop.jobs WHERE id % 11 = 7 AND $1 <> ''",
		"DELETE FROM leasetop.jobs WHERE status = 'completed' AND queue = $1",
	}
	do := func(tx pgx.Tx) error {
		for range 1 + c.IntN(3) {
			if _, err := tx.Exec(ctx, statements[c.IntN(len(statements))], c.queue()); err != nil {
				return err
			}
		}
		return nil
	}
	if c.IntN(15) == 0 {
		_, err := c.psql.Exec(ctx, "TRUNCATE leasetop.jobs")
		return err
	}
	tx, err := c.psql.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if err := do(tx); err != nil {
		return err
	}
	switch c.IntN(4) {
	case 0: // a savepoint given up
		inner, err := tx.Begin(ctx)
		if err != nil {
			return err
		}
		if err := do(inner); err != nil {
			return err
		}
		if err := inner.Rollback(ctx); err != nil {
			return err
		}
	case 1:
		return tx.Rollback(ctx)
	}
	return tx.Commit(ctx)
}

// expected are the failures of clients that know nothing of each other.
func expected(err error) bool {
	var server *pgconn.PgError
	if errors.As(err, &server) {
		// a key that is there already, two that wait for each other
		return server.Code == "23505" || server.Code == "40P01"
	}
	return err == nil || errors.Is(err, queue.ErrLeaseLost)
}

// told is State as lines, for a comparison with the table's.
func counts(s *State) (lines []string) {
	for _, d := range s.Depths.Queues {
		if n := d.Ready + d.Scheduled + d.Processing + d.Failed + d.Dead; n > 0 {
			lines = append(lines, fmt.Sprintf("%s ready %d scheduled %d processing %d failed %d dead %d", d.Queue, d.Ready, d.Scheduled, d.Processing, d.Failed, d.Dead))
		}
	}
	for _, l := range s.Leases.List {
		lines = append(lines, fmt.Sprintf("lease %d %s %s", l.JobID, l.Owner, l.ExpiresAt.UTC().Format(time.RFC3339Nano)))
	}
	return lines
}

func tableCounts(t testing.TB, psql *pgx.Conn) (lines []string) {
	t.Helper()
	read := func(sql string) {
		rows, err := psql.Query(t.Context(), sql)
		do(t, err)
		list, err := pgx.CollectRows(rows, pgx.RowTo[string])
		do(t, err)
		lines = append(lines, list...)
	}
	read(`SELECT format('%s ready %s scheduled %s processing %s failed %s dead %s', queue,
			count(*) FILTER (WHERE status = 'pending' AND run_at <= now()), count(*) FILTER (WHERE status = 'pending' AND run_at > now()),
			count(*) FILTER (WHERE status = 'processing'), count(*) FILTER (WHERE status = 'failed'), count(*) FILTER (WHERE status = 'dead'))
		FROM leasetop.jobs WHERE status <> 'completed' GROUP BY queue ORDER BY queue COLLATE "C"`)
	rows, err := psql.Query(t.Context(), "SELECT id, locked_by, lease_expires_at FROM leasetop.jobs WHERE status = 'processing' ORDER BY lease_expires_at, id LIMIT 200")
	do(t, err)
	_, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (struct{}, error) {
		var id int64
		var owner string
		var at time.Time
		err := row.Scan(&id, &owner, &at)
		lines = append(lines, fmt.Sprintf("lease %d %s %s", id, owner, at.UTC().Format(time.RFC3339Nano)))
		return struct{}{}, err
	})
	do(t, err)
	return lines
}

func TestCountsAreTheTablesWhateverAnybodyDoes(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t)
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			url := testdb.On(t, server)
			q := open(t, url)
			f := start(t, q, Options{})
			if seed%2 == 0 { // half of them find something there
				await(t, f, "every connection up", attached)
			}
			var clients sync.WaitGroup
			for n := range uint64(3) {
				c := &chance{Rand: rand.New(rand.NewPCG(seed, n)), t: t, q: q, psql: client(t, url), name: fmt.Sprint("c", n)}
				act := c.library
				if n == 0 {
					act = c.raw
				}
				clients.Go(func() {
					for step := range 150 {
						if err := act(t.Context()); !expected(err) {
							t.Errorf("client %d, step %d: %v", n, step, err)
							return
						}
					}
				})
			}
			defer clients.Wait()
			idle := make(chan struct{})
			go func() {
				clients.Wait()
				close(idle)
			}()
			await(t, f, "every connection up", attached)
			compared, giveUp := 0, time.Now().Add(60*time.Second)
			for busy := true; busy || compared == 0; { // in the middle of it all, and once after it
				select {
				case <-idle:
					busy = false
				default:
				}
				drift, err := f.Reconcile(t.Context())
				switch {
				case err == nil && drift.Off != 0:
					t.Fatalf("seed %d: %+v", seed, drift)
				case err == nil:
					compared++
				case !errors.Is(err, errEmptied) && !strings.Contains(err.Error(), lockNotAvailable) || time.Now().After(giveUp):
					t.Fatal(err)
				}
			}
			psql := client(t, url)
			var want []string
			var s *State
			timeout := time.After(time.Minute)
			for { // what is scheduled becomes due meanwhile
				s, want = f.State(), tableCounts(t, psql)
				if slices.Equal(counts(s), want) && s.Depths.Source == FromWAL && s.Leases.Source == FromWAL {
					break // and not by polls, while a stream that a TRUNCATE ended is attached again
				}
				select {
				case <-f.Changed(s.Version):
				case <-timeout:
					t.Fatalf("seed %d: State has, by %s\n  %s\nand the table\n  %s", seed, s.Depths.Source, strings.Join(counts(s), "\n  "), strings.Join(want, "\n  "))
				}
			}
			total := 0
			for _, d := range s.Depths.Queues {
				total += int(d.Completed)
			}
			if n := number(t, psql, "SELECT count(*) FROM leasetop.jobs WHERE status = 'completed'"); n != total {
				t.Errorf("%d completed in all, the table has %d", total, n)
			}
		})
	}
}
