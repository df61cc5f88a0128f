package main

import (
	"context"
	"fmt"
	"image/gif"
	"io"
	"path/filepath"
	"time"

	"github.com/leasetop/leasetop/screenshots/draw"
	"github.com/leasetop/leasetop/ui/term"
)

// record runs the program once and draws the recording's moving picture. It
// has a private server of its own: no other leaves anything on its screen.
func record(ctx context.Context, r recording, o options) error {
	if !o.wants(r.Name + ".gif") {
		return nil
	}
	o.home = filepath.Join(o.home, r.Name)
	t, err := open(o, r.Width, r.Height, r.Ready)
	if err != nil {
		return err
	}
	defer t.Close()
	film, err := shoot(ctx, t, r)
	if err != nil {
		return fmt.Errorf("recording %s: %w", r.Name, err)
	}
	if err := leave(t); err != nil {
		return err
	}
	moving, err := draw.Animate(film)
	if err != nil {
		return fmt.Errorf("recording %s: %w", r.Name, err)
	}
	return o.save(r.Name+".gif", func(w io.Writer) error { return gif.EncodeAll(w, moving) })
}

// shoot presses the recording's keys and returns what was seen meanwhile.
func shoot(ctx context.Context, t *term.Term, r recording) (film, error) {
	if err := lead(ctx, t, r.Before); err != nil {
		return nil, err
	}
	var seen film
	began := time.Now()
	watching, stop := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		t.Watch(watching, func(f *term.Frame) { seen = seen.add(f, time.Since(began)) })
	}()
	ends, last, err := r.steps(ctx, t, began)
	stop()
	<-over
	if err != nil {
		return nil, err
	}
	// The screen may have gone on meanwhile.
	seen = seen.add(last, ends[len(ends)-1])
	return seen.without(cuts(r.Steps, ends)), nil
}

// steps takes the recording's steps and returns when each was over and the
// screen at the end.
func (r recording) steps(ctx context.Context, t *term.Term, began time.Time) (ends []time.Duration, last *term.Frame, err error) {
	for _, s := range r.Steps {
		select {
		case <-time.After(s.Read):
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
		if last, err = take(ctx, t, s.Keys, s.Until); err != nil {
			return nil, nil, err
		}
		ends = append(ends, time.Since(began))
	}
	return ends, last, nil
}
