package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

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
