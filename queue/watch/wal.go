package watch

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/leasetop/leasetop/queue"
)

const (
	attachDeadline = 5 * time.Minute // seeding millions of jobs included
	answerDeadline = 20 * time.Second
	hangUpDeadline = 2 * time.Second
	idleMost       = "10s"            // between two statements of ours in a transaction, whatever the role has
	cureEvery      = 30 * time.Second // between two attempts when a person has to do something first
	manyEvery      = 5 * time.Minute  // when there are more jobs than may be counted
	seldom         = 12               // failures after which a pause is as long as it may be
	steadyAfter    = 5 * time.Second  // a stream that stood so long was no failure
)

// streaming keeps the replication stream alive.
func (f *Feed) streaming(ctx context.Context) {
	failures := 0
	for {
		err := f.stream(ctx, &failures)
		if ctx.Err() != nil {
			return
		}
		failures++
		reason, byPerson := walReason(err, f.q.ConnConfig().User)
		f.down(FromWAL, reason)
		limit := reconnectMax
		if byPerson {
			limit = cureEvery
		}
		if many := tooManyError(0); errors.As(err, &many) { // it has read them all to find out
			failures = max(failures, seldom)
			limit = manyEvery
		}
		if !rest(ctx, pause(failures, limit), f.retryWAL) {
			return
		}
	}
}

// stream attaches and follows until the connection is lost.
func (f *Feed) stream(ctx context.Context, failures *int) error {
	s := &stream{feed: f, decoder: newDecoder(f.q.Schema().Name())}
	err := within(ctx, attachDeadline, s.attach)
	if s.conn != nil {
		defer f.letGo(s.conn)
	}
	f.note(func() {
		f.seeding = false
		if err == nil {
			f.streams++
			f.marks = marks{reached: s.asked, ahead: []mark{s.seeded}}
		}
	})
	if err != nil {
		return err
	}
	s.heard = time.Now()
	s.traffic = newTraffic(s.counted)
	f.current.Store(s) // before State says so
	f.up(FromWAL, 0)
	s.show(s.heard)
	attached := time.Now()
	err = s.follow(ctx)
	f.current.Store(nil)
	if time.Since(attached) > steadyAfter {
		*failures = 0
	}
	if t := f.trail.Load(); t != nil {
		t.lost()
	}
	f.change(func() { f.draft.Traffic = Traffic{} })
	if ctx.Err() == nil {
		reason, _ := walReason(err, f.q.ConnConfig().User)
		f.down(FromWAL, reason)
	}
	poke(f.pollNow)
	drain(f.retryWAL) // said while it worked: no reason to try again at once
	return err
}

// abandon has the stream end, if there is one.
func (f *Feed) abandon(why error) {
	if s := f.current.Load(); s != nil {
		s.abandon(why)
	}
}

func (s *stream) abandon(why error) {
	s.abandoned.Store(&why)
	_ = s.conn.Conn().SetReadDeadline(time.Now())
}

// attach makes a temporary slot, reads what the slot's snapshot holds of the jobs that
// are not completed, and starts the stream.
func (s *stream) attach(ctx context.Context) (err error) {
	slot, err := s.slot(ctx)
	if err != nil {
		return err
	}
	if s.applied, err = pglogrepl.ParseLSN(slot.ConsistentPoint); err != nil {
		return err
	}
	s.counted = time.Now()
	s.feed.note(func() { s.feed.seeding = true })
	i, err := s.feed.imports(ctx, slot.SnapshotName, s.file)
	if err != nil {
		return err
	}
	defer i.close()
	// Before the seed, which may take long: from now on the server knows within
	// wal_sender_timeout when we are gone, and so does the slot.
	if err := within(ctx, answerDeadline, func(ctx context.Context) error {
		return pglogrepl.StartReplication(ctx, s.conn, slot.SlotName, s.applied, pglogrepl.StartReplicationOptions{
			PluginArgs: []string{"proto_version '1'", "binary 'true'", "publication_names '" + s.feed.q.Schema().Publication() + "'"},
		})
	}); err != nil {
		return err
	}
	return s.telling(ctx, func(ctx context.Context) error { return s.seed(ctx, i) })
}

// telling does something while it tells the server that we are there. What the server
// sends meanwhile waits in the network's buffers, and the rest in its WAL.
func (s *stream) telling(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var tasks sync.WaitGroup
	tasks.Go(func() {
		for rest(ctx, confirmEvery, nil) {
			if err := s.confirm(); err != nil {
				cancel(err)
			}
		}
	})
	err := do(ctx)
	cancel(nil)
	tasks.Wait()
	if why := context.Cause(ctx); err != nil && !errors.Is(why, context.Canceled) {
		return why
	}
	return err
}

