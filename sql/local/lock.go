package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// fileLock is a flock on a file of its own. The kernel releases it when the
// process ends, however it ends.
type fileLock struct{ file *os.File }

// exclusive waits for the lock, or for the end of ctx. The caller must not touch
// the lock after an error.
func (l *fileLock) exclusive(ctx context.Context) error {
	ok, err := l.tryExclusive()
	if ok {
		return nil
	}
	if err != nil {
		l.release()
		return err
	}
	got := make(chan error, 1)
	go func() { got <- l.flock(syscall.LOCK_EX) }()
	select {
	case err := <-got:
		if err != nil {
			l.release()
		}
		return err
	case <-ctx.Done():
		// A flock cannot be called off; it is given back when it comes.
		go func() {
			<-got
			l.release()
		}()
		return ctx.Err()
	}
}

// tryExclusive takes the lock if nobody else has it in any way.
func (l *fileLock) tryExclusive() (bool, error) {
	err := l.flock(syscall.LOCK_EX | syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// shared takes the lock beside others who share it, or turns an exclusive lock
// into a shared one.
func (l *fileLock) shared() error { return l.flock(syscall.LOCK_SH) }

// release gives the lock back. It unlocks before it closes: a child between
// fork and exec still holds a copy of the descriptor, and closing ours would
// leave the lock with it for a moment.
func (l *fileLock) release() {
	_ = l.flock(syscall.LOCK_UN)
	_ = l.file.Close()
}

func (l *fileLock) flock(how int) error {
	for {
		err := syscall.Flock(int(l.file.Fd()), how)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return err
		case err != nil:
			return fmt.Errorf("lock %s: %w", l.file.Name(), err)
		}
		return nil
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
	folder, err := p.open()
	if err != nil {
		return nil, withCure(err, p)
	}
	defer func() { _ = folder.Close() }()
	file, err := openOwned(folder, name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, withCure(err, p)
	}
	if err := giveTo(file, p.owner); err != nil {
		_ = file.Close()
		return nil, err
	}
	return &fileLock{file: file}, nil
}
