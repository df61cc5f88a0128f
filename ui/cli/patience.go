package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/leasetop/leasetop/sql/local"
	"github.com/leasetop/leasetop/ui/safe"
)

// Patience is how long the database may stay silent, unless it is said otherwise.
const Patience = 10 * time.Second

const (
	// remindAfter is how long nothing is said about an answer that does not come.
	remindAfter = 2 * time.Second
	// remindEvery is how often it is looked whether one comes.
	remindEvery = 250 * time.Millisecond
)

type endingKey struct{}

// Endable is a context that [With] ends when the database stays silent, and how to end it.
func Endable(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, end := context.WithCancelCause(ctx)
	return context.WithValue(ctx, endingKey{}, end), end
}

// errSilent is the cause of a context that ended since the database stayed silent.
var errSilent = errors.New("the database stays silent")

// named says where the database is that was named, without its password.
func (d *Database) named() string {
	if where := local.Redact(d.url); where != "postgres://" {
		return where + " (from " + d.source.From + ")"
	}
	return "the database of " + d.source.From
}

// silence is the error of a database that stays silent.
func (d *Database) silence(w Where) error {
	return fmt.Errorf("no answer from %s within %v: check that the server runs and that the address is right, or wait longer with --timeout", d.named(), w.Timeout)
}

// reach waits for a first connection, and for no longer than the database may stay silent.
// Whatever else goes wrong is met again by what the command does, and told then.
func (d *Database) reach(ctx context.Context, w Where) error {
	short, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	reminder := time.AfterFunc(w.remind(), func() { d.remind(w, "to take a connection") })
	defer reminder.Stop()
	conn, err := d.Pool().Acquire(short)
	switch {
	case err == nil:
		conn.Release()
	case short.Err() != nil && ctx.Err() == nil:
		return d.silence(w)
	}
	return nil
}

// remind says on standard error what is waited for.
func (d *Database) remind(w Where, what string) {
	if w.Progress != nil {
		w.Progress(fmt.Sprintf("waiting for %s %s", d.named(), what))
	}
}

// watch says, while a command works, when an answer does not come. When the database has been
// silent for too long it is asked over another connection whether it is there; if that is not
// answered either, the command's context ends. A long statement of a database that is
// there goes on.
func (d *Database) watch(ctx context.Context, w Where) {
	end, _ := ctx.Value(endingKey{}).(context.CancelCauseFunc)
	look := time.NewTicker(min(remindEvery, w.remind(), w.Timeout))
	defer look.Stop()
	reminded, asked := false, time.Duration(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		silent := d.Silent()
		switch {
		case silent == 0 || silent < asked:
			asked = 0
		case silent >= asked+w.Timeout && end != nil:
			if lock := d.blocked(ctx, w); lock != "" {
				end(&lockedOut{lock})
				return
			}
			if !d.Private() && !d.there(ctx, w) && ctx.Err() == nil && d.Silent() >= silent {
				end(errSilent)
				return
			}
			asked = d.Silent()
		}
		if silent >= w.remind() && !reminded {
			reminded = true
			switch lock := d.blocked(ctx, w); {
			case lock != "" && w.Progress != nil:
				w.Progress("waiting: " + safe.Text(lock))
			case lock == "" && !d.Private():
				d.remind(w, "to answer")
			}
		}
	}
}

// blocked says who has locked what a statement of the command waits for; "" when that is
// not why it waits.
func (d *Database) blocked(ctx context.Context, w Where) string {
	short, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	return d.Blocked(short)
}

// lockedOut is the cause of a context that ended since a lock was waited for too long.
type lockedOut struct{ lock string }

func (e *lockedOut) Error() string { return e.lock }

// besidesTheAct takes out of an error what does not say which act it ended.
var besidesTheAct = strings.NewReplacer("error preprocessing batch (prepare): ", "", context.Canceled.Error(), "")

// given is the error of a command that waited for a lock too long: what it was at, and who
// holds the lock.
func (e *lockedOut) given(w Where, err error) error {
	at := strings.Trim(besidesTheAct.Replace(err.Error()), ": ")
	if at != "" {
		at += ": "
	}
	return fmt.Errorf("%s%s: waited for %v: run it again when that has ended, or wait longer with --timeout", at, e.lock, w.Timeout)
}

// there reports whether the database answers over another connection; that it refuses one is
// an answer.
func (d *Database) there(ctx context.Context, w Where) bool {
	short, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	conn, err := d.Pool().Acquire(short)
	if err != nil {
		return short.Err() == nil
	}
	defer conn.Release()
	return conn.Ping(short) == nil
}