// slot connects and makes a temporary slot.
func (s *stream) slot(ctx context.Context) (slot pglogrepl.CreateReplicationSlotResult, err error) {
	return slot, within(ctx, answerDeadline, func(ctx context.Context) error {
		if s.conn, err = s.feed.replication(ctx, "wal"); err != nil {
			return err
		}
		if err := s.check(ctx); err != nil {
			return err
		}
		if s.file, err = s.feed.file(ctx, s.conn); err != nil {
			return err
		}
		s.asked = time.Now()
		slot, err = s.feed.newSlot(ctx, s.conn)
		return err
	})
}

// replication opens a replication connection. The pool's AfterConnect is not for it: the
// right to stream is that of the role which logs in, and what it streams asks for no other.
func (f *Feed) replication(ctx context.Context, what string) (*pgconn.PgConn, error) {
	config, err := f.q.DialConfig(ctx)
	if err != nil {
		return nil, err
	}
	f.name(config, what)
	// Creating a slot waits for every open write transaction of the cluster; if the
	// client dies meanwhile the server goes on waiting, so bound that. And a walsender
	// whose client is cut off keeps its slot until it notices: while it streams by its
	// own timeout, before by that of a transaction, which it has since it made the slot,
	// or TCP's.
	config.RuntimeParams["lock_timeout"] = "3s"
	// It also says every half of it, and sooner than silentAfter, that it is busy with
	// what others wrote.
	config.RuntimeParams["wal_sender_timeout"] = "7s"
	config.RuntimeParams["idle_in_transaction_session_timeout"] = idleMost
	config.RuntimeParams["tcp_keepalives_idle"] = "4"
	config.RuntimeParams["tcp_keepalives_interval"] = "2"
	config.RuntimeParams["tcp_keepalives_count"] = "3"
	config.RuntimeParams["replication"] = "database"
	config.DialFunc = gathered(config.DialFunc)
	return pgconn.ConnectConfig(ctx, &config.Config)
}

// newSlot makes a temporary slot with an exported snapshot.
func (f *Feed) newSlot(ctx context.Context, conn *pgconn.PgConn) (pglogrepl.CreateReplicationSlotResult, error) {
	slot, err := pglogrepl.CreateReplicationSlot(ctx, conn, f.slotName(), "pgoutput", pglogrepl.CreateReplicationSlotOptions{
		Temporary: true, SnapshotAction: "EXPORT_SNAPSHOT", Mode: pglogrepl.LogicalReplication,
	})
	if err != nil {
		err = f.nameBlocker(ctx, err)
	}
	return slot, err
}

// feedSlots is what the names of all feeds' slots begin with.
const feedSlots = "leasetop_feed_"

// slotNames is what the names of one feed's slots begin with. Each slot has a name of its
// own: the one before may still be there.
func slotNames() string { return feedSlots + randomHex(4) + "_" }

func (f *Feed) slotName() string { return f.slots + randomHex(4) }

func randomHex(bytes int) string {
	b := make([]byte, bytes)
	rand.Read(b) // never fails since Go 1.24
	return hex.EncodeToString(b)
}

// What check finds missing.
var (
	errStandby       = errors.New("a standby")
	errNoTable       = errors.New("no table")
	errNoPublication = errors.New("no publication")
	errLeftOut       = errors.New("left out of the publication")
	errRowSecurity   = errors.New("row-level security hides jobs from this role, but not in the stream: only those that the role may see are counted, by polls")
)

type walLevelError string

func (e walLevelError) Error() string { return "wal_level is " + string(e) }

// check asks for what would otherwise fail late, or in words that name no cure. A
// missing publication, for one, shows only with the first change.
func (s *stream) check(ctx context.Context) error {
	if encoding := s.conn.ParameterStatus("server_encoding"); encoding != "UTF8" && encoding != "" {
		return fmt.Errorf("%w: it stores text as %s", queue.ErrEncoding, encoding)
	}
	results, err := s.conn.Exec(ctx, s.feed.q.Schema().Query("watch_replication")).ReadAll()
	if err != nil {
		return err
	}
	if len(results) != 1 || len(results[0].Rows) != 1 || len(results[0].Rows[0]) != 9 {
		return errors.New("the server did not answer whether it can stream")
	}
	answer := results[0].Rows[0]
	yes := func(i int) bool { return string(answer[i]) == "t" }
	switch {
	case string(answer[0]) != "logical":
		return walLevelError(answer[0])
	case yes(1):
		return errStandby
	case string(answer[2]) == "0":
		return errNoTable
	}
	if err := s.holders(ctx); err != nil {
		return err
	}
	switch {
	case yes(3):
		return fmt.Errorf("%w %s", errNoPublication, s.feed.q.Schema().Publication())
	case yes(4):
		return fmt.Errorf("changes are %w %s", errLeftOut, s.feed.q.Schema().Publication())
	}
	if yes(7) {
		return errRowSecurity
	}
	if identity := string(answer[8]); identity != string(identityDefault) && identity != string(identityFull) {
		return errIdentity
	}
	if missing := unpublished(answer[5]); len(missing) > 0 {
		return fmt.Errorf("%s are %w %s", strings.Join(missing, ", "), errLeftOut, s.feed.q.Schema().Publication())
	}
	table, err := strconv.ParseUint(string(answer[2]), 10, 32)
	s.decoder.table, s.published = uint32(table), string(answer[6])
	return err
}

