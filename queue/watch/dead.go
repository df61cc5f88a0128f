package watch

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/leasetop/leasetop/queue"
)

const (
	deadShown = 50
	deadEvery = 250 * time.Millisecond // between two readings of the dead letters
	deadRest  = time.Second            // without signals, at least

	probeAfter = 2 * time.Second // of silence on the LISTEN connection
	probeWait  = 2 * time.Second // for the answer
)

// listening keeps a LISTEN connection alive.
func (f *Feed) listening(ctx context.Context) {
	failures := 0
	for {
		err := f.listen(ctx, &failures)
		if ctx.Err() != nil {
			return
		}
		failures++
		reason, byPerson := notifyReason(err)
		f.down(Notice, reason)
		poke(f.readDead)
		limit := reconnectMax
		if byPerson {
			limit = cureEvery
		}
		if !rest(ctx, pause(failures, limit), f.retryDead) {
			return
		}
	}
}

// listen connects and turns every notification into a reading, until the
// connection is lost or no longer answers.
func (f *Feed) listen(ctx context.Context, failures *int) error {
	conn, idle, err := f.q.Connect(ctx, func(config *pgx.ConnConfig) { f.name(config, "listen") })
	if err != nil {
		return err
	}
	probe := probeAfter
	if idle > 0 {
		probe = min(probe, idle/2)
	}
	defer f.letGo(conn.PgConn())
	for _, statement := range []string{"watch_listen_echo", "watch_listen", "watch_listen_control"} {
		if err := within(ctx, probeWait, func(ctx context.Context) error {
			_, err := conn.Exec(ctx, f.q.Schema().Query(statement))
			return err
		}); err != nil {
			return err
		}
	}
	if err := f.echo(ctx, conn); err != nil {
		return err
	}
	*failures = 0
	defer drain(f.retryDead) // said while it worked: no reason to try again at once
	f.up(Notice, 0)
	f.signalled() // what was said while nobody listened is lost
	poke(f.pausesNow)

	dead, control := f.q.Schema().DeadChannel(), f.q.Schema().ControlChannel()
	for {
		var heard *pgconn.Notification
		err := within(ctx, probe, func(ctx context.Context) (err error) {
			heard, err = conn.WaitForNotification(ctx)
			return err
		})
		switch {
		case err == nil && heard.Channel == dead:
			f.heard(Notice, f.State().Notify.Lag)
			f.signalled()
		case err == nil && heard.Channel == control:
			f.heard(Notice, f.State().Notify.Lag)
			f.controlled(heard.Payload)
		case err == nil: // somebody else's echo
		case errors.Is(err, errTooLong) && !conn.IsClosed():
			sent := time.Now()
			if err := within(ctx, probeWait, conn.Ping); err != nil {
				return err
			}
			f.heard(Notice, time.Since(sent))
		default:
			return err
		}
	}
}

// errNoEcho says that what is sent to this connection does not arrive.
var errNoEcho = errors.New("a notification sent to it did not arrive")

// echo proves that notifications arrive at all. It is sent over another connection, as
// everybody's are: to its sender a pooler may well pass it on.
func (f *Feed) echo(ctx context.Context, conn *pgx.Conn) error {
	mine := rand.Text()
	if err := f.read(ctx, func(ctx context.Context) error {
		_, err := f.reader.Pool().Exec(ctx, f.q.Schema().Query("watch_echo"), mine)
		return err
	}); err != nil {
		return err
	}
	return within(ctx, probeWait, func(ctx context.Context) error {
		for {
			heard, err := conn.WaitForNotification(ctx)
			switch {
			case pgconn.Timeout(err):
				return errNoEcho
			case err != nil:
				return err
			case heard.Payload == mine:
				return nil
			}
		}
	})
}

// signalled counts a signal and asks for a reading.
func (f *Feed) signalled() {
	f.change(func() { f.draft.Dead.Signal++ })
	poke(f.readDead)
}

// controlled acts on what an operator did somewhere.
func (f *Feed) controlled(what string) {
	if strings.HasPrefix(what, "queue ") {
		poke(f.pausesNow)
		return
	}
	poke(f.pollNow) // a lease is to end, which the stream would have said
}

// readingDead reads the newest dead letters whenever asked, but not too often; and now and
// then while nobody can tell when they change.
func (f *Feed) readingDead(ctx context.Context) {
	failures, told := 0, ""
	var took time.Duration
	for {
		var polled <-chan time.Time
		if !f.State().Notify.OK && f.opts.Poll >= 0 && took > 0 {
			polled = time.After(max(deadRest, restAfter(took)))
		}
		select {
		case <-ctx.Done():
			return
		case <-f.readDead:
		case <-polled:
		}
		f.change(func() {
			if f.draft.Dead.Owed.IsZero() {
				f.draft.Dead.Owed = time.Now()
			}
		})
		wait := deadEvery
		err := f.read(ctx, func(ctx context.Context) error {
			began := time.Now()
			defer func() { took = time.Since(began) }()
			return f.readDeadLetters(ctx)
		})
		switch {
		case err == nil:
			failures, told = 0, ""
		case errors.Is(err, queue.ErrSchemaMissing), errors.Is(err, queue.ErrSchemaOld), errors.Is(err, queue.ErrEncoding): // the poll says so, and asks again once it is there
		default: // what is shown grows old meanwhile
			failures++
			if reason := f.sayReading(err); reason != told && ctx.Err() == nil {
				told = reason
				f.change(func() { f.health(Polled, "dead letters cannot be read: "+reason) })
			}
			wait = pause(failures, reconnectMax)
			poke(f.readDead)
		}
		if !rest(ctx, wait, nil) {
			return
		}
	}
}

// readDeadLetters reads the newest. How many there are is counted elsewhere: by the
// stream, or with the depths.
func (f *Feed) readDeadLetters(ctx context.Context) error {
	asked := time.Now() // what is read is no newer than this, however long it takes
	jobs, _, err := f.reader.List(ctx, queue.Filter{Statuses: queue.DeadLetters}, queue.Page{Limit: deadShown})
	if err != nil {
		return err
	}
	f.change(func() {
		d := Dead{Source: Polled, At: f.skew.clock().Now(asked), Read: asked, Signal: f.draft.Dead.Signal, Latest: jobs}
		if f.draft.Notify.OK {
			d.Source = Notice
		}
		f.draft.Dead = d
		f.totalDead()
	})
	return nil
}

// errTooLong is the error of within when the time was up.
var errTooLong = errors.New("no answer in time")

// within bounds an operation. Unlike a bare timeout it tells its own end from that of ctx.
func within(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := do(bounded)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil && !errors.Is(err, errNoEcho) {
		return fmt.Errorf("%w: %v: %w", errTooLong, limit, err)
	}
	return err
}

// notifyReason says in an operator's words why nothing is heard and what would cure it;
// byPerson is true when trying again soon is of no use.
func notifyReason(err error) (reason string, byPerson bool) {
	var server *pgconn.PgError
	switch {
	case errors.Is(err, errNoEcho):
		return "notifications do not arrive, as behind a pooler that shares connections: connect to PostgreSQL itself; dead letters are polled", true
	case errors.Is(err, errTooLong):
		return "no answer: the connection is replaced", false
	case errors.As(err, &server) && server.Code == "25006":
		return "a standby has no notifications: connect to the primary; dead letters are polled", true
	}
	return say(err), errors.Is(err, queue.ErrEncoding)
}
