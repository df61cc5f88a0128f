package local

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// How a kept server is looked after: how often it is looked at, and how long it
// is until the next attempt to start it, which doubles from the first to the last.
const (
	keepEvery = 500 * time.Millisecond
	keepFirst = 500 * time.Millisecond
	keepLast  = 30 * time.Second
	// keepCalm is how long a server that was started again must run before its
	// next death counts as a new one.
	keepCalm = time.Minute
)

// Revival is what happened to a kept server that had died.
type Revival struct {
	// Err says why it could not be started. It runs again if Err is nil.
	Err error
	// Next is the time to the next attempt, if Err is not nil.
	Next time.Duration
}

// String is the revival in one line.
func (r Revival) String() string {
	if r.Err == nil {
		return "the private server had died and was started again"
	}
	return "the private server died and cannot be started: " + inOneLine(r.Err) + "; next attempt in " + r.Next.String()
}

// inOneLine is the cause of an error that may hold the end of the server's log.
func inOneLine(err error) string {
	text := err.Error()
	if strings.Contains(text, "No space left on device") || errors.Is(err, syscall.ENOSPC) {
		return "the disk is full, so free some space"
	}
	for _, severity := range []string{"PANIC:", "FATAL:"} {
		if at := strings.LastIndex(text, severity); at >= 0 {
			text = text[at+len(severity):]
			break
		}
	}
	first, _, _ := strings.Cut(text, "\n")
	if _, why, found := strings.Cut(first, "start the server: "); found { // which server, and what was tried, is said already
		first = why
	}
	return strings.TrimSpace(first)
}

// Keep starts the server again when it dies, until [Server.Stop]. A server that
// [Server.Halt] stopped stays down. tell is called for each revival and for each
// attempt that failed, by another goroutine; it must not call Stop. Call Keep
// at most once.
func (s *Server) Keep(tell func(Revival)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == nil || s.endKeep != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	s.endKeep = func() {
		cancel()
		<-ended
	}
	go func() {
		defer close(ended)
		s.keep(ctx, tell)
	}()
}

func (s *Server) keep(ctx context.Context, tell func(Revival)) {
	timer := time.NewTimer(keepEvery)
	defer timer.Stop()
	pause, died := keepFirst, false
	var since time.Time // when it was started again last
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		wait := keepEvery
		switch err := s.revive(ctx, &died); {
		case ctx.Err() != nil:
			return
		case err != nil:
			wait = pause
			pause = min(2*pause, keepLast)
			tell(Revival{Err: err, Next: wait})
		case died:
			died = false
			if time.Since(since) > keepCalm {
				pause = keepFirst
			} else { // it dies as soon as it runs: do not start it in a tight loop
				wait = pause
				pause = min(2*pause, keepLast)
			}
			since = time.Now()
			tell(Revival{})
		}
		timer.Reset(wait)
	}
}

// revive starts the server if it died. It sets died when it finds it dead, and
// also reports no error if another leasetop was faster.
func (s *Server) revive(ctx context.Context, died *bool) error {
	if s.halted.Load() || s.alive() {
		return nil
	}
	if now, _ := s.ask(ctx); now == serving {
		return nil
	}
	*died = true
	return s.exclusively(ctx, "start", func(bin binaries) error {
		if s.halted.Load() {
			*died = false
			return nil
		}
		return s.bringUp(ctx, bin, s.options)
	})
}

// alive reports whether the process that postmaster.pid names lives. It is
// asked often, so it starts no program.
func (p place) alive() bool {
	pid, err := p.pidInFile()
	if err != nil || pid <= 1 {
		return false
	}
	if runtime.GOOS == "linux" {
		return p.runsOurData(pid)
	}
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
