package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/sift"
)

// EventsOptions say which events the command events prints, and how long. Of several
// values any will do; those of different kinds must hold together, and none is all.
type EventsOptions struct {
	Whats, Queues, Workers []string
	Jobs                   []int64
	For                    time.Duration // from when the database is open; 0: until ctx ends
}

// Events prints what happens, from now on until ctx ends, which is no error: each event
// as a row, or as one JSON object a line. What the feed itself meets (a connection lost,
// events missed) is told on standard error, or as an object. A reader who is slow holds
// up nothing but the printing.
func Events(ctx context.Context, p Printer, w Where, o EventsOptions) (err error) {
	w.MaxConns = 2
	d, err := Open(ctx, w)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := d.final(ctx); err != nil {
		return d.Explain(err)
	}
	if o.For > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, o.For)
		defer stop()
	}
	feed := watch.Start(context.WithoutCancel(ctx), d.Queue, watch.Options{})
	defer feed.Close()
	return p.follow(ctx, feed, sift.Sift{
		Whats: o.Whats, Jobs: o.Jobs, Queues: sift.Names(o.Queues), Workers: sift.Names(o.Workers),
	})
}

// final is what is wrong with the database for good. One that does not answer may come
// back: that is the feed's to tell.
func (d *Database) final(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closePatience)
	defer cancel()
	err := d.Ping(ctx)
	for _, final := range []error{queue.ErrSchemaMissing, queue.ErrSchemaOld, queue.ErrRefused, queue.ErrForbidden, queue.ErrEncoding} {
		if errors.Is(err, final) {
			return err
		}
	}
	return nil
}

// eventFeed is the live picture; *watch.Feed is one.
type eventFeed interface {
	State() *watch.State
	Changed(version uint64) <-chan struct{}
	Events(seq uint64) (events []watch.Event, missed uint64)
}

// lookEvery is how often it is looked whether somebody still reads what is printed: when
// nothing happens nothing is written, which would find out.
const lookEvery = time.Second

// follow prints events until ctx ends.
func (p Printer) follow(ctx context.Context, feed eventFeed, s sift.Sift) error {
	out := newEventPrinter(p, ctx.Done(), s)
	defer out.stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	out.header()
	begun := false
	for ended := false; ; {
		state := feed.State()
		if !begun {
			var note string
			if note, begun = beginning(state); begun {
				out.begin(state, note)
			}
		}
		if err := out.print(feed.Events(out.seen)); err != nil || ended {
			return err
		}
		select {
		case <-ctx.Done():
			ended = true // what is known by now is printed
		case <-feed.Changed(state.Version):
		case <-look.C:
			if deserted(p.Out) {
				return fmt.Errorf("print events: %w", syscall.EPIPE)
			}
		}
	}
}

// beginning says from when on events are seen, and how; ok is false before that.
func beginning(s *watch.State) (note string, ok bool) {
	switch {
	case s.WAL.OK:
		return "following the write-ahead log", true
	case s.Polling.OK && !s.WAL.Attaching: // what is wrong with it has been told
		return "following by polls: what comes and goes between two is not seen", true
	}
	return "", false
}

// deserted tells whether w is a pipe that nobody reads any more.
func deserted(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return false
	}
	var told int16
	err = raw.Control(func(fd uintptr) {
		poll := []unix.PollFd{{Fd: int32(fd)}}
		if n, err := unix.Poll(poll, 0); err == nil && n > 0 {
			told = poll[0].Revents
		}
	})
	return err == nil && told&(unix.POLLERR|unix.POLLHUP) != 0
}
