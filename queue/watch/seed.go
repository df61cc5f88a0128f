package watch

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/queue"
)

// How many rows a statement of a seed reads: as many as take about a tenth of a
// second, so that it stays within whatever statement_timeout the role has.
const (
	firstChunk    = 5_000
	leastChunk    = 50
	mostChunk     = 50_000
	chunkTakes    = 100 * time.Millisecond
	turnMost      = time.Second      // during which nothing else is read
	chunkDeadline = 30 * time.Second // nobody answers any more
	settleEvery   = 2 * time.Millisecond
	wholePages    = 4096 // a table of no more pages is read whole for the completed jobs
	samplePages   = 2048 // of which they are estimated otherwise
	canceledCode  = "57014"
)

// sink takes the jobs that a snapshot holds, but the completed ones. What it is given
// is only good until it returns.
type sink interface {
	waiting(queue []byte, id, due int64) error
	leased(r *row) error
	ended(queue []byte, id int64, s standing) error
}

// imported is a transaction that sees what a replication slot's snapshot holds, also
// when the slot is gone.
type imported struct {
	feed  *Feed
	conn  *pgx.Conn
	tx    pgx.Tx
	saved pgx.Tx // a savepoint of it: see recover
	file  string // which held the table before the slot was made
	chunk int64
}

// imports opens one, on a connection of its own. file is which held the table before the
// slot was made.
func (f *Feed) imports(ctx context.Context, snapshot, file string) (*imported, error) {
	conn, err := f.aside(ctx)
	if err != nil {
		return nil, err
	}
	i := &imported{feed: f, conn: conn, file: file, chunk: firstChunk}
	if err := within(ctx, answerDeadline, func(ctx context.Context) error { return i.begin(ctx, snapshot) }); err != nil {
		i.close()
		return nil, err
	}
	return i, nil
}

func (i *imported) close() { hangUp(i.conn.PgConn()) }

func (i *imported) begin(ctx context.Context, snapshot string) (err error) {
	var running []int64
	if err := i.conn.QueryRow(ctx, i.feed.q.Schema().Query("watch_running")).Scan(&running); err != nil {
		return err
	}
	if i.tx, err = i.conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}); err != nil {
		return err
	}
	// The one statement that takes no parameter and whose text is not known before.
	quoted := "'" + strings.ReplaceAll(snapshot, "'", "''") + "'"
	if _, err := i.tx.Exec(ctx, "SET TRANSACTION SNAPSHOT "+quoted); err != nil {
		return err
	}
	if _, err = i.conn.PgConn().Exec(ctx, i.feed.q.Schema().Query("watch_seed_session")).ReadAll(); err != nil {
		return err
	}
	if err := i.settled(ctx, running); err != nil {
		return err
	}
	i.saved, err = i.tx.Begin(ctx)
	return err
}

// settled waits until every transaction that the snapshot has as committed is so for
// everybody. That takes moments, since the server has done all but the last step.
func (i *imported) settled(ctx context.Context, running []int64) error {
	for {
		var unsettled int
		if err := i.tx.QueryRow(ctx, i.feed.q.Schema().Query("watch_unsettled"), running).Scan(&unsettled); err != nil {
			return err
		}
		if unsettled == 0 {
			return nil
		}
		if !rest(ctx, settleEvery, nil) {
			return ctx.Err()
		}
	}
}

// letGo unlocks the table after a reading, for whoever wants to empty or rewrite it: they
// hold up all others while they wait for us. That takes from the snapshot what it had, so
// what was read is only good when nobody has done it yet.
func (i *imported) letGo(ctx context.Context) error {
	switch now, err := i.feed.file(ctx, i.conn.PgConn()); {
	case err != nil:
		return err
	case now != i.file:
		return errEmptied
	}
	return i.recover(ctx)
}

// recover goes back to the savepoint: the transaction has no locks, and is usable again
// after a statement failed.
func (i *imported) recover(ctx context.Context) (err error) {
	if err := i.saved.Rollback(ctx); err != nil {
		return err
	}
	i.saved, err = i.tx.Begin(ctx)
	return err
}

