// Screenshots draws the README's pictures from the running program: it builds
// leasetop, runs it in a terminal of its own (ui/term), presses the keys that
// shots.go lists, and draws what the screen shows (screenshots/draw).
//
//	go run ./screenshots [-out folder] [-bin leasetop] [-light] [-only name,…] [-- arguments of leasetop]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"os/signal"
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

type options struct {
	out, bin string
	light    bool
	only     []string
	args     []string // of leasetop
	home     string   // where leasetop keeps its private server
}

func main() {
	flags := flag.NewFlagSet("screenshots", flag.ContinueOnError)
	var o options
	flags.StringVar(&o.out, "out", "screenshots", "`folder` for the pictures")
	flags.StringVar(&o.bin, "bin", "", "leasetop `binary`; without it the one of this folder is built")
	flags.BoolVar(&o.light, "light", false, "in a light terminal")
	only := flags.String("only", "", "take only these shots, by `name`, separated by commas")
	if err := flags.Parse(os.Args[1:]); errors.Is(err, flag.ErrHelp) {
		return
	} else if err != nil {
		os.Exit(2)
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	o.args = flags.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if err := check(o.only); err != nil {
		return err
	}
	var err error
	if o.home, err = home(); err != nil {
		return err
	}
	defer os.RemoveAll(o.home)
	if o.bin == "" {
		if o.bin, err = build(ctx, o.home); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return fmt.Errorf("make folder for pictures: %w", err)
	}
	for _, s := range scenes {
		if err := play(ctx, s, o); err != nil {
			return err
		}
	}
	return nil
}

// check says which of the wanted shots there is none of.
func check(only []string) error {
	var names []string
	for _, s := range scenes {
		for _, shot := range s.Shots {
			names = append(names, shot.Name)
		}
	}
	for _, name := range only {
		if !slices.Contains(names, name) {
			return fmt.Errorf("no shot is named %q; there are %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}

// home makes a folder for the private server, so that the demonstration starts
// from nothing and nobody's own is touched. Started by root, the server is
// another user's, who has to reach it.
func home() (string, error) {
	folder, err := os.MkdirTemp("", "shots-")
	if err == nil {
		err = os.Chmod(folder, 0o755)
	}
	if err != nil {
		return "", fmt.Errorf("make folder for the demonstration: %w", err)
	}
	return folder, nil
}

// build builds leasetop from the folder we are in and returns its path.
func build(ctx context.Context, folder string) (string, error) {
	bin := filepath.Join(folder, "leasetop")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build leasetop: %w\n%s", err, out)
	}
	return bin, nil
}

// play runs the program once and takes the scene's shots, as far as the last
// one wanted: the others' keys lead there.
func play(ctx context.Context, s scene, o options) error {
	last := -1
	for i, shot := range s.Shots {
		if o.only == nil || slices.Contains(o.only, shot.Name) {
			last = i
		}
	}
	if last < 0 {
		return nil
	}
	t, err := term.Start(term.Options{
		Args: append([]string{o.bin}, o.args...), Env: []string{"LEASETOP_HOME=" + o.home},
		Width: s.Width, Height: s.Height, Light: o.light, Clusters: true,
	})
	if err != nil {
		return err
	}
	defer t.Close()
	if _, err := wait(t, s.Ready); err != nil {
		return err
	}
	for _, shot := range s.Shots[:last+1] {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		f, err := take(t, shot)
		if err != nil {
			return fmt.Errorf("shot %s: %w", shot.Name, err)
		}
		if o.only != nil && !slices.Contains(o.only, shot.Name) {
			continue
		}
		picture, err := draw.Window(f)
		if err != nil {
			return fmt.Errorf("shot %s: %w", shot.Name, err)
		}
		file := filepath.Join(o.out, shot.Name+".png")
		if err := save(file, picture); err != nil {
			return err
		}
		fmt.Println(file)
	}
	return leave(t)
}

// settled is how long nothing may have been drawn before a key is pressed or a
// picture taken: less than the quarter second in which a busy screen moves.
const settled = 100 * time.Millisecond

// take presses the shot's keys and returns the screen it was made for.
func take(t *term.Term, s shot) (*term.Frame, error) {
	for _, key := range s.Keys {
		if err := t.Press(key); err != nil {
			return nil, err
		}
		// Each key finds the screen its predecessor made.
		if err := t.Quiet(settled, patience); err != nil {
			return nil, err
		}
	}
	return wait(t, s.Until...)
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

func save(file string, picture image.Image) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("save picture: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(f, picture); err != nil {
		return fmt.Errorf("save picture %s: %w", file, err)
	}
	return nil
}
