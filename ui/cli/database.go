package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasetop/leasetop/queue"
	leasesql "github.com/leasetop/leasetop/sql"
	"github.com/leasetop/leasetop/sql/local"
	"github.com/leasetop/leasetop/workers/scenario"
)

// localDatabase is the database's name on the private server.
const localDatabase = "leasetop"

// How long the end of a command waits: for connections to close, for the private
// server to stop, and for one that hangs. That one has been told, and stops when it
// goes on.
const (
	closePatience = 2 * time.Second
	stopPatience  = 5 * time.Second
	hungPatience  = time.Second
)

// Where says which database and schema a command works on.
type Where struct {
	URL    string // the flag --database-url; "" leaves it to the environment, then to the private server
	Schema string // "" is leasetop
	Fresh  bool   // wipe the private server's data first
	// Bare leaves the private server's schema as it is; else it is migrated.
	Bare bool
	// MaxConns bounds the pool of connections; 0 leaves it to the connection string, then to pgx.
	MaxConns int32
	// Timeout is how long a named database may stay silent; 0 is for ever.
	Timeout time.Duration
	// reminds is when it is said what is waited for; 0 is after two seconds.
	reminds time.Duration
	// Progress is told what takes time. May be nil.
	Progress func(step string)
	// Revived is told in one line when the private server died while it was in use:
	// that it was started again, or why it is still down. nil tells Progress.
	Revived func(news string, down bool)
}

// revived is whom a death of the private server is told.
func (w Where) revived(r local.Revival) {
	switch {
	case w.Revived != nil:
		w.Revived(r.String(), r.Err != nil)
	case w.Progress != nil:
		w.Progress(r.String())
	}
}

func (w Where) remind() time.Duration { return cmp.Or(w.reminds, remindAfter) }

// Database is an open database and, when it is the private one, a hold on its server.
type Database struct {
	*queue.Queue
	source local.Source
	url    string // as pgx takes it: may hold a password
	server *local.Server
}

// Open finds the database, starts or joins the private server when none is
// named, and opens the queue. A named database is not touched, nor waited for.
func Open(ctx context.Context, w Where) (*Database, error) {
	if _, err := leasesql.ForSchema(w.Schema); err != nil {
		return nil, Usage(err.Error())
	}
	source, err := w.source(ctx)
	if err != nil {
		return nil, err
	}
	d := &Database{source: source, url: source.URL}
	if w.Fresh && !source.Private() {
		return nil, Usage(fmt.Sprintf("--fresh wipes the private server only, but the database comes from %s: leave one of them out", source.From))
	}
	if source.Private() {
		if err := d.startServer(ctx, w); err != nil {
			return nil, err
		}
	}
	if d.Queue, err = queue.Open(ctx, d.url, queue.Options{Schema: w.Schema, MaxConns: w.MaxConns}); err != nil {
		if ctx.Err() == nil && !source.Private() { // the error is about the connection string, and queue.Open says that it opens
			err = Usage(fmt.Sprintf("%s: %v", source.From, cmp.Or(errors.Unwrap(err), err)))
		}
		return nil, errors.Join(err, d.Close())
	}
	if source.Private() && !w.Bare {
		if err := d.Migrate(ctx); err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	return d, nil
}

// source finds out which database is meant. It reads the password file, the service file and
// certificates, and waits for none of them when ctx ends, or for longer than the timeout.
func (w Where) source(ctx context.Context) (local.Source, error) {
	short := ctx
	if w.Timeout > 0 {
		var cancel context.CancelFunc
		short, cancel = context.WithTimeout(ctx, w.Timeout)
		defer cancel()
		defer time.AfterFunc(w.remind(), func() {
			if w.Progress != nil {
				w.Progress("waiting for the files that the connection needs to be read: the password file, the service file, certificates")
			}
		}).Stop()
	}
	source, err := obeying(short, func() (local.Source, error) { return local.Resolve(w.URL) })
	switch {
	case short.Err() != nil && ctx.Err() == nil:
		return source, fmt.Errorf("a file that the connection needs was not read within %v: check the password file, the service file and the certificates, or wait longer with --timeout", w.Timeout)
	case ctx.Err() != nil:
		return source, fmt.Errorf("read the connection string and the files it names: %w", ctx.Err())
	case err != nil:
		return source, Usage(err.Error())
	}
	return source, nil
}

func (d *Database) startServer(ctx context.Context, w Where) (err error) {
	if d.server, err = local.Start(ctx, local.Options{Fresh: w.Fresh, Progress: w.Progress}); err != nil {
		return err
	}
	if d.url, err = d.server.Database(ctx, localDatabase); err != nil {
		return errors.Join(err, d.Close())
	}
	d.server.Keep(w.revived)
	return nil
}

// Private reports whether this is the private server.
func (d *Database) Private() bool { return d.server != nil }

// Server is the private server; nil where that is not what there is.
func (d *Database) Server() *local.Server { return d.server }

// Ground is the database as a place to play scenarios.
func (d *Database) Ground() scenario.Ground {
	ground := scenario.Ground{Queue: d.Queue}
	if d.Private() {
		ground.AloneSince = d.server.AloneSince()
	}
	return ground
}

// Origin says in words what named the database.
func (d *Database) Origin() string { return d.source.From }

// Close ends the connections and lets go of the private server, which stops
// when nobody else uses it.
func (d *Database) Close() error {
	patience := stopPatience
	if d.Queue != nil {
		closed := make(chan struct{})
		go func() { defer close(closed); d.Queue.Close() }()
		select {
		case <-closed:
		case <-time.After(closePatience): // a database that hangs must not hold up the end of the program
			patience = hungPatience
		}
	}
	if d.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return d.server.Stop(ctx)
}

// Explain adds where the address is from to errors of connecting, which have the address and
// the cure.
func (d *Database) Explain(err error) error {
	if err == nil || d.Private() || !errors.Is(err, queue.ErrNotConnected) {
		return err
	}
	return fmt.Errorf("%w (from %s)", err, d.source.From)
}

// With opens the database for one command, does it, and closes.
func With(ctx context.Context, w Where, do func(*Database) error) error {
	d, err := Open(ctx, w)
	if err != nil {
		return err
	}
	if w.Timeout > 0 {
		if !d.Private() {
			if err := d.reach(ctx, w); err != nil {
				return errors.Join(err, d.Close())
			}
		}
		watching, stop := context.WithCancel(ctx)
		defer stop()
		go d.watch(watching, w)
	}
	err = d.Explain(do(d))
	if locked := (*lockedOut)(nil); errors.As(context.Cause(ctx), &locked) && err != nil {
		err = locked.given(w, err)
	} else if errors.Is(context.Cause(ctx), errSilent) {
		err = fmt.Errorf("%w: %w", d.silence(w), err)
	}
	return errors.Join(err, d.Close())
}
