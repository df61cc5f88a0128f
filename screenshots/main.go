// Screenshots draws the README's pictures from the running program: it builds
// leasetop, runs it in a terminal of its own (ui/term), presses the keys that
// shots.go lists, and draws what the screen shows (screenshots/draw): a still
// picture of a moment (.png), or a moving one of all that happened (.gif).
//
//	go run ./screenshots [-out folder] [-bin leasetop] [-light] [picture …] [-- arguments of leasetop]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

type options struct {
	out, bin string
	light    bool
	only     []string // files to draw; empty: all
	args     []string // of leasetop
	home     string   // where leasetop keeps its private server
}

func main() {
	o, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	} else if err != nil {
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

// parse reads the command line: what stands after -- is leasetop's.
func parse(args []string) (options, error) {
	var o options
	if i := slices.Index(args, "--"); i >= 0 {
		args, o.args = args[:i], args[i+1:]
	}
	flags := flag.NewFlagSet("screenshots", flag.ContinueOnError)
	flags.StringVar(&o.out, "out", "screenshots", "`folder` for the pictures")
	flags.StringVar(&o.bin, "bin", "", "leasetop `binary`; without it the one of this folder is built")
	flags.BoolVar(&o.light, "light", false, "in a light terminal")
	err := flags.Parse(args)
	o.only = flags.Args()
	return o, err
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
	for _, r := range recordings {
		if err := record(ctx, r, o); err != nil {
			return err
		}
	}
	return nil
}

// check says which of the wanted pictures there is none of.
func check(only []string) error {
	var files []string
	for _, s := range scenes {
		for _, shot := range s.Shots {
			files = append(files, shot.Name+".png")
		}
	}
	for _, r := range recordings {
		files = append(files, r.Name+".gif")
	}
	for _, file := range only {
		if !slices.Contains(files, file) {
			return fmt.Errorf("there is no picture %q; there are %s", file, strings.Join(files, ", "))
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
