package local

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

	mu    sync.Mutex
	users *fileLock // nil once Stop was called
}

// Start attaches to the server, starting it if it does not run, and holds it
// until Stop. Errors wrap [ErrInUse], [ErrNoBinaries] or [ErrVersion], or
// carry the end of the server's log.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.Name == "" {
		o.Name = "main"
	}
	p, err := findPlace(o.Dir, o.Name)
	if err != nil {
		return nil, fmt.Errorf("local server %q: %w", o.Name, err)
	}
	s := &Server{place: p, options: o}
	if err := s.attach(ctx); err != nil {
		return nil, fmt.Errorf("local server %q: %w", o.Name, err)
	}
	return s, nil
}

// attach does what Start does, holding start.lock.
func (s *Server) attach(ctx context.Context) (err error) {
	starting, err := s.startLock(ctx)
	if err != nil {
		return err
	}
	defer starting.release()
	users, err := s.lock("users.lock")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			users.release()
		}
	}()
	alone, err := users.tryExclusive()
	if err != nil {
		return err
	}
	if s.options.Fresh {
		if !alone {
			return fmt.Errorf("%w, so its data in %s cannot be wiped: quit that one first", ErrInUse, s.data())
		}
		if err := s.wipe(ctx); err != nil {
			return err
		}
	}
	if now, _ := s.ask(ctx); now != serving {
		if err := s.boot(ctx); err != nil {
			if alone { // called off half-way, perhaps: leave nothing running
				s.abandon(ctx)
			}
			return err
		}
	}
	if err := users.shared(); err != nil {
		return err
	}
	s.users = users
	return nil
}

// boot makes the data directory if there is none, and the server run.
func (s *Server) boot(ctx context.Context) error {
	if _, err := s.runner.run(ctx, s.folder, "/bin/sh", "-c", ":"); err != nil {
		return withCure(fmt.Errorf("go to %s as %s: %w", s.folder, s.runner.name, err), s.place)
	}
	bin, err := s.binaries(ctx)
	if errors.Is(err, ErrVersion) && s.options.Unsafe {
		if err := os.RemoveAll(s.data()); err != nil {
			return err
		}
		bin, err = s.binaries(ctx)
	}
	if errors.Is(err, ErrNoBinaries) && os.Getenv(binVariable) == "" {
		if err := s.download(ctx, err); err != nil {
			return err
		}
		bin, err = s.binaries(ctx)
	}
	if err != nil {
		return err
	}
	s.sweep()
	if _, err := os.Stat(s.data()); errors.Is(err, os.ErrNotExist) {
		s.options.progress("creating the data directory " + s.data())
		err := s.create(func(half string) error {
			if s.options.Unsafe {
				return s.copyPristine(ctx, bin, half)
			}
			return s.initdb(ctx, bin, half)
		})
		if err != nil {
			return err
		}
	} else if err != nil {
		return withCure(err, s.place)
	}
	s.options.progress("starting PostgreSQL " + bin.version)
	return s.bringUp(ctx, bin, s.options)
}

// download fetches PostgreSQL where none is installed.
func (s *Server) download(ctx context.Context, missing error) error {
	cache, err := CacheFolder()
	if err == nil {
		err = fetch(ctx, cache, "", s.options.progress)
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w, and the download failed: %w\ninstall the package postgresql (Debian, Ubuntu, Homebrew) or postgresql-server (Fedora), or set %s to the folder of postgres, initdb and pg_ctl",
			missing, err, binVariable)
	}
	return err
}

// binaries finds the programs that fit the data, or any if there is no data.
func (s *Server) binaries(ctx context.Context) (binaries, error) {
	major, err := os.ReadFile(filepath.Join(s.data(), "PG_VERSION"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return binaries{}, withCure(err, s.place)
	}
	return findBinaries(ctx, s.runner, s.folder, strings.TrimSpace(string(major)))
}

// wipe removes the data, stopping a server that nobody uses any more.
func (s *Server) wipe(ctx context.Context) error {
	if s.postmaster() != 0 {
		bin, err := s.binaries(ctx)
		if err != nil {
			return err
		}
		if err := s.halt(ctx, bin, Immediate); err != nil {
			return err
		}
	}
	if _, err := os.Stat(s.data()); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	s.options.progress("removing the old data " + s.data())
	// Renamed first, so that a wipe cut short leaves no half of a data directory.
	doomed := filepath.Join(s.folder, fmt.Sprintf("data.old-%d", os.Getpid()))
	if err := os.Rename(s.data(), doomed); err != nil {
		return fmt.Errorf("remove the old data: %w", withCure(err, s.place))
	}
	if err := os.RemoveAll(doomed); err != nil {
		return fmt.Errorf("remove the old data: %w", withCure(err, s.place))
	}
	return nil
}

// abandon stops a server that was being started when ctx ended.
func (s *Server) abandon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if s.postmaster() == 0 {
		return
	}
	if bin, err := s.binaries(ctx); err == nil {
		_ = s.halt(ctx, bin, Immediate)
	}
}

// startLock waits for the right to start, stop or wipe the server.
func (p place) startLock(ctx context.Context) (*fileLock, error) {
	lock, err := p.lock("start.lock")
	if err != nil {
		return nil, err
	}
	return lock, lock.exclusive(ctx)
}

// lock opens a lock file in the server's folder, the folder's owner's.
func (p place) lock(name string) (*fileLock, error) {
	lock, err := openLock(filepath.Join(p.folder, name))
	if err != nil {
		return nil, withCure(err, p)
	}
	if !p.owner.self() {
		if err := lock.file.Chown(int(p.owner.uid), int(p.owner.gid)); err != nil {
			lock.release()
			return nil, err
		}
	}
	return lock, nil
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
	return s.exclusively(ctx, "halt", func(bin binaries) error { return s.halt(ctx, bin, mode) })
}

// Restart stops the server, whoever uses it, and starts it again; it also
// brings a halted server back. It returns when the server takes connections.
func (s *Server) Restart(ctx context.Context, mode Mode) error {
	return s.exclusively(ctx, "restart", func(bin binaries) error {
		if err := s.halt(ctx, bin, mode); err != nil {
			return err
		}
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

// Remove stops the server if it runs and deletes all there is of it. ErrInUse
// if somebody uses it.
func Remove(ctx context.Context, o Options) error {
	p, err := findPlace(o.Dir, o.Name)
	if err != nil {
		return fmt.Errorf("remove local server %q: %w", o.Name, err)
	}
	s := &Server{place: p, options: o}
	if err := s.remove(ctx); err != nil {
		return fmt.Errorf("remove local server %q: %w", o.Name, err)
	}
	return nil
}

func (s *Server) remove(ctx context.Context) error {
	starting, err := s.startLock(ctx)
	if err != nil {
		return err
	}
	defer starting.release()
	users, err := s.lock("users.lock")
	if err != nil {
		return err
	}
	defer users.release()
	alone, err := users.tryExclusive()
	if err != nil {
		return err
	}
	if !alone {
		return ErrInUse
	}
	if err := s.wipe(ctx); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(s.socket), os.RemoveAll(s.folder))
}
