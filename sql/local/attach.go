package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
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
		if err := s.discard("data"); err != nil {
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
	if _, err := os.Lstat(s.data()); errors.Is(err, os.ErrNotExist) {
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
	from, err := pinned()
	if err == nil {
		var cache string
		if cache, err = CacheFolder(); err == nil {
			err = fetch(ctx, cache, from, s.options.progress)
		}
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w, and were not downloaded: %w\n%s, or set %s to the folder of postgres, initdb and pg_ctl",
			missing, err, howToInstall(), binVariable)
	}
	return err
}

// howToInstall names the command that installs PostgreSQL's server here.
func howToInstall() string {
	for _, manager := range []struct{ program, command string }{
		{"apt-get", "sudo apt-get install postgresql"},
		{"dnf", "sudo dnf install postgresql-server"},
		{"zypper", "sudo zypper install postgresql-server"},
		{"pacman", "sudo pacman -S postgresql"},
		{"apk", "sudo apk add postgresql"},
		{"brew", "brew install postgresql"},
	} {
		if _, err := exec.LookPath(manager.program); err == nil {
			return "install PostgreSQL with: " + manager.command
		}
	}
	return "install the package postgresql (on Fedora postgresql-server)"
}

// binaries finds the programs that fit the data, or any if there is no data.
func (s *Server) binaries(ctx context.Context) (binaries, error) {
	major, err := s.version()
	if errors.Is(err, os.ErrNotExist) && s.follows != nil {
		return s.follows.binaries(ctx)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return binaries{}, withCure(err, s.place)
	}
	return findBinaries(ctx, s.runner, s.folder, major)
}

// version is the major version of PostgreSQL that made the data.
func (p place) version() (string, error) {
	data, err := p.openData()
	if err != nil {
		return "", err
	}
	defer func() { _ = data.Close() }()
	text, err := readOwned(data, "PG_VERSION")
	text = strings.TrimSpace(text)
	if err == nil && !versionForm.MatchString(text) {
		err = fmt.Errorf("%s/PG_VERSION is not a version of PostgreSQL: start over with --fresh", p.data())
	}
	return text, err
}

var versionForm = regexp.MustCompile(`^[0-9]{1,3}(\.[0-9]{1,3})?$`)

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
