package main

import (
	"context"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/leasetop/leasetop/screenshots/draw"
	"github.com/leasetop/leasetop/ui/term"
)

// patience is how long a shot may take to come up: the demonstration has to
// start a server and let a few jobs die first.
const patience = 90 * time.Second

// open runs leasetop in a terminal and waits until it listens to keys.
func open(o options, width, height int, ready string) (*term.Term, error) {
	t, err := term.Start(term.Options{
		Args: append([]string{o.bin}, o.args...), Env: []string{"LEASETOP_HOME=" + o.home},
		Width: width, Height: height, Light: o.light, Clusters: true,
	})
	if err != nil {
		return nil, err
	}
	if _, err := wait(t, ready); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// play runs the program once and takes the scene's shots, as far as the last
// one wanted: the others' keys lead there.
func play(ctx context.Context, s scene, o options) error {
	last := -1
	for i, shot := range s.Shots {
		if o.wants(shot.Name + ".png") {
			last = i
		}
	}
	if last < 0 {
		return nil
	}
	t, err := open(o, s.Width, s.Height, s.Ready)
	if err != nil {
		return err
	}
	defer t.Close()
	for _, shot := range s.Shots[:last+1] {
		if err := lead(ctx, t, shot.Before); err != nil {
			return fmt.Errorf("before shot %s: %w", shot.Name, err)
		}
		f, err := take(ctx, t, shot.Keys, shot.Until)
		if err != nil {
			return fmt.Errorf("shot %s: %w", shot.Name, err)
		}
		if !o.wants(shot.Name + ".png") {
			continue
		}
		picture, err := draw.Window(f)
		if err != nil {
			return fmt.Errorf("shot %s: %w", shot.Name, err)
		}
		encoder := png.Encoder{CompressionLevel: png.BestCompression}
		err = o.save(shot.Name+".png", func(w io.Writer) error { return encoder.Encode(w, picture) })
		if err != nil {
			return err
		}
	}
	return leave(t)
}

// wants reports whether the picture of that file is to be drawn.
func (o options) wants(file string) bool { return len(o.only) == 0 || slices.Contains(o.only, file) }

// save writes a picture's file and says so.
func (o options) save(file string, encode func(io.Writer) error) (err error) {
	file = filepath.Join(o.out, file)
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("save picture: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := encode(f); err != nil {
		return fmt.Errorf("save picture %s: %w", file, err)
	}
	fmt.Println(file)
	return nil
}

// settled is how long nothing may have been drawn before a key is pressed or a
// picture taken: less than the quarter second in which a busy screen moves.
const settled = 100 * time.Millisecond

// take presses the keys and returns the screen that all the patterns are found
// on then.
func take(ctx context.Context, t *term.Term, keys, until []string) (*term.Frame, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, key := range keys {
		if err := t.Press(key); err != nil {
			return nil, err
		}
		// Each key finds the screen its predecessor made.
		if err := t.Quiet(settled, patience); err != nil {
			return nil, err
		}
	}
	return wait(t, until...)
}

// lead takes steps of which nothing is drawn.
func lead(ctx context.Context, t *term.Term, steps []step) error {
	for _, s := range steps {
		if _, err := take(ctx, t, s.Keys, s.Until); err != nil {
			return err
		}
	}
	return nil
}

// wait waits until all the patterns are found on a settled screen.
func wait(t *term.Term, patterns ...string) (*term.Frame, error) {
	wanted := make([]*regexp.Regexp, len(patterns))
	for i, pattern := range patterns {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, err
		}
		wanted[i] = re
	}
	seen := func(f *term.Frame) bool {
		text := f.Text()
		return !slices.ContainsFunc(wanted, func(re *regexp.Regexp) bool { return !re.MatchString(text) })
	}
	for {
		if err := t.Wait(strings.Join(patterns, " and "), patience, seen); err != nil {
			return nil, err
		}
		if err := t.Quiet(settled, patience); err != nil {
			return nil, err
		}
		if f := t.Frame(); seen(f) {
			return f, nil
		}
	}
}

// parting is how long the program may take to end when asked to.
const parting = 20 * time.Second

// leave asks the program to end, so that it puts away what it started.
func leave(t *term.Term) error {
	if err := t.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("end leasetop: %w", err)
	}
	if _, err := t.Exit(parting); err != nil {
		return fmt.Errorf("end leasetop: %w", err)
	}
	return nil
}