// read gives a sink every job that is not completed.
func (i *imported) read(ctx context.Context, to sink) error {
	var r reader
	if err := i.walk(ctx, "watch_seed_processing", []int{0, 1}, [][]byte{{}, int8of(math.MinInt64)}, func(v [][]byte) error {
		now := &row{
			status: queue.Processing, queue: string(v[0]), id: r.int8(v[1]), kind: string(v[2]),
			attempts: int(r.int4(v[3])), maxAttempts: int(r.int4(v[4])), runAt: timeOf(r.int8(v[5])),
			lockedAt: r.time(v[6]), owner: string(v[7]), expiresAt: r.time(v[8]), updatedAt: r.time(v[9]), cancelledBy: string(v[10]),
		}
		return errors.Join(r.err, to.leased(now))
	}); err != nil {
		return err
	}
	first := [][]byte{{}, int8of(math.MinInt64), int8of(math.MinInt64)}
	if err := i.walk(ctx, "watch_seed_dead", []int{0, 1, 2}, first, func(v [][]byte) error {
		s := dead
		if string(v[3]) == string(queue.Failed) {
			s = failed
		}
		id := r.int8(v[2])
		return errors.Join(r.err, to.ended(v[0], id, s))
	}); err != nil {
		return err
	}
	return i.walk(ctx, "watch_seed_pending", []int{0, 1, 2}, first, func(v [][]byte) error {
		due, id := r.int8(v[1]), r.int8(v[2])
		if r.err != nil {
			return r.err
		}
		return to.waiting(v[0], id, due)
	})
}

// inTurn does one reading when the feed does no other, and bounds it. One that takes long
// holds up no poll, which would find out why.
func (i *imported) inTurn(ctx context.Context, do func(context.Context) error) error {
	over, err := i.feed.turn(ctx)
	if err != nil {
		return err
	}
	defer over()
	defer time.AfterFunc(turnMost, over).Stop()
	return within(ctx, chunkDeadline, func(ctx context.Context) error {
		if err := do(ctx); err != nil {
			return err
		}
		return i.letGo(ctx)
	})
}

// walk reads all rows of a statement, chunk by chunk. key says which columns of the
// last row are the parameters of the next chunk, and first those of the first.
func (i *imported) walk(ctx context.Context, statement string, key []int, first [][]byte, take func(values [][]byte) error) error {
	last := make([][]byte, len(key), len(key)+1)
	for k := range key {
		last[k] = append([]byte{}, first[k]...) // nil would be NULL
	}
	binaryAll := []int16{1, 1, 1, 1, 1, 1}
	for {
		took, n, refused := time.Duration(0), int64(0), error(nil)
		err := i.inTurn(ctx, func(ctx context.Context) error {
			began := time.Now()
			defer func() { took = time.Since(began) }()
			rows := i.conn.PgConn().ExecParams(ctx, i.feed.q.Schema().Query(statement),
				append(last, int8of(i.chunk)), nil, binaryAll[:len(key)+1], []int16{1})
			for refused == nil && rows.NextRow() {
				values := rows.Values()
				if refused = take(values); refused == nil {
					n++
					for k, column := range key {
						last[k] = append(last[k][:0], values[column]...)
					}
				}
			}
			if _, err := rows.Close(); err != nil {
				return err
			}
			return refused
		})
		switch {
		case refused != nil:
			return refused
		case canceled(err) && i.chunk > leastChunk:
			i.chunk = max(i.chunk/8, leastChunk)
			if err := i.recover(ctx); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		case n < i.chunk:
			return nil
		case took < chunkTakes:
			i.chunk = min(2*i.chunk, mostChunk)
		case took > 2*chunkTakes:
			i.chunk = max(i.chunk/2, leastChunk)
		}
	}
}

