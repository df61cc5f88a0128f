package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

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
	if alone {
		s.came = time.Now()
	}
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
			if s.follows != nil {
				return s.copyRunning(ctx, bin, s.follows, half)
			}
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
	if errors.Is(err, os.ErrNotExist) && s.follows != nil {
		return s.follows.binaries(ctx)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return binaries{}, withCure(err, s.place)
	}
	return findBinaries(ctx, s.runner, s.folder, strings.TrimSpace(string(major)))
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
