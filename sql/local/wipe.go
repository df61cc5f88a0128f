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
	return errors.Join(removeFolder(s.socket, s.runner), removeFolder(s.folder, s.owner))
}

// removeFolder removes a folder of the account's, and all below it.
func removeFolder(path string, owner account) error {
	folder, err := openFolder(path, owner)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }()
	parent, err := os.OpenRoot(filepath.Dir(path) + "/.")
	if err != nil {
		return err
	}
	defer func() { _ = parent.Close() }()
	info, err := folder.Stat(".")
	if err != nil {
		return err
	}
	if there, err := parent.Lstat(filepath.Base(path)); err != nil || !os.SameFile(info, there) {
		return errors.Join(fmt.Errorf("%s was replaced while it was to be removed", path), err)
	}
	return parent.RemoveAll(filepath.Base(path))
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
	if _, err := os.Lstat(s.data()); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	s.options.progress("removing the old data " + s.data())
	// Renamed first, so that a wipe cut short leaves no half of a data directory.
	folder, err := s.open()
	if err != nil {
		return fmt.Errorf("remove the old data: %w", withCure(err, s.place))
	}
	defer func() { _ = folder.Close() }()
	doomed := fmt.Sprintf("data.old-%d", os.Getpid())
	if err := folder.Rename(filepath.Base(s.data()), doomed); err != nil {
		return fmt.Errorf("remove the old data: %w", withCure(err, s.place))
	}
	if err := folder.RemoveAll(doomed); err != nil {
		return fmt.Errorf("remove the old data: %w", withCure(err, s.place))
	}
	return nil
}