// completed tells how many completed jobs each queue has, estimated from a sample of the
// pages: a smaller one when the role's statement_timeout says so, or none.
func (i *imported) completed(ctx context.Context) (counts map[string]int64, exact bool, err error) {
	var pages int64
	var at time.Time
	if err := i.tx.QueryRow(ctx, i.feed.q.Schema().Query("table_pages")).Scan(&pages, &at); err != nil {
		return nil, false, err
	}
	sample := pages
	if pages > wholePages {
		sample = samplePages
	}
	for ; ; sample /= 8 {
		percent := min(100, 100*float64(sample)/float64(max(pages, 1)))
		if percent == 0 {
			return nil, pages == 0, nil
		}
		err := i.inTurn(ctx, func(ctx context.Context) (err error) {
			counts, err = i.sample(ctx, percent)
			return err
		})
		if !canceled(err) {
			return counts, percent == 100, err
		}
		if err := i.recover(ctx); err != nil {
			return nil, false, err
		}
	}
}

func (i *imported) sample(ctx context.Context, percent float64) (map[string]int64, error) {
	rows, err := i.tx.Query(ctx, i.feed.q.Schema().Query("watch_seed_completed"), percent)
	if err != nil {
		return nil, err
	}
	counts := map[string]int64{}
	var name string
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&name, &n}, func() error {
		counts[name] = n
		return nil
	})
	return counts, err
}

// int8of is a parameter in PostgreSQL's binary format.
func int8of(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// reader reads values in PostgreSQL's binary format; NULL is 0.
type reader struct{ err error }

func (r *reader) int8(b []byte) int64 {
	switch len(b) {
	case 0:
		return 0
	case 8:
		return int64(binary.BigEndian.Uint64(b))
	}
	r.err = fmt.Errorf("a number of the jobs table came with %d bytes", len(b))
	return 0
}

func (r *reader) int4(b []byte) int32 {
	switch len(b) {
	case 0:
		return 0
	case 4:
		return int32(binary.BigEndian.Uint32(b))
	}
	r.err = fmt.Errorf("a number of the jobs table came with %d bytes", len(b))
	return 0
}

func (r *reader) time(b []byte) time.Time {
	if b == nil {
		return time.Time{}
	}
	return timeOf(r.int8(b)).Instant()
}

// tooManyError says that the jobs which are not completed are more than the ledger may hold.
type tooManyError int

func (e tooManyError) Error() string {
	return fmt.Sprintf("more than %s jobs are not completed", thousands(int(e)))
}

// seeding is a ledger that a snapshot fills.
type seeding struct {
	*ledger
	most  int
	ticks int
	told  func(jobs int)
}

// waiting implements sink. Rows come by queue and time, so the names repeat.
func (s *seeding) waiting(name []byte, id, due int64) error {
	return s.stands(name, id, standingOf(queue.Pending, due, s.now), due)
}

// ended implements sink.
func (s *seeding) ended(name []byte, id int64, to standing) error {
	return s.stands(name, id, to, 0)
}

func (s *seeding) stands(name []byte, id int64, to standing, due int64) error {
	t := s.queues[string(name)]
	if t == nil {
		t = s.tally(string(name))
	}
	i := s.newSlot()
	s.index[id] = i
	s.stand(i, t, id, to, due)
	return s.room()
}

// leased implements sink.
func (s *seeding) leased(r *row) error {
	s.put(r)
	return s.room()
}

func (s *seeding) room() error {
	if s.jobs() > s.most {
		return tooManyError(s.most)
	}
	if s.ticks++; s.ticks%100_000 == 0 {
		s.told(s.ticks)
	}
	return nil
}

// comparing is a digest of what a snapshot holds.
type comparing struct {
	digest
	name string
	hash uint64
}

func (c *comparing) queue(name []byte) uint64 {
	if c.name != string(name) {
		c.name = string(name)
		c.hash = hashed(c.name)
	}
	return c.hash
}

// waiting implements sink.
func (c *comparing) waiting(name []byte, id, due int64) error {
	c.pending++
	c.digest.waiting(c.queue(name), id, due, 1)
	return nil
}

// ended implements sink.
func (c *comparing) ended(name []byte, id int64, s standing) error {
	c.count(s, 1)
	c.digest.ended(c.queue(name), id, s, 1)
	return nil
}

// leased implements sink.
func (c *comparing) leased(r *row) error {
	c.processing++
	c.digest.leased(hashed(r.queue), r, 1)
	return nil
}
