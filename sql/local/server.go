package local

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrInUse is returned when the data was to be wiped while somebody uses it.
var ErrInUse = errors.New("another leasetop is using this server")

// Options say which server to start. The zero value is a server named "main"
// in the user's state folder.
type Options struct {
	// Dir holds the servers' folders. Empty means $LEASETOP_HOME, else
	// leasetop in $XDG_STATE_HOME or ~/.local/state, as root /var/lib/leasetop.
	Dir string
	// Name tells servers under one Dir apart: "demo", "test". Empty means "main".
	Name string
	// Fresh wipes the data first. ErrInUse if another leasetop uses it.
	Fresh bool
	// Unsafe gives up durability for speed, for tests: no fsync, a copied data
	// directory, and data of another PostgreSQL version is wiped unasked.
	Unsafe bool
	// Settings are further server settings. They count for whoever starts the
	// server, not for those who attach to it.
	Settings map[string]string
	// Progress is told what takes time, as in "starting PostgreSQL 17.5". It
	// is called from Start, before it returns. May be nil.
	Progress func(step string)
}

func (o Options) progress(step string) {
	if o.Progress != nil {
		o.Progress(step)
	}
}

// patience is how long a server may take to come up, which after a crash
// includes its recovery.
func (o Options) patience() time.Duration { return 2 * time.Minute }

// Server is a hold on a running server. Its methods may be called by several
// goroutines.
type Server struct {
	place
	options Options
	follows *Server   // what it was made a standby of; nil for none
	came    time.Time // when this program had come to it, if nobody else used it then; else zero

	mu      sync.Mutex
	users   *fileLock // nil once Stop was called
	endKeep func()    // ends Keep; nil if there is none

	halted atomic.Bool // Halt stopped it
}

// Start attaches to the server, starting it if it does not run, and holds it
// until Stop. Errors wrap [ErrInUse], [ErrNoBinaries] or [ErrVersion], or
// carry the end of the server's log.
func Start(ctx context.Context, o Options) (*Server, error) { return startServer(ctx, o, nil) }

// AloneSince is when this program had come to the server, by its own clock, if no other used
// it then; else it is zero. For what others left in its databases before they will not come back.
func (s *Server) AloneSince() time.Time { return s.came }

func startServer(ctx context.Context, o Options, follows *Server) (*Server, error) {
	if o.Name == "" {
		o.Name = "main"
	}
	p, err := findPlace(o.Dir, o.Name)
	if err != nil {
		return nil, fmt.Errorf("local server %q: %w", o.Name, err)
	}
	s := &Server{place: p, options: o, follows: follows}
	if err := s.attach(ctx); err != nil {
		return nil, fmt.Errorf("local server %q: %w", o.Name, err)
	}
	return s, nil
}

// URL returns the connection string of a database on the server, good for
// pgx, pglogrepl and psql. It holds no password: there is none.
func (s *Server) URL(database string) string { return s.url(database) }

func (p place) url(database string) string {
	// libpq does not read "+" as a space, and slashes may stand as they are.
	host := strings.NewReplacer("+", "%20", "%2F", "/").Replace(url.QueryEscape(p.socket))
	// The port is named, for PGPORT would be the default.
	return "postgres://" + superuser + "@/" + url.PathEscape(database) + "?host=" + host + "&port=" + port
}

// Database makes the database if it is missing and returns its [Server.URL].
func (s *Server) Database(ctx context.Context, name string) (string, error) {
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return "", fmt.Errorf("create database %q: %w", name, err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
	var failed *pgconn.PgError
	// 42P04 duplicate_database; 23505 when two create it at the same time.
	if errors.As(err, &failed) && (failed.Code == "42P04" || failed.Code == "23505") {
		err = nil
	}
	if err != nil {
		return "", fmt.Errorf("create database %q: %w", name, err)
	}
	return s.URL(name), nil
}

// LogFile returns the path of the server's log.
func (s *Server) LogFile() string { return s.log() }

// DataDir returns the path of the server's data directory.
func (s *Server) DataDir() string { return s.data() }

// Stop lets go of the server and stops it if nobody else holds it. To call it
// again does nothing. When ctx ends too early the server may be left running;
// the next Start uses it.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == nil {
		return nil
	}
	if s.endKeep != nil {
		s.endKeep()
	}
	err := s.detach(ctx)
	s.users.release()
	s.users = nil
	if err != nil {
		return fmt.Errorf("local server %q: %w", s.options.Name, err)
	}
	return nil
}

func (s *Server) detach(ctx context.Context) error {
	starting, err := s.startLock(ctx)
	if err != nil {
		return err
	}
	defer starting.release()
	// Our own share turns into the exclusive lock only if it is the only one.
	last, err := s.users.tryExclusive()
	if err != nil || !last {
		return err
	}
	bin, err := s.binaries(ctx)
	if err != nil {
		return err
	}
	return s.halt(ctx, bin, Fast)
}

// Halt stops the server whoever uses it, for tests and faults. Restart, or
// anybody's Start, brings it back.
func (s *Server) Halt(ctx context.Context, mode Mode) error {
	s.halted.Store(true)
	return s.exclusively(ctx, "halt", func(bin binaries) error { return s.halt(ctx, bin, mode) })
}

// Restart stops the server, whoever uses it, and starts it again; it also
// brings a halted server back. It returns when the server takes connections.
func (s *Server) Restart(ctx context.Context, mode Mode) error {
	return s.exclusively(ctx, "restart", func(bin binaries) error {
		if err := s.halt(ctx, bin, mode); err != nil {
			return err
		}
		defer s.halted.Store(false) // when it runs: else Keep would take it for dead
		return s.bringUp(ctx, bin, s.options)
	})
}

// exclusively does something to the server while nobody else starts or stops it.
func (s *Server) exclusively(ctx context.Context, what string, do func(binaries) error) error {
	starting, err := s.startLock(ctx)
	if err == nil {
		defer starting.release()
	}
	var bin binaries
	if err == nil {
		bin, err = s.binaries(ctx)
	}
	if err == nil {
		err = do(bin)
	}
	if err != nil {
		return fmt.Errorf("%s local server %q: %w", what, s.options.Name, err)
	}
	return nil
}