// unpublished are the columns that the stream needs and a publication, by the JSON of
// those it has, leaves out.
func unpublished(list []byte) (missing []string) {
	var published []string
	if json.Unmarshal(list, &published) != nil {
		return nil // before PostgreSQL 15 they are all published
	}
	for at, name := range jobsColumns {
		if name != "" && column(at) != columnCancelledBy && !slices.Contains(published, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// seed fills the ledger with what the slot's snapshot holds.
func (s *stream) seed(ctx context.Context, i *imported) error {
	f := s.feed
	s.ledger = newLedger()
	s.ledger.now = microsOf(f.databaseNow(time.Now()))
	completed, exact, err := i.completed(ctx)
	if err != nil {
		return err
	}
	for queue, n := range completed {
		s.ledger.tally(queue).completed = n
	}
	if f.opts.seeding != nil {
		f.opts.seeding(ctx)
	}
	if err := i.read(ctx, &seeding{ledger: s.ledger, most: f.opts.MostJobs, told: func(jobs int) {
		f.change(func() { f.draft.WAL.Attaching, f.draft.WAL.Reason = true, "attaching: "+thousands(jobs)+" jobs read" })
	}}); err != nil {
		return err
	}
	s.ledger.sampled = !exact
	if !exact {
		s.ledger.loosen()
	}
	s.seeded.at = time.Now()
	return i.tx.QueryRow(ctx, f.q.Schema().Query("watch_position")).Scan(&s.seeded.position)
}

// aside is a short-lived connection of the stream's reader.
func (f *Feed) aside(ctx context.Context) (*pgx.Conn, error) {
	conn, _, err := f.q.Connect(ctx, func(config *pgx.ConnConfig) {
		f.name(config, "wal seed")
		config.RuntimeParams["idle_in_transaction_session_timeout"] = idleMost
	})
	return conn, err
}

// blockedError names the transaction which a slot's creation waited for in vain.
type blockedError struct {
	pid       int64 // 0: prepared
	name, who string
	since     time.Time
	err       error
}

func (e *blockedError) Error() string { return e.err.Error() }
func (e *blockedError) Unwrap() error { return e.err }

// nameBlocker adds to a lock timeout who held it up.
func (f *Feed) nameBlocker(ctx context.Context, err error) error {
	var server *pgconn.PgError
	if !errors.As(err, &server) || server.Code != lockNotAvailable {
		return err
	}
	conn, connErr := f.aside(ctx)
	if connErr != nil {
		return err
	}
	defer hangUp(conn.PgConn())
	blocked := &blockedError{err: err}
	if conn.QueryRow(ctx, f.q.Schema().Query("watch_blocker")).Scan(&blocked.pid, &blocked.name, &blocked.who, &blocked.since) != nil {
		return err // ended meanwhile, or not ours to see
	}
	return blocked
}

// letGo ends a connection without holding up its replacement. [Feed.Close] waits for it.
func (f *Feed) letGo(conn *pgconn.PgConn) { f.tasks.Go(func() { hangUp(conn) }) }

// hangUp ends a connection and waits until the server has ended its side: by then
// the session's temporary slot is dropped.
func hangUp(conn *pgconn.PgConn) {
	if conn.IsClosed() { // by pgx, which cancels and drains in the background
		select {
		case <-conn.CleanupDone():
		case <-time.After(hangUpDeadline):
		}
		return
	}
	_ = conn.Conn().SetDeadline(time.Now().Add(hangUpDeadline))
	conn.Frontend().Send(&pgproto3.Terminate{})
	if conn.Frontend().Flush() == nil {
		_, _ = io.Copy(io.Discard, conn.Conn())
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	_ = conn.Close(done)
}
